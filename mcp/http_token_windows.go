package mcp

import "os"

// openToken opens a token file. Rights are those that the folder gives.
func openToken(path string) (*os.File, error) {
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return nil, ErrTokenMissing
	case !info.Mode().IsRegular():
		return nil, ErrTokenForm
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, ErrTokenMissing
	}
	return f, nil
}
