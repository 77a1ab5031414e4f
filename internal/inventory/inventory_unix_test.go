//go:build unix

package inventory

import (
	"path/filepath"
	"syscall"
	"testing"
)

func TestRead_WaitsForNoPipe(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, ".env"), 0o600); err != nil {
		t.Fatal(err)
	}
	if inv := read(t, dir, Limits{}); len(inv.EnvFiles) != 0 {
		t.Errorf("%+v", inv)
	}
	r := &reader{limits: DefaultLimits(), out: &Inventory{}}
	if err := r.open(dir); err != nil {
		t.Fatal(err)
	}
	defer r.root.Close()
	if _, ok := r.read(".env"); ok {
		t.Error("a pipe was read")
	}
}
