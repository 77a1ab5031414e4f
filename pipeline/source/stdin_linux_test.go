package source_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/tailrace/tailrace/pipeline"
)

// TestStdinTerminal: a terminal is read line by line, a stop wakes the read, and the
// terminal, which the shell goes on to use, stays in its mode.
func TestStdinTerminal(t *testing.T) {
	keyboard, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer keyboard.Close()
	if err := unix.IoctlSetPointerInt(int(keyboard.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(keyboard.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	fd, err := unix.Open(fmt.Sprintf("/dev/pts/%d", n), unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	terminal := os.NewFile(uintptr(fd), "terminal")
	defer terminal.Close()

	s := stdinFrom(t, terminal)
	io.WriteString(keyboard, "typed\nhalf a line")
	ctx, cancel := context.WithCancel(t.Context())
	got := drain(ctx, s, func(*read) bool { cancel(); return false })
	if got.stdout.String() != "typed\n" || !got.cut || s.Exit() != (pipeline.Exit{End: pipeline.EndContext}) {
		t.Errorf("%q, cut %v, %+v", got.stdout.String(), got.cut, s.Exit())
	}
	if isNonblocking(t, terminal) {
		t.Error("the terminal is in another mode")
	}
	io.WriteString(keyboard, "\n\x04") // the end of input
	s = stdinFrom(t, terminal)
	if got := drain(t.Context(), s, nil); got.stdout.String() != "half a line\n" || s.Exit() != (pipeline.Exit{}) {
		t.Errorf("%q, %+v", got.stdout.String(), s.Exit())
	}
}
