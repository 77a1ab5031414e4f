//go:build linux && engine

package engine

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

var docker *Engine

func TestMain(m *testing.M) {
	code := Main(m, &docker)
	if path, err := binary(); err == nil {
		_ = os.RemoveAll(filepath.Dir(path))
	}
	os.Exit(code)
}

// TestEngine runs a compose project of the image on the engine.
func TestEngine(t *testing.T) {
	dir := t.TempDir()
	yaml := "name: first\nservices:\n  one:\n    image: " + Image + "\n    network_mode: none\n    command: [/logger, echo, hello]\n"
	if err := os.WriteFile(filepath.Join(dir, "docker-compose.yml"), []byte(yaml), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"compose", "up", "--quiet-pull"}, {"compose", "logs", "--no-color"}} {
		out, err := docker.Docker(t.Context(), dir, args...)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out, "hello") {
			t.Errorf("%v: %q", args, out)
		}
	}
	if _, err := docker.Docker(t.Context(), dir, "compose", "down"); err != nil {
		t.Error(err)
	}
	if out, err := docker.Docker(t.Context(), dir, "ps", "--all", "--quiet"); err != nil || out != "" {
		t.Errorf("containers are left: %q %v", out, err)
	}
}

// TestStop has nothing left of an engine that was ended.
func TestStop(t *testing.T) {
	e, err := Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	pid := e.Pid()
	if err := e.Stop(); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, 0); err != syscall.ESRCH {
		t.Errorf("the engine lives: %v", err)
	}
	if _, err := os.Stat(e.Dir); !os.IsNotExist(err) {
		t.Errorf("its folder is there: %v", err)
	}
}
