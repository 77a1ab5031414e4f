//go:build unix

package source

import (
	"errors"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Stdin returns standard input as a source. A stop wakes a read that is under way, and
// the descriptor, which this process shares with others, stays in the mode it is in.
//
// Where another process takes what was ready to be read, and on systems that cannot poll
// a terminal, a read may block all the same. Chunks then returns after 1 s at the latest,
// and the goroutine that reads ends with the read.
func Stdin() (*Reader, error) {
	p, err := newPollReader(os.Stdin)
	if err != nil {
		return nil, err
	}
	r := NewReader(p)
	r.release = p.release
	return r, nil
}

// A pollReader reads a descriptor, blocking or not, so that SetReadDeadline ends a read.
type pollReader struct {
	conn         interface{ Control(func(uintptr)) error }
	waker, waken *os.File // the two ends of a pipe: closing waker makes waken readable
	wake         sync.Once
}

func newPollReader(f *os.File) (*pollReader, error) {
	// Not Fd, which may change the mode of the descriptor.
	conn, err := f.SyscallConn()
	if err != nil {
		return nil, ErrRead
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, ErrRead
	}
	return &pollReader{conn: conn, waker: w, waken: r}, nil
}

// Read waits until there is something to read or the deadline has been set.
func (p *pollReader) Read(b []byte) (n int, err error) {
	waken := int32(p.waken.Fd())
	if controlErr := p.conn.Control(func(fd uintptr) { n, err = pollRead(int(fd), waken, b) }); controlErr != nil {
		return 0, controlErr
	}
	return n, err
}

func pollRead(fd int, waken int32, b []byte) (int, error) {
	fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}, {Fd: waken, Events: unix.POLLIN}}
	for {
		if _, err := unix.Poll(fds, -1); errors.Is(err, unix.EINTR) {
			continue
		} else if err != nil {
			return 0, err
		}
		if fds[1].Revents != 0 {
			return 0, os.ErrDeadlineExceeded
		}
		n, err := unix.Read(fd, b)
		switch {
		case errors.Is(err, unix.EINTR) || errors.Is(err, unix.EAGAIN):
			continue
		case err != nil:
			return 0, err
		case n == 0:
			return 0, io.EOF
		}
		return n, nil
	}
}

// SetReadDeadline ends the read that is under way, and all that follow. The zero time
// changes nothing, and no other deadline is asked for.
func (p *pollReader) SetReadDeadline(t time.Time) error {
	if !t.IsZero() {
		p.wake.Do(func() { p.waker.Close() })
	}
	return nil
}

// release gives the pipe back. No read may be under way.
func (p *pollReader) release() {
	p.wake.Do(func() { p.waker.Close() })
	p.waken.Close()
}
