package install

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

const (
	maxFileBytes = 32 << 20
	maxLinks     = 40
)

// readFile returns the content of a configuration, nil where there is none.
func readFile(path string) ([]byte, fs.FileInfo, error) {
	// A pipe in its place must not be waited for.
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, ErrRead
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return nil, nil, ErrRead
	}
	data, err := io.ReadAll(io.LimitReader(f, maxFileBytes+1))
	switch {
	case err != nil:
		return nil, nil, ErrRead
	case len(data) > maxFileBytes:
		return nil, nil, ErrLarge
	case data == nil:
		data = []byte{}
	}
	return data, info, nil
}

// resolve follows the links of the file itself, also to a file that is not there yet.
func resolve(path string) (string, error) {
	for range maxLinks {
		target, err := os.Readlink(path)
		if err != nil {
			return path, nil
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(path), target)
		}
		path = target
	}
	return "", ErrLinks
}

// inside says whether path leads to a place below root, with all links followed. What is
// not there yet is judged by the nearest folder that is.
func inside(root, path string) bool {
	realRoot, err := filepath.EvalSymlinks(root)
	if err != nil {
		return false
	}
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		real, err := filepath.EvalSymlinks(dir)
		if err == nil {
			rel, err := filepath.Rel(realRoot, real)
			return err == nil && filepath.IsLocal(rel)
		}
		if !errors.Is(err, fs.ErrNotExist) || dir == filepath.Dir(dir) {
			return false
		}
	}
}

// writeFile puts data in the place of the file at path, which must still be what it was
// read as. A reader sees the old file or the new one.
func writeFile(path string, before, data []byte, info fs.FileInfo, mode fs.FileMode) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return ErrWrite
	}
	temp, err := os.CreateTemp(dir, "."+filepath.Base(path)+".*.tmp")
	if err != nil {
		return ErrWrite
	}
	name := temp.Name()
	_, err = temp.Write(data)
	if err == nil {
		if info != nil {
			mode = info.Mode().Perm()
			keepOwner(temp, info)
		}
		err = temp.Chmod(mode)
	}
	if err == nil {
		// Without this a crash of the system could leave the new name with no content.
		err = temp.Sync()
	}
	if err = errors.Join(err, temp.Close()); err != nil {
		_ = os.Remove(name)
		return ErrWrite
	}
	if err := unchanged(path, before); err != nil {
		_ = os.Remove(name)
		return err
	}
	if err := os.Rename(name, path); err != nil {
		_ = os.Remove(name)
		return ErrWrite
	}
	syncDir(dir)
	return nil
}

// removeFile removes the file at path, which must still be what it was read as.
func removeFile(path string, before []byte) error {
	if err := unchanged(path, before); err != nil {
		return err
	}
	if err := os.Remove(path); err != nil {
		return ErrWrite
	}
	syncDir(filepath.Dir(path))
	return nil
}

// unchanged looks at the last moment: the client writes the same file.
func unchanged(path string, before []byte) error {
	now, _, err := readFile(path)
	if err != nil {
		return err
	}
	if (now == nil) != (before == nil) || !bytes.Equal(now, before) {
		return ErrChanged
	}
	return nil
}

// syncDir makes a rename durable where the system can.
func syncDir(dir string) {
	if f, err := os.Open(dir); err == nil {
		_ = f.Sync()
		_ = f.Close()
	}
}
