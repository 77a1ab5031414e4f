//go:build unix

package project_test

import (
	"errors"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/tailrace/tailrace/internal/project"
)

func TestRegistry_NotAPlainFile(t *testing.T) {
	w := newWorld(t)
	p := w.own("shop", "shop")
	w.dir("home/.hack")
	if err := unix.Mkfifo(w.path("home/.hack/projects.json"), 0o600); err != nil {
		t.Fatal(err)
	}
	if w.ctx.Registered(p.Root) {
		t.Error("registered by a pipe")
	}
	if err := w.ctx.Register(p); !errors.Is(err, project.ErrRegistryForm) {
		t.Errorf("got error %v, want ErrRegistryForm", err)
	}
}
