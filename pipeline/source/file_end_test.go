package source_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/tailrace/tailrace/pipeline"
	"github.com/tailrace/tailrace/pipeline/source"
)

// A negative number of last lines starts at the end of the file.
func TestFile_NegativeLastLinesStartAtTheEnd(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.log")
	if err := os.WriteFile(path, []byte("old\nbegun "), 0o644); err != nil {
		t.Fatal(err)
	}
	s, err := source.OpenFile(path, source.FileOptions{LastLines: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("new\n"); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	got := ""
	for c := range s.Chunks(t.Context()) {
		got += string(c.Data)
	}
	if got != "new\n" || s.Exit() != (pipeline.Exit{}) {
		t.Errorf("got %q, %+v", got, s.Exit())
	}
}
