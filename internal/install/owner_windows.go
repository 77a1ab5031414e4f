package install

import (
	"io/fs"
	"os"
)

// keepOwner does nothing: a new file has the owner of its folder's rights.
func keepOwner(*os.File, fs.FileInfo) {}
