package source_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tailrace/tailrace/pipeline/source"
)

// asNobody makes this goroutine open files as a user without rights, also where the tests
// run as root. The thread ends with the goroutine.
func asNobody(t *testing.T) {
	t.Helper()
	runtime.LockOSThread()
	if os.Geteuid() == 0 {
		if err := unix.Setfsuid(65534); err != nil {
			t.Error(err)
		}
	}
}

func TestFilePermission(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	put(t, path, "x")
	if err := os.Chmod(path, 0); err != nil {
		t.Fatal(err)
	}
	got := make(chan error)
	go func() {
		asNobody(t)
		_, err := source.OpenFile(path, source.FileOptions{Follow: true})
		got <- err
	}()
	if err := <-got; !errors.Is(err, source.ErrPermission) {
		t.Errorf("%v", err)
	}
}

// TestFollowPermissionLost: a new file that may not be read at first is waited for, and
// the old one is read on until then.
func TestFollowPermissionLost(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "log")
	// All may look into the folder; only the file is out of reach.
	for d := dir; d != filepath.Dir(d) && d != os.TempDir(); d = filepath.Dir(d) {
		if err := os.Chmod(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	put(t, path, "1\n")
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	chunks := make(chan string)
	go func() {
		defer close(chunks)
		asNobody(t)
		f, err := source.OpenFile(path, source.FileOptions{Follow: true, Poll: time.Millisecond})
		if err != nil {
			t.Error(err)
			return
		}
		defer f.Close()
		for c := range f.Chunks(ctx) {
			chunks <- string(c.Data)
		}
	}()
	want := func(text string) {
		t.Helper()
		got := ""
		for len(got) < len(text) {
			more, open := <-chunks
			if !open {
				break
			}
			got += more
		}
		if got != text {
			t.Errorf("%q, want %q", got, text)
		}
	}
	want("1\n")
	move(t, path, path+"-old")
	put(t, path+".fresh", "3\n")
	if err := os.Chmod(path+".fresh", 0); err != nil {
		t.Fatal(err)
	}
	move(t, path+".fresh", path)
	add(t, path+"-old", "2\n")
	want("2\n")
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	want("3\n")
	cancel()
	for range chunks {
	}
}
