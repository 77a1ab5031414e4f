package bench

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"unsafe"

	"github.com/tailrace/tailrace/internal/memsource"
	"github.com/tailrace/tailrace/pipeline"
	"github.com/tailrace/tailrace/pipeline/source"
	"github.com/tailrace/tailrace/stages"
)

// inside says whether part lies in the memory of whole.
func inside(part, whole []byte) bool {
	if len(part) == 0 {
		return true
	}
	first, start := uintptr(unsafe.Pointer(unsafe.SliceData(part))), uintptr(unsafe.Pointer(unsafe.SliceData(whole)))
	return first >= start && first+uintptr(len(part)) <= start+uintptr(len(whole))
}

// TestBytesCopied counts the bytes that are copied for each byte that is captured, before
// the result is written: none. What is kept, and each event, is where the read put it.
func TestBytesCopied(t *testing.T) {
	for _, c := range Corpora {
		data := c.Bytes(1 << 20)
		file := filepath.Join(t.TempDir(), c.Name)
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
		child, err := source.Start(source.Command{Path: "cat", Args: []string{file}, BufferBytes: pipeline.CaptureLimit + 64<<10})
		if err != nil {
			t.Fatal(err)
		}
		defer child.Close()
		for name, src := range map[string]pipeline.Source{"memory": memsource.New(data, 64<<10), "child": child} {
			run, err := stages.Collect(context.Background(), src, pipeline.Bounds{}, stages.CollectOptions{})
			if err != nil {
				t.Fatal(err)
			}
			whole := run.Stdout
			if name == "memory" {
				whole = data
			}
			copied := 0
			if !inside(run.Stdout, whole) {
				copied += len(run.Stdout)
			}
			for e := range run.Events.All() {
				if !inside(e, whole) {
					copied += len(e)
				}
			}
			if copied != 0 || len(run.Stdout) == 0 {
				t.Errorf("%s, %s: %d bytes were copied for %d that were captured", c.Name, name, copied, len(run.Stdout))
			}
		}
	}
}
