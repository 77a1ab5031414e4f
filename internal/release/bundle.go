package main

import (
	"archive/zip"
	"compress/flate"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// A bundle holds the paths of the binaries that go into one file for all systems: the
// manifest says which of them a system starts.
type bundle struct {
	darwin, linux, windows string
}

// An entry is one file in a bundle.
type entry struct {
	name, path string
	mode       fs.FileMode
}

// write writes the bundle. The same input gives the same bytes.
func (b bundle) write(out string, manifest []byte, version string) (err error) {
	if b.darwin == "" || b.linux == "" || b.windows == "" {
		return errors.New("a bundle needs -darwin, -linux and -windows")
	}
	d, err := parseDocument(manifest)
	if err != nil {
		return err
	}
	if err := d.set("version", version); err != nil {
		return err
	}
	text, err := d.text()
	if err != nil {
		return err
	}
	if err := validate(manifestSchema, text); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(out), 0o755); err != nil {
		return err
	}
	f, err := os.Create(out)
	if err != nil {
		return err
	}
	defer func() {
		if err = errors.Join(err, f.Close()); err != nil {
			_ = os.Remove(out)
		}
	}()
	z := zip.NewWriter(f)
	z.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, flate.BestCompression) })
	w, err := create(z, "manifest.json", 0o644)
	if err != nil {
		return err
	}
	if _, err := w.Write(text); err != nil {
		return err
	}
	for _, e := range []entry{
		{"server/tailrace", b.darwin, 0o755},
		{"server/tailrace-linux", b.linux, 0o755},
		{"server/tailrace.exe", b.windows, 0o755},
		{"LICENSE", "LICENSE", 0o644},
	} {
		if err := add(z, e); err != nil {
			return err
		}
	}
	return z.Close()
}

// create begins a file. Its time is fixed, the first that the format can hold.
func create(z *zip.Writer, name string, mode fs.FileMode) (io.Writer, error) {
	h := &zip.FileHeader{Name: name, Method: zip.Deflate, Modified: time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)}
	h.SetMode(mode)
	return z.CreateHeader(h)
}

func add(z *zip.Writer, e entry) error {
	f, err := os.Open(e.path)
	if err != nil {
		return err
	}
	defer f.Close()
	w, err := create(z, e.name, e.mode)
	if err != nil {
		return err
	}
	_, err = io.Copy(w, f)
	return err
}
