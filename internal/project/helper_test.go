package project_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/tailrace/tailrace/internal/project"
)

// A world is a home folder, a registry and a working directory on disk, all below one
// folder that holds no project.
type world struct {
	t    *testing.T
	root string
	ctx  project.Context
}

func newWorld(t *testing.T, env ...string) *world {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, root: root}
	w.dir("cwd")
	w.ctx, err = project.NewContext(w.path("cwd"), append([]string{"HOME=" + w.path("home")}, env...))
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *world) path(name string) string { return filepath.Join(w.root, name) }

func (w *world) dir(name string) string {
	w.t.Helper()
	if err := os.MkdirAll(w.path(name), 0o755); err != nil {
		w.t.Fatal(err)
	}
	return w.path(name)
}

func (w *world) file(name, content string) string {
	w.t.Helper()
	w.dir(filepath.Dir(name))
	if err := os.WriteFile(w.path(name), []byte(content), 0o644); err != nil {
		w.t.Fatal(err)
	}
	return w.path(name)
}

func (w *world) link(target, name string) string {
	w.t.Helper()
	w.dir(filepath.Dir(name))
	if err := os.Symlink(target, w.path(name)); err != nil {
		w.t.Fatal(err)
	}
	return w.path(name)
}

// registry writes the registry file as it stands.
func (w *world) registry(content string) { w.t.Helper(); w.file("home/.hack/projects.json", content) }

func (w *world) readRegistry() string {
	w.t.Helper()
	data, err := os.ReadFile(w.path("home/.hack/projects.json"))
	if err != nil {
		w.t.Fatal(err)
	}
	return string(data)
}

// hack makes a project of the hack command line in a folder and returns its entry.
func (w *world) hack(name, folder string) map[string]any {
	w.t.Helper()
	w.file(filepath.Join(folder, ".hack/docker-compose.yml"), "services: {}\n")
	return hackEntry(name, w.path(folder))
}

func hackEntry(name, root string) map[string]any {
	return map[string]any{
		"id": "id-" + name, "name": name, "repoRoot": root, "projectDirName": ".hack",
		"projectDir": filepath.Join(root, ".hack"), "createdAt": "2026-01-01T00:00:00.000Z",
	}
}

// register writes a registry of these entries.
func (w *world) register(entries ...map[string]any) {
	w.t.Helper()
	data, err := json.Marshal(map[string]any{"version": 1, "projects": entries})
	if err != nil {
		w.t.Fatal(err)
	}
	w.registry(string(data))
}

func ptr(s string) *string { return &s }

// wantRefusal checks a refusal's code, reason and argument, and that its text repeats
// none of the values.
func wantRefusal(t *testing.T, err error, code, reason, argument string) {
	t.Helper()
	var refused *project.SelectError
	if !errors.As(err, &refused) {
		t.Fatalf("got error %v, want a *SelectError with reason %s", err, reason)
	}
	if refused.Code != code || refused.Reason != reason || refused.Argument != argument {
		t.Errorf("got %s %s %q, want %s %s %q",
			refused.Code, refused.Reason, refused.Argument, code, reason, argument)
	}
}
