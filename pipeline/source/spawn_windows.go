package source

import "os"

// executable says true: a file is executable by its name here.
func executable(string) bool { return true }

// enterable says whether dir is a folder.
func enterable(dir string) bool {
	info, err := os.Stat(dir)
	return err == nil && info.IsDir()
}
