package project_test

import (
	"os"
	"path/filepath"
	"testing"
)

func TestRepoRoot(t *testing.T) {
	w := newWorld(t)
	w.register(w.hack("shop", "shop"))
	for _, name := range []string{"shop/sub/x", "git/.git/x", "tree/.git", "plain/x", "cwd/below/x", "linked/x"} {
		w.file(name, "")
	}
	if err := os.Symlink(w.path("git/.git"), w.path("linked/.git")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(w.path("plain"), w.path("cwd/out")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(w.path("git"), w.path("cwd/repo")); err != nil {
		t.Fatal(err)
	}
	c := w.ctx
	c.Cwd = w.path("cwd")
	for value, want := range map[string]string{
		w.path("shop"):     w.path("shop"),
		w.path("shop/sub"): w.path("shop/sub"),
		w.path("git"):      w.path("git"),
		w.path("tree"):     w.path("tree"),
		".":                w.path("cwd"),
		"below":            w.path("cwd/below"),
		"repo":             w.path("git"),
		"../git":           w.path("git"),
	} {
		wanted, err := filepath.EvalSymlinks(want)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := c.RepoRoot(value); err != nil || got != wanted {
			t.Errorf("%s: %s, %v", value, got, err)
		}
	}
	for value, want := range map[string][2]string{
		"":                  {"E_USAGE", "invalid_path"},
		"a\x00":             {"E_USAGE", "invalid_path"},
		"none":              {"E_PROJECT_NOT_FOUND", "path_not_found"},
		"below/x":           {"E_USAGE", "path_not_folder"},
		w.path("plain"):     {"E_PERMISSION", "path_not_repository"},
		"out":               {"E_PERMISSION", "path_not_repository"},
		w.path("linked"):    {"E_PERMISSION", "path_not_repository"},
		"/":                 {"E_PERMISSION", "path_not_repository"},
		"..":                {"E_PERMISSION", "path_not_repository"},
		w.path("git/.git"):  {"E_PERMISSION", "path_not_repository"},
		w.path("shop/../x"): {"E_PROJECT_NOT_FOUND", "path_not_found"},
	} {
		_, err := c.RepoRoot(value)
		wantRefusal(t, err, want[0], want[1], "repoRoot")
	}
	// A server that was started in the root of all folders may not read all of them.
	c.Cwd = "/"
	_, err := c.RepoRoot(w.path("plain"))
	wantRefusal(t, err, "E_PERMISSION", "path_not_repository", "repoRoot")
}
