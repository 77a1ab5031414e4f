//go:build unix

package source_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/tailrace/tailrace/pipeline"
	"github.com/tailrace/tailrace/pipeline/source"
)

func openFile(t *testing.T, path string, o source.FileOptions) *source.File {
	t.Helper()
	f, err := source.OpenFile(path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func add(t *testing.T, path, text string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := io.WriteString(f, text); err != nil {
		t.Fatal(err)
	}
}

func TestFileWhole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	text := strings.Repeat("0123456789abcdef\n", 100000)
	put(t, path, text)
	f := openFile(t, path, source.FileOptions{})
	if got := drain(context.Background(), f, nil).stdout.String(); got != text {
		t.Errorf("%d bytes of %d", len(got), len(text))
	}
	if e := f.Exit(); e.Failed() || e.End != pipeline.EndSource {
		t.Errorf("%+v", e)
	}
}

func TestFileLastLines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	for _, text := range []string{"", "\n", "a", "a\n", "a\nb", "a\nb\n", "\n\n\n", strings.Repeat("x", 200000) + "\nb\n", strings.Repeat("line\n", 50000)} {
		put(t, path, text)
		lines := strings.SplitAfter(text, "\n")
		if lines[len(lines)-1] == "" {
			lines = lines[:len(lines)-1]
		}
		for _, n := range []int{1, 2, 3, 1000} {
			want := strings.Join(lines[max(0, len(lines)-n):], "")
			if got := drain(context.Background(), openFile(t, path, source.FileOptions{LastLines: n}), nil).stdout.String(); got != want {
				t.Errorf("last %d of %.20q: %.40q, want %.40q", n, text, got, want)
			}
		}
	}
}

func TestFileErrors(t *testing.T) {
	dir := t.TempDir()
	inside := filepath.Join(dir, "in")
	if err := os.Mkdir(inside, 0o700); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(dir, "secret"), "secret")
	put(t, filepath.Join(inside, "ok"), "ok")
	if err := os.Symlink("../secret", filepath.Join(inside, "link")); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path string
		o    source.FileOptions
		want error
	}{
		{dir + "/none", source.FileOptions{}, source.ErrNotFound},
		{dir, source.FileOptions{}, source.ErrIsDirectory},
		{dir + "/fifo", source.FileOptions{}, source.ErrNotRegular},
		{dir + "/secret", source.FileOptions{Root: inside}, source.ErrOutside},
		{"../secret", source.FileOptions{Root: inside}, source.ErrOutside},
		{"link", source.FileOptions{Root: inside}, source.ErrOutside},
		{"none", source.FileOptions{Root: inside}, source.ErrNotFound},
		{"ok", source.FileOptions{Root: inside}, nil},
		{inside + "/ok", source.FileOptions{Root: inside}, nil},
	} {
		f, err := source.OpenFile(c.path, c.o)
		if f != nil {
			f.Close()
		}
		if !errors.Is(err, c.want) || err != nil && strings.Contains(err.Error(), dir) {
			t.Errorf("%s: %v, want %v", filepath.Base(c.path), err, c.want)
		}
	}
}

// followed reads a followed file until it holds want, which must come exactly.
func followed(t *testing.T, f *source.File, steps func(seen func(string))) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	var seen atomic.Pointer[string]
	empty := ""
	seen.Store(&empty)
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		var all []byte
		for c := range f.Chunks(ctx) {
			all = append(all, c.Data...)
			s := string(all)
			seen.Store(&s)
		}
	}()
	steps(func(want string) {
		t.Helper()
		for deadline := time.Now().Add(10 * time.Second); !strings.HasSuffix(*seen.Load(), want); time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("%q does not end in %q", *seen.Load(), want)
			}
		}
	})
	cancel()
	<-finished
	if f.Exit().End != pipeline.EndContext {
		t.Errorf("%+v", f.Exit())
	}
	return *seen.Load()
}

func TestFollow(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	f := openFile(t, path, source.FileOptions{Follow: true, Poll: time.Millisecond})
	got := followed(t, f, func(seen func(string)) {
		put(t, path, "created\n")
		seen("created\n")
		add(t, path, "more\n")
		seen("more\n")
		// Rotation: written to behind its new name, then the new file.
		if err := os.Rename(path, path+".1"); err != nil {
			t.Fatal(err)
		}
		add(t, path+".1", "late\n")
		seen("late\n")
		put(t, path, "rotated\n")
		seen("rotated\n")
		// Truncation in place.
		put(t, path, "cut\n")
		seen("cut\n")
		// Truncated and refilled to more than before: known by its beginning.
		put(t, path, "another and longer\n")
		seen("another and longer\n")
		// Removed and made again, with a line that nothing completes.
		add(t, path, "half")
		seen("half")
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		put(t, path, "again\n")
		seen("again\n")
	})
	if want := "created\nmore\nlate\nrotated\ncut\nanother and longer\nhalf\nagain\n"; got != want {
		t.Errorf("%q, want %q", got, want)
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

func TestReader(t *testing.T) {
	r := source.NewReader(strings.NewReader("all of it"))
	if got := drain(context.Background(), r, nil).stdout.String(); got != "all of it" || r.Exit().Failed() {
		t.Errorf("%q %+v", got, r.Exit())
	}
	r.Close()
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, errors.New("secret") }

func TestReaderError(t *testing.T) {
	r := source.NewReader(broken{})
	drain(context.Background(), r, nil)
	if e := r.Exit(); !errors.Is(e.Err, source.ErrRead) || !e.Failed() || strings.Contains(e.Err.Error(), "secret") {
		t.Errorf("%+v", e)
	}
}

func TestReaderStops(t *testing.T) {
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	defer out.Close()
	io.WriteString(out, "up")
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	r := source.NewReader(in)
	got := drain(ctx, r, nil)
	if got.stdout.String() != "up" || !got.cut || r.Exit().End != pipeline.EndContext {
		t.Errorf("%q cut %v %+v", got.stdout.String(), got.cut, r.Exit())
	}
	r.Close()
	io.WriteString(out, "again")
	r = source.NewReader(in)
	if got := drain(context.Background(), r, func(*read) bool { return true }); got.stdout.String() != "again" || r.Exit().End != pipeline.EndConsumer {
		t.Errorf("%q", got.stdout.String())
	}
	r.Close()
}

func TestStdin(t *testing.T) {
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	defer out.Close()
	old := os.Stdin
	os.Stdin = in
	defer func() { os.Stdin = old }()
	io.WriteString(out, "typed")
	s, err := source.Stdin()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if got := drain(ctx, s, nil); got.stdout.String() != "typed" || !got.cut {
		t.Errorf("%q", got.stdout.String())
	}
	s.Close()
}
