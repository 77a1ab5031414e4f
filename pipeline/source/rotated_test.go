//go:build unix

package source_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tailrace/tailrace/pipeline/source"
)

func move(t *testing.T, from, to string) {
	t.Helper()
	if err := os.Rename(from, to); err != nil {
		t.Fatal(err)
	}
}

// TestFollowRotations: a writer that rotates once what it wrote has been read loses nothing.
func TestFollowRotations(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	put(t, path, "")
	f := openFile(t, path, source.FileOptions{Follow: true, Poll: 200 * time.Microsecond})
	var want bytes.Buffer
	got := followed(t, f, func(seen func(string)) {
		for i := range 300 {
			for j := range 5 {
				line := fmt.Sprintf("%d.%d\n", i, j)
				want.WriteString(line)
				add(t, path, line)
			}
			seen(fmt.Sprintf("%d.4\n", i))
			if err := os.Rename(path, path+".1"); err != nil {
				t.Fatal(err)
			}
		}
	})
	if got != want.String() {
		t.Errorf("%d bytes, want %d", len(got), want.Len())
	}
}

// A rotator writes numbered lines and rotates as logrotate does, with old files that are
// numbered. What a file gets after its renaming and before the writer moves on is late.
type rotator struct {
	path  string
	keep  int
	file  *os.File
	lines int
}

func (r *rotator) write(t *testing.T, n int) {
	t.Helper()
	for range n {
		if _, err := fmt.Fprintf(r.file, "%d\n", r.lines); err != nil {
			t.Fatal(err)
		}
		r.lines++
	}
}

func (r *rotator) open(t *testing.T) *os.File {
	t.Helper()
	f, err := os.OpenFile(r.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func (r *rotator) rotate(t *testing.T, late int) {
	t.Helper()
	for n := r.keep - 1; n > 0; n-- {
		from := fmt.Sprintf("%s.%d", r.path, n)
		if err := os.Rename(from, fmt.Sprintf("%s.%d", r.path, n+1)); err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
	}
	move(t, r.path, r.path+".1")
	r.write(t, late)
	fresh := r.open(t)
	r.write(t, late)
	r.file.Close()
	r.file = fresh
}

// TestFollowRotationsUnderLoad: the writer goes on while it rotates, several times between
// two looks, and takes care only that old files which were not read are kept. Each line
// is read once, in its order, and nothing stays open.
func TestFollowRotationsUnderLoad(t *testing.T) {
	const rotations, perFile, keep = 1000, 12, 20
	path := filepath.Join(t.TempDir(), "log")
	before := descriptors(t)
	w := &rotator{path: path, keep: keep}
	w.file = w.open(t)
	f := openFile(t, path, source.FileOptions{Follow: true, Poll: 2 * time.Millisecond})
	var lines atomic.Int64
	got := followed(t, f, func(seen func(string)) {
		for i := range rotations {
			w.write(t, perFile-4)
			for deadline := time.Now().Add(20 * time.Second); int64(w.lines)-lines.Load() > (perFile-4)*(keep-4); time.Sleep(100 * time.Microsecond) {
				if time.Now().After(deadline) {
					t.Fatalf("%d lines written, %d read", w.lines, lines.Load())
				}
			}
			w.rotate(t, i%3)
		}
		w.write(t, 1)
		seen(fmt.Sprintf("\n%d\n", w.lines-1))
	}, func(data []byte) { lines.Add(int64(bytes.Count(data, []byte("\n")))) })
	w.file.Close()
	for i, line := range strings.Split(strings.TrimSuffix(got, "\n"), "\n") {
		if line != fmt.Sprint(i) {
			t.Fatalf("line %d is %q", i, line)
		}
	}
	f.Close()
	if after := descriptors(t); after > before {
		t.Errorf("stop-leaves-nothing: %d descriptors, %d before", after, before)
	}
}

// TestFollowRotatedTwice: what was rotated away between two looks is found under its
// number, and nothing else is taken for it.
func TestFollowRotatedTwice(t *testing.T) {
	for _, c := range []struct {
		name string
		play func(t *testing.T, path string)
		want string
	}{
		{"three times", func(t *testing.T, path string) {
			move(t, path, path+".3")
			put(t, path+".2", "2\n")
			put(t, path+".1", "3\n")
		}, "1\n2\n3\nnow\n"},
		{"an open line in each", func(t *testing.T, path string) {
			add(t, path, "half")
			move(t, path, path+".2")
			put(t, path+".1", "quarter")
		}, "1\nhalf\nquarter\nnow\n"},
		{"one is missing and one is empty", func(t *testing.T, path string) {
			move(t, path, path+".4")
			put(t, path+".2", "")
			put(t, path+".1", "3\n")
		}, "1\n3\nnow\n"},
		{"a folder among them", func(t *testing.T, path string) {
			move(t, path, path+".3")
			put(t, path+".2", "2\n")
			if err := os.Mkdir(path+".1", 0o700); err != nil {
				t.Fatal(err)
			}
		}, "1\n2\nnow\n"},
		{"numbers that grow", func(t *testing.T, path string) {
			put(t, path+".1", "older\n")
			long := time.Now().Add(-time.Hour)
			if err := os.Chtimes(path+".1", long, long); err != nil {
				t.Fatal(err)
			}
			move(t, path, path+".2")
		}, "1\nnow\n"},
		{"a name without a number", func(t *testing.T, path string) {
			move(t, path, path+"-20260102")
			put(t, path+".1", "of something else\n")
		}, "1\nnow\n"},
		{"removed", func(t *testing.T, path string) {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			put(t, path+".1", "of something else\n")
		}, "1\nnow\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "log")
			put(t, path, "1\n")
			f := openFile(t, path, source.FileOptions{Follow: true, Poll: time.Millisecond})
			got := followed(t, f, func(seen func(string)) {
				seen("1\n")
				// As long as the name means nothing, the old file is kept, so all of this
				// is between two looks.
				c.play(t, path)
				put(t, path+".fresh", "now\n")
				move(t, path+".fresh", path)
				seen("now\n")
			})
			if got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}
