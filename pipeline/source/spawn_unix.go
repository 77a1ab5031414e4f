//go:build unix

package source

import (
	"os"

	"golang.org/x/sys/unix"
)

// executable says whether this process may execute the file.
func executable(path string) bool { return unix.Access(path, unix.X_OK) == nil }

// enterable says whether dir is a folder that a process can be started in.
func enterable(dir string) bool {
	info, err := os.Stat(dir)
	return err == nil && info.IsDir() && unix.Access(dir, unix.X_OK) == nil
}
