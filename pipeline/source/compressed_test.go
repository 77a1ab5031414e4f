//go:build unix

package source_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/tailrace/tailrace/pipeline"
	"github.com/tailrace/tailrace/pipeline/source"
)

func zipped(t *testing.T, kind, text string) string {
	t.Helper()
	var b bytes.Buffer
	if kind == "gzip" {
		w := gzip.NewWriter(&b)
		if _, err := w.Write([]byte(text)); err != nil || w.Close() != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	w, err := zstd.NewWriter(&b)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte(text)); err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestFileCompressed: known by its first bytes, and read whole, also where several were put
// behind each other.
func TestFileCompressed(t *testing.T) {
	var text strings.Builder
	for i := range 200_000 {
		fmt.Fprintf(&text, "line %d\n", i)
	}
	for _, kind := range []string{"gzip", "zstd"} {
		path := filepath.Join(t.TempDir(), "log")
		packed := zipped(t, kind, text.String())
		put(t, path, packed+zipped(t, kind, "another\n"))
		for _, o := range []source.FileOptions{{Decompress: true}, {Decompress: true, Follow: true, LastLines: 3}} {
			f := openFile(t, path, o)
			got := drain(t.Context(), f, nil)
			if !f.Compressed() || got.stdout.String() != text.String()+"another\n" || f.Exit() != (pipeline.Exit{}) {
				t.Errorf("%s: %d bytes, %+v", kind, got.stdout.Len(), f.Exit())
			}
		}
		f := openFile(t, path, source.FileOptions{})
		if got := drain(t.Context(), f, nil).stdout.String(); f.Compressed() || !strings.HasPrefix(got, packed) {
			t.Errorf("%s: not as it is without the option", kind)
		}
		// Damaged, cut short, and with something else behind it.
		for name, bad := range map[string]string{
			"cut": packed[:len(packed)/2], "damaged": packed[:len(packed)/2] + "????" + packed[len(packed)/2+4:], "head": packed[:5], "tail": packed + "something else",
		} {
			put(t, path, bad)
			f, err := source.OpenFile(path, source.FileOptions{Decompress: true})
			if err == nil {
				got := drain(t.Context(), f, nil).stdout.String()
				err = f.Exit().Err
				if name != "damaged" && !strings.HasPrefix(text.String(), got) {
					t.Errorf("%s %s: %d bytes that are not of the text", kind, name, len(got))
				}
				f.Close()
			}
			if !errors.Is(err, source.ErrCompressed) {
				t.Errorf("%s %s: %v", kind, name, err)
			}
		}
		put(t, path, packed)
		f = openFile(t, path, source.FileOptions{Decompress: true})
		if got := drain(t.Context(), f, func(*read) bool { f.Close(); return false }); !got.cut || f.Exit().End != pipeline.EndConsumer {
			t.Errorf("%s: closed: cut %v, %+v", kind, got.cut, f.Exit())
		}
	}
	for _, text := range []string{"", "x", "\x1f", "\x1f\x8c text", "plain\n"} {
		path := filepath.Join(t.TempDir(), "log")
		put(t, path, text)
		f := openFile(t, path, source.FileOptions{Decompress: true})
		if got := drain(t.Context(), f, nil).stdout.String(); f.Compressed() || got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}

// TestMemory_Zstd: a file that asks for a large window is refused.
func TestMemory_Zstd(t *testing.T) {
	var b bytes.Buffer
	w, err := zstd.NewWriter(&b, zstd.WithWindowSize(128<<20), zstd.WithSingleSegment(false))
	if err != nil {
		t.Fatal(err)
	}
	chunk := bytes.Repeat([]byte("x"), 1<<20)
	for range 130 {
		if _, err := w.Write(chunk); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "log")
	put(t, path, b.String())
	f, err := source.OpenFile(path, source.FileOptions{Decompress: true})
	if err == nil {
		drain(t.Context(), f, nil)
		err = f.Exit().Err
		f.Close()
	}
	if !errors.Is(err, source.ErrCompressed) {
		t.Errorf("got %v", err)
	}
}
