//go:build unix

package mcp

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// openToken opens a token file without following a link at its end, and without waiting
// for a pipe. What is checked is the file that was opened.
func openToken(path string) (*os.File, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	switch {
	case errors.Is(err, unix.ELOOP), errors.Is(err, unix.EMLINK), errors.Is(err, unix.ENXIO):
		return nil, ErrTokenForm
	case err != nil:
		return nil, ErrTokenMissing
	}
	f := os.NewFile(uintptr(fd), "token")
	info, err := f.Stat()
	switch {
	case err != nil:
		err = ErrTokenMissing
	case !info.Mode().IsRegular():
		err = ErrTokenForm
	case info.Mode().Perm()&0o077 != 0 || !mine(info):
		err = ErrTokenRights
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func mine(info os.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(s.Uid) == os.Geteuid()
}
