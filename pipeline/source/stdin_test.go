//go:build unix

package source_test

import (
	"context"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tailrace/tailrace/pipeline"
	"github.com/tailrace/tailrace/pipeline/source"
)

// stdinFrom makes f standard input for a test.
func stdinFrom(t *testing.T, f *os.File) *source.Reader {
	t.Helper()
	old := os.Stdin
	os.Stdin = f
	t.Cleanup(func() { os.Stdin = old })
	s, err := source.Stdin()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// pipeEnds returns a pipe whose end for reading is in a mode, as a parent hands it down.
func pipeEnds(t *testing.T, nonblocking bool) (r, w *os.File) {
	t.Helper()
	var fds [2]int
	if err := unix.Pipe(fds[:]); err != nil {
		t.Fatal(err)
	}
	for _, fd := range fds {
		unix.CloseOnExec(fd)
	}
	if err := unix.SetNonblock(fds[0], nonblocking); err != nil {
		t.Fatal(err)
	}
	r, w = os.NewFile(uintptr(fds[0]), "r"), os.NewFile(uintptr(fds[1]), "w")
	t.Cleanup(func() { r.Close(); w.Close() })
	return r, w
}

func isNonblocking(t *testing.T, f *os.File) (is bool) {
	t.Helper()
	conn, err := f.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var flags int
	if conn.Control(func(fd uintptr) { flags, err = unix.FcntlInt(fd, unix.F_GETFL, 0) }); err != nil {
		t.Fatal(err)
	}
	return flags&unix.O_NONBLOCK != 0
}

// TestStdin: a stop wakes the read, what was not read is left to others, and the
// descriptor that others share stays in its mode.
func TestStdin(t *testing.T) {
	for name, nonblocking := range map[string]bool{"blocking": false, "nonblocking": true} {
		t.Run(name, func(t *testing.T) {
			in, out := pipeEnds(t, nonblocking)
			before := descriptors(t)
			io.WriteString(out, "typed")
			s := stdinFrom(t, in)
			ctx, cancel := context.WithCancel(t.Context())
			got := drain(ctx, s, func(r *read) bool {
				if isNonblocking(t, in) != nonblocking {
					t.Error("another mode while it is read")
				}
				cancel()
				return false
			})
			if got.stdout.String() != "typed" || !got.cut || s.Exit() != (pipeline.Exit{End: pipeline.EndContext}) {
				t.Errorf("%q, cut %v, %+v", got.stdout.String(), got.cut, s.Exit())
			}
			s.Close()
			if isNonblocking(t, in) != nonblocking {
				t.Error("another mode afterwards")
			}
			if after := descriptors(t); after != before {
				t.Errorf("stop-leaves-nothing: %d descriptors, %d before", after, before)
			}
			io.WriteString(out, "later")
			out.Close()
			s = stdinFrom(t, in)
			if got := drain(t.Context(), s, nil); got.stdout.String() != "later" || s.Exit() != (pipeline.Exit{}) {
				t.Errorf("%q, %+v", got.stdout.String(), s.Exit())
			}
		})
	}
}

func TestStdinOfOtherKinds(t *testing.T) {
	path := t.TempDir() + "/file"
	text := strings.Repeat("0123456789abcdef\n", 50000)
	put(t, path, text)
	for _, c := range []struct {
		name, path, want string
		err              error
	}{
		{"a file", path, text, nil},
		{"nothing", os.DevNull, "", nil},
		{"a folder", t.TempDir(), "", source.ErrRead},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := descriptors(t)
			f, err := os.Open(c.path)
			if err != nil {
				t.Fatal(err)
			}
			s := stdinFrom(t, f)
			if got := drain(t.Context(), s, nil); got.stdout.String() != c.want || s.Exit() != (pipeline.Exit{Err: c.err}) {
				t.Errorf("%d bytes of %d, %+v", got.stdout.Len(), len(c.want), s.Exit())
			}
			f.Close()
			s.Close()
			if after := descriptors(t); after != before {
				t.Errorf("stop-leaves-nothing: %d descriptors, %d before", after, before)
			}
		})
	}
	t.Run("never read", func(t *testing.T) {
		before := descriptors(t)
		s := stdinFrom(t, os.Stdin)
		s.Close()
		s.Close()
		if after := descriptors(t); after != before {
			t.Errorf("stop-leaves-nothing: %d descriptors, %d before", after, before)
		}
		if got := drain(t.Context(), s, nil); !got.cut || s.Exit() != (pipeline.Exit{End: pipeline.EndConsumer}) {
			t.Errorf("closed before: cut %v, %+v", got.cut, s.Exit())
		}
	})
}

// TestStdinCloseFromElsewhere ends a read that waits.
func TestStdinCloseFromElsewhere(t *testing.T) {
	in, _ := pipeEnds(t, false)
	s := stdinFrom(t, in)
	time.AfterFunc(10*time.Millisecond, func() { s.Close() })
	if got := drain(t.Context(), s, nil); !got.cut || s.Exit() != (pipeline.Exit{End: pipeline.EndConsumer}) {
		t.Errorf("cut %v, %+v", got.cut, s.Exit())
	}
}
