//go:build unix

package mcp

import (
	"errors"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// openAudit opens the audit log for appending. Something else in its place is refused
// without waiting for it: a link could lead the lines to any file of the user, a pipe
// would block. A file that others may read or write is made the user's own first.
func openAudit(path string) (auditFile, error) {
	fd, err := unix.Open(path, unix.O_RDWR|unix.O_APPEND|unix.O_CREAT|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0o600)
	switch {
	case errors.Is(err, unix.ELOOP), errors.Is(err, unix.EMLINK), errors.Is(err, unix.ENXIO), errors.Is(err, unix.EISDIR):
		return nil, errAuditForm
	case err != nil:
		return nil, err
	}
	f := os.NewFile(uintptr(fd), auditName)
	info, err := f.Stat()
	switch {
	case err == nil && !info.Mode().IsRegular():
		err = errAuditForm
	case err == nil && info.Mode().Perm()&0o177 != 0:
		err = f.Chmod(0o600) // Only the owner may.
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// rotate makes room for a new file, and says whether path is to be opened again. Of
// several processes that find the file full one renames it: who gets the lock of the file
// and still finds it in its place. The others append to it meanwhile, which loses nothing.
func (a *auditLog) rotate(path string, file auditFile) bool {
	f, ok := file.(*os.File)
	if !ok || unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil {
		return false
	}
	// Closing f frees the lock.
	mine, err := f.Stat()
	if err != nil {
		return false
	}
	there, err := os.Lstat(path)
	if err != nil || !os.SameFile(mine, there) {
		return true // Another process has renamed it.
	}
	return os.Rename(path, filepath.Join(filepath.Dir(path), auditOld)) == nil
}
