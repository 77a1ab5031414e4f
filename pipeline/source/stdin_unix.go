//go:build unix

package source

import (
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Stdin returns standard input as a source. A stop wakes a read that is under way, and
// the descriptor, which this process shares with others, stays in the mode it is in.
func Stdin() (*Reader, error) {
	r, err := newPollReader(os.Stdin)
	if err != nil {
		return nil, err
	}
	return NewReader(r), nil
}

// A pollReader reads a blocking descriptor so that SetReadDeadline can end a read.
type pollReader struct {
	file       *os.File
	wakeR, own *os.File // a pipe that is readable once a read is to end
	once       sync.Once
}

func newPollReader(f *os.File) (*pollReader, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	return &pollReader{file: f, wakeR: r, own: w}, nil
}

// Read waits until there is something to read or the deadline has been set.
func (p *pollReader) Read(b []byte) (int, error) {
	fds := []unix.PollFd{
		{Fd: int32(p.file.Fd()), Events: unix.POLLIN},
		{Fd: int32(p.wakeR.Fd()), Events: unix.POLLIN},
	}
	for {
		if _, err := unix.Poll(fds, -1); err == unix.EINTR {
			continue
		} else if err != nil {
			return 0, err
		}
		if fds[1].Revents != 0 {
			p.wakeR.Close()
			return 0, os.ErrDeadlineExceeded
		}
		return p.file.Read(b)
	}
}

// SetReadDeadline ends the read that is under way, and all that follow. Deadlines in the
// future and the zero time change nothing: nobody here asks for them.
func (p *pollReader) SetReadDeadline(t time.Time) error {
	if !t.IsZero() {
		p.once.Do(func() { p.own.Close() })
	}
	return nil
}
