//go:build unix

package source_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

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

// TestFileErrorsOfTheSystem: names that the system refuses are told apart from links that
// lead out.
func TestFileErrorsOfTheSystem(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "file"), "x")
	for from, to := range map[string]string{"loop": "loop", "abs": filepath.Join(dir, "file"), "in": "file"} {
		if err := os.Symlink(to, filepath.Join(dir, from)); err != nil {
			t.Fatal(err)
		}
	}
	socket, err := net.Listen("unix", filepath.Join(dir, "socket"))
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	for _, c := range []struct {
		name             string
		open, openInRoot error
	}{
		{"file/below", source.ErrNotFound, source.ErrNotFound},
		{"socket", source.ErrNotRegular, source.ErrNotRegular},
		{"loop", source.ErrOpen, source.ErrOpen},
		{strings.Repeat("n", 300), source.ErrOpen, source.ErrOpen},
		{"nul\x00", source.ErrOpen, source.ErrOpen},
		{"abs", nil, source.ErrOutside},
		{"in", nil, nil},
	} {
		for root, want := range map[string]error{"": c.open, dir: c.openInRoot} {
			f, err := source.OpenFile(filepath.Join(dir, c.name), source.FileOptions{Root: root})
			if f != nil {
				f.Close()
			}
			if !errors.Is(err, want) || err != nil && strings.Contains(err.Error(), dir) {
				t.Errorf("%.10q, in a root %v: %v, want %v", c.name, root != "", err, want)
			}
		}
	}
	if _, err := source.OpenFile("x", source.FileOptions{Root: filepath.Join(dir, "none")}); !errors.Is(err, source.ErrNotFound) {
		t.Errorf("no root: %v", err)
	}
}

// TestFileChunks: what was yielded stays as it was, and lies side by side.
func TestFileChunks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	text := strings.Repeat("0123456789abcdef\n", 100000)
	put(t, path, text)
	f := openFile(t, path, source.FileOptions{})
	var chunks [][]byte
	apart := 0
	for c := range f.Chunks(t.Context()) {
		if n := len(chunks); n > 0 {
			if last := chunks[n-1]; cap(last) == len(last) || &last[:len(last)+1][len(last)] != &c.Data[0] {
				apart++
			}
		}
		chunks = append(chunks, c.Data)
	}
	if got := string(bytes.Join(chunks, nil)); got != text {
		t.Errorf("%d bytes of %d, or others", len(got), len(text))
	}
	if most := len(text)/(256<<10) + 1; apart > most {
		t.Errorf("%d of %d chunks lie apart from the one before, want at most %d", apart, len(chunks), most)
	}
	for range f.Chunks(t.Context()) {
		t.Error("a second time")
	}
}

// TestFileStops: the consumer, the context and Close end the sequence.
func TestFileStops(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	put(t, path, "text")
	for _, followed := range []bool{false, true} {
		for _, c := range []struct {
			name string
			stop func(f *source.File, cancel func()) (brk bool)
			want pipeline.Exit
			cut  bool
		}{
			{"consumer", func(*source.File, func()) bool { return true }, pipeline.Exit{End: pipeline.EndConsumer}, false},
			{"context", func(_ *source.File, cancel func()) bool { cancel(); return false }, pipeline.Exit{End: pipeline.EndContext}, true},
			{"close", func(f *source.File, _ func()) bool { f.Close(); return false }, pipeline.Exit{End: pipeline.EndConsumer}, true},
			{"close from elsewhere", func(f *source.File, _ func()) bool { go f.Close(); return false }, pipeline.Exit{End: pipeline.EndConsumer}, true},
		} {
			if c.name == "close from elsewhere" && !followed {
				continue // the end of the file may come first
			}
			t.Run(fmt.Sprintf("%s, followed %v", c.name, followed), func(t *testing.T) {
				f := openFile(t, path, source.FileOptions{Follow: followed})
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				got := drain(ctx, f, func(r *read) bool { return !r.cut && c.stop(f, cancel) })
				if got.stdout.String() != "text" || got.cut != c.cut || f.Exit() != c.want {
					t.Errorf("%q, cut %v, %+v", got.stdout.String(), got.cut, f.Exit())
				}
			})
		}
	}
}
