//go:build unix

package source_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/tailrace/tailrace/pipeline"
	"github.com/tailrace/tailrace/pipeline/source"
)

func TestReader(t *testing.T) {
	r := source.NewReader(strings.NewReader("all of it"))
	if got := drain(context.Background(), r, nil).stdout.String(); got != "all of it" || r.Exit().Failed() {
		t.Errorf("%q %+v", got, r.Exit())
	}
	r.Close()
}

// readerFunc is a reader of one function.
type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(b []byte) (int, error) { return f(b) }

// TestReaderErrors: O2, a reader that fails is a failed source, and what it gave is kept.
func TestReaderErrors(t *testing.T) {
	for name, err := range map[string]error{
		"an error":         errors.New("secret"),
		"its own deadline": os.ErrDeadlineExceeded,
		"a wrapped end":    fmt.Errorf("secret: %w", io.EOF),
		"no progress":      nil,
	} {
		t.Run(name, func(t *testing.T) {
			reads := 0
			r := source.NewReader(readerFunc(func(b []byte) (int, error) {
				if reads++; reads == 1 {
					return copy(b, "kept"), nil
				}
				return 0, err
			}))
			got := drain(t.Context(), r, nil)
			if e := r.Exit(); got.stdout.String() != "kept" || !errors.Is(e.Err, source.ErrRead) || !e.Failed() || strings.Contains(e.Err.Error(), "secret") {
				t.Errorf("%q, %+v", got.stdout.String(), e)
			}
		})
	}
}

// TestReaderChunks: what was yielded stays as it was, also where the reading is ahead.
func TestReaderChunks(t *testing.T) {
	text := strings.Repeat("0123456789abcdef\n", 20000)
	for name, r := range map[string]io.Reader{
		"whole":         strings.NewReader(text),
		"halves":        iotest.HalfReader(strings.NewReader(text)),
		"data with end": iotest.DataErrReader(strings.NewReader(text)),
		"bytes":         iotest.OneByteReader(strings.NewReader(text[:1000])),
	} {
		t.Run(name, func(t *testing.T) {
			s := source.NewReader(r)
			var chunks [][]byte
			for c := range s.Chunks(t.Context()) {
				chunks = append(chunks, c.Data)
			}
			want := text
			if name == "bytes" {
				want = text[:1000]
			}
			if got := string(bytes.Join(chunks, nil)); got != want || s.Exit() != (pipeline.Exit{}) {
				t.Errorf("%d bytes of %d, or others; %+v", len(got), len(want), s.Exit())
			}
			for range s.Chunks(t.Context()) {
				t.Error("a second time")
			}
		})
	}
}

// deadlineLiar takes deadlines and ignores them.
type deadlineLiar struct{ readerFunc }

func (deadlineLiar) SetReadDeadline(time.Time) error { return nil }

// closer counts how often it is closed, and blocks as long as its read.
type closer struct {
	readerFunc
	block  chan struct{}
	closed int
}

func (c *closer) Close() error {
	c.closed++
	close(c.block)
	return nil
}

// TestReaderThatBlocks: no read keeps a run from ending in time.
func TestReaderThatBlocks(t *testing.T) {
	for _, c := range []struct {
		name   string
		within time.Duration
		of     func(read readerFunc, block chan struct{}) io.Reader
		closes bool
	}{
		{"nothing wakes it", 0, func(read readerFunc, _ chan struct{}) io.Reader { return read }, false},
		{"its deadline does nothing", time.Second, func(read readerFunc, _ chan struct{}) io.Reader { return deadlineLiar{read} }, false},
		{"it can be closed", 0, func(read readerFunc, block chan struct{}) io.Reader { return &closer{readerFunc: read, block: block} }, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				block := make(chan struct{})
				r := c.of(func([]byte) (int, error) { <-block; return 0, errors.New("ended") }, block)
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				s := source.NewReader(r)
				start := time.Now()
				if got := drain(ctx, s, nil); !got.cut || s.Exit() != (pipeline.Exit{End: pipeline.EndContext}) {
					t.Errorf("cut %v, %+v", got.cut, s.Exit())
				}
				s.Close()
				if late := time.Since(start) - time.Minute; late > c.within {
					t.Errorf("ended %v after the context", late)
				}
				if !c.closes {
					close(block)
				}
				time.Sleep(time.Second)
				synctest.Wait() // the goroutine that reads is gone, or the bubble fails
			})
		})
	}
}

// TestReaderThatReturnsIsNotClosed: a stop closes a reader only to end its read.
func TestReaderThatReturnsIsNotClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &closer{readerFunc: func(b []byte) (int, error) { return len(b), nil }, block: make(chan struct{})}
		s := source.NewReader(r)
		drain(t.Context(), s, func(*read) bool { return true })
		s.Close()
		time.Sleep(time.Minute)
		if r.closed != 0 || s.Exit() != (pipeline.Exit{End: pipeline.EndConsumer}) {
			t.Errorf("closed %d times, %+v", r.closed, s.Exit())
		}
	})
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
