package project

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// replaceFile writes data to a new file beside path and renames it, if the file at path
// is still the one that was seen (nil: none was there). It says whether it did.
func replaceFile(path string, data []byte, seen fs.FileInfo) (bool, error) {
	if len(data) > maxRegistryBytes {
		return false, ErrRegistryForm
	}
	dir := filepath.Dir(path)
	temp, err := os.CreateTemp(dir, "."+registryFile+".*.tmp") // mode 0600
	if err != nil {
		return false, access(err)
	}
	name := temp.Name()
	_, err = temp.Write(data)
	if err == nil {
		// Without this a crash of the system could leave the new name with no content.
		err = temp.Sync()
	}
	err = errors.Join(err, temp.Close())
	if err != nil {
		_ = os.Remove(name)
		return false, access(err)
	}
	// The hack command line does not know this lock. What it wrote meanwhile must not be
	// lost, so look again at the last moment.
	now, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		now, err = nil, nil
	}
	if err != nil || !sameFile(seen, now) {
		_ = os.Remove(name)
		if err != nil {
			return false, access(err)
		}
		return false, nil
	}
	if err := os.Rename(name, path); err != nil {
		_ = os.Remove(name)
		return false, access(err)
	}
	syncDir(dir)
	return true, nil
}

func sameFile(a, b fs.FileInfo) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

// syncDir makes the rename durable where the system can. Some file systems cannot sync
// a folder; the file is complete in either case.
func syncDir(dir string) {
	if f, err := os.Open(dir); err == nil {
		_ = f.Sync()
		_ = f.Close()
	}
}

// lockFile takes the lock of a file, which it makes if need be, and returns what frees
// it. It waits up to lockWait. The file stays behind: to remove it would let two
// processes hold the lock of two files of one name.
func lockFile(path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, access(err)
	}
	deadline := time.Now().Add(lockWait)
	for {
		held, err := tryLock(f)
		switch {
		case err != nil:
			_ = f.Close()
			return nil, access(err)
		case held:
			return func() { _ = f.Close() }, nil
		case time.Now().After(deadline):
			_ = f.Close()
			return nil, ErrRegistryBusy
		}
		time.Sleep(lockPoll)
	}
}
