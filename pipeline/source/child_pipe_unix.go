//go:build unix

package source

import (
	"io"
	"time"

	"golang.org/x/sys/unix"
)

// finish lets the reader take what lies in the pipe and end, without waiting for more.
// It acts once: a second deadline would meet rest.
func (r *reader) finish() {
	r.finished.Do(func() { r.file.SetReadDeadline(time.Unix(1, 0)) })
}

// rest hands over what lies in the pipe now. Something that writes on and on does not
// hold it up: it takes no more than there was when it began. It returns io.EOF when it
// has taken all.
func (r *reader) rest() error {
	r.file.SetReadDeadline(time.Time{})
	conn, err := r.file.SyscallConn()
	if err != nil {
		return err
	}
	left := 0
	control := conn.Control(func(fd uintptr) { left, err = unix.IoctlGetInt(int(fd), bytesReady) })
	if control != nil {
		return control
	}
	for err == nil && left > 0 {
		room := r.segments.room()
		n := 0
		control = conn.Read(func(fd uintptr) bool {
			n, err = unix.Read(int(fd), room[:min(len(room), left)])
			return true // never wait
		})
		switch {
		case control != nil:
			return control
		case err == unix.EINTR:
			err = nil
		case err == unix.EAGAIN, err == nil && n == 0, err == nil && !r.hand(n):
			return io.EOF
		case err == nil:
			left -= n
		}
	}
	if err == nil {
		err = io.EOF
	}
	return err
}
