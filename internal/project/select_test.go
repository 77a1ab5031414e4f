package project_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tailrace/tailrace/internal/project"
)

func wantArgs(t *testing.T, w *world, s project.Selector, want ...string) {
	t.Helper()
	got, err := w.ctx.Select(s)
	if err != nil {
		t.Fatalf("refused: %v", err)
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestO11_ConflictingSelectors(t *testing.T) {
	w := newWorld(t)
	w.register(w.hack("shop", "shop"))
	for name, s := range map[string]project.Selector{
		"name and path":  {ProjectName: ptr("shop"), Path: ptr(w.path("shop"))},
		"both paths":     {RepoRoot: ptr(w.path("shop")), Path: ptr(w.path("shop"))},
		"empty ones too": {ProjectName: ptr(""), Path: ptr("")},
		"all":            {ProjectName: ptr("shop"), RepoRoot: ptr("x"), Path: ptr("y")},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := w.ctx.Select(s)
			wantRefusal(t, err, "E_USAGE", "conflicting_selectors", "path")
		})
	}
	_, err := w.ctx.Select(project.Selector{ProjectName: ptr("shop"), RepoRoot: ptr("x")})
	wantRefusal(t, err, "E_USAGE", "conflicting_selectors", "repoRoot")
}

func TestO11_ProjectName(t *testing.T) {
	w := newWorld(t)
	stale := hackEntry("gone", w.path("gone"))
	noCompose := w.hack("bare", "bare")
	if err := os.Remove(w.path("bare/.hack/docker-compose.yml")); err != nil {
		t.Fatal(err)
	}
	w.file("own/tailrace.yaml", "version: 1\n")
	own := hackEntry("Own Logs", w.path("own"))
	own["projectDirName"], own["projectDir"] = ".", w.path("own")
	w.register(w.hack("my-app", "my-app"), stale, noCompose, own,
		w.hack("twice", "twice1"), w.hack("TWICE", "twice2"),
		w.hack("half", "half"), hackEntry("half_", w.path("half-gone")))

	for _, tt := range []struct {
		name string
		want []string
	}{
		{"my-app", []string{"--project", "my-app"}},
		{"my_app", []string{"--project", "my_app"}},
		{" MY APP ", []string{"--project", " MY APP "}},
		{"my//app!", []string{"--project", "my//app!"}},
		{"-my-app", []string{"--project=-my-app"}},
		{"--my-app", []string{"--project=--my-app"}},
		{"own logs", []string{"--project", "own logs"}},
	} {
		t.Run("accepts "+tt.name, func(t *testing.T) {
			wantArgs(t, w, project.Selector{ProjectName: ptr(tt.name)}, tt.want...)
		})
	}
	for _, tt := range []struct{ name, code, reason string }{
		{"", "E_USAGE", "invalid_project_name"},
		{"  ", "E_USAGE", "invalid_project_name"},
		{"-_/ !", "E_USAGE", "invalid_project_name"},
		{"日本", "E_USAGE", "invalid_project_name"},
		{"my-app\x00", "E_USAGE", "invalid_project_name"},
		{"my-app\n", "E_USAGE", "invalid_project_name"},
		{"my-app\xff", "E_USAGE", "invalid_project_name"},
		{"my-app" + strings.Repeat("!", 248), "E_USAGE", "invalid_project_name"},
		{"myapp", "E_PROJECT_NOT_FOUND", "unknown_project"},
		{"other", "E_PROJECT_NOT_FOUND", "unknown_project"},
		{"gone", "E_PROJECT_NOT_FOUND", "unknown_project"},
		{"bare", "E_PROJECT_NOT_FOUND", "unknown_project"},
		{"twice", "E_USAGE", "ambiguous_project"},
		{"half", "E_USAGE", "ambiguous_project"},
	} {
		t.Run("refuses "+tt.name, func(t *testing.T) {
			_, err := w.ctx.Select(project.Selector{ProjectName: ptr(tt.name)})
			wantRefusal(t, err, tt.code, tt.reason, "projectName")
		})
	}
}

func TestO11_Path(t *testing.T) {
	w := newWorld(t)
	w.register(w.hack("shop", "work/shop"))
	w.file("work/shop/..x/y", "")
	w.file("work/shop/src/main.go", "")
	w.file("work/other/x", "")
	w.file("work/shopping/x", "")
	w.file("cwd/here", "")
	w.link(w.path("work/other"), "work/shop/out")
	w.link(w.path("work/shop/src"), "work/shop/in")
	w.link(w.path("work/shop/src"), "elsewhere/in")
	w.link("loop", "work/shop/loop")
	secret := w.dir("work/shop/locked")
	w.file("work/shop/locked/x", "")
	if err := os.Chmod(secret, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(secret, 0o755) })

	for _, tt := range []struct{ name, path, want string }{
		{"root", w.path("work/shop"), w.path("work/shop")},
		{"root with slash", w.path("work/shop") + "/", w.path("work/shop")},
		{"definition", w.path("work/shop/.hack"), w.path("work/shop/.hack")},
		{"a file below", w.path("work/shop/src/main.go"), w.path("work/shop/src/main.go")},
		{"dots", w.path("work/other") + "/../shop/src", w.path("work/shop/src")},
		{"relative", "../work/shop", w.path("work/shop")},
		{"two dots in a name", w.path("work/shop/..x"), w.path("work/shop/..x")},
		{"link that stays inside", w.path("work/shop/in"), w.path("work/shop/in")},
		{"link from outside", w.path("elsewhere/in"), w.path("work/shop/src")},
	} {
		t.Run("accepts "+tt.name, func(t *testing.T) {
			wantArgs(t, w, project.Selector{Path: ptr(tt.path)}, "--path", tt.want)
			wantArgs(t, w, project.Selector{RepoRoot: ptr(tt.path)}, "--path", tt.want)
		})
	}
	for _, tt := range []struct{ name, path, code, reason string }{
		{"empty", "", "E_USAGE", "invalid_path"},
		{"NUL", w.path("work/shop") + "\x00", "E_USAGE", "invalid_path"},
		{"too long", w.path("work/shop/" + strings.Repeat("a", 300)), "E_USAGE", "invalid_path"},
		{"loop of links", w.path("work/shop/loop"), "E_USAGE", "invalid_path"},
		{"missing", w.path("work/shop/none"), "E_PROJECT_NOT_FOUND", "path_not_found"},
		{"below a file", w.path("work/shop/src/main.go/x"), "E_PROJECT_NOT_FOUND", "path_not_found"},
		{"home is no shorthand", "~", "E_PROJECT_NOT_FOUND", "path_not_found"},
		{"parent", w.path("work"), "E_PERMISSION", "path_outside_projects"},
		{"sibling", w.path("work/other"), "E_PERMISSION", "path_outside_projects"},
		{"sibling of a longer name", w.path("work/shopping"), "E_PERMISSION", "path_outside_projects"},
		{"dots that leave", w.path("work/shop") + "/../other", "E_PERMISSION", "path_outside_projects"},
		{"link that leaves", w.path("work/shop/out"), "E_PERMISSION", "path_outside_projects"},
		{"file behind a link that leaves", w.path("work/shop/out/x"), "E_PERMISSION", "path_outside_projects"},
		{"working directory", ".", "E_PERMISSION", "path_outside_projects"},
	} {
		t.Run("refuses "+tt.name, func(t *testing.T) {
			for argument, s := range map[string]project.Selector{
				"path": {Path: ptr(tt.path)}, "repoRoot": {RepoRoot: ptr(tt.path)},
			} {
				_, err := w.ctx.Select(s)
				wantRefusal(t, err, tt.code, tt.reason, argument)
				if text := err.Error(); strings.Contains(text, w.root) || strings.Contains(text, "shop") {
					t.Errorf("the text repeats the value: %s", text)
				}
			}
		})
	}
	if os.Getuid() != 0 {
		_, err := w.ctx.Select(project.Selector{Path: ptr(filepath.Join(secret, "x"))})
		wantRefusal(t, err, "E_PERMISSION", "path_not_readable", "path")
	}
}

func TestO11_RootBehindLink(t *testing.T) {
	w := newWorld(t)
	w.hack("shop", "real/shop")
	w.link(w.path("real"), "alias")
	w.register(hackEntry("shop", w.path("alias/shop")))
	// By its registered name the path stays as it is, so that what is handed on is the
	// path that the registry knows.
	wantArgs(t, w, project.Selector{Path: ptr(w.path("alias/shop"))}, "--path", w.path("alias/shop"))
	wantArgs(t, w, project.Selector{Path: ptr(w.path("real/shop/.hack"))}, "--path", w.path("real/shop/.hack"))
	wantArgs(t, w, project.Selector{ProjectName: ptr("shop")}, "--project", "shop")
	if !w.ctx.Registered(w.path("real/shop")) || !w.ctx.Registered(w.path("alias/shop")) {
		t.Error("a root that was registered through a link is not registered")
	}
}

func TestO11_EmptyRegistryRefusesEveryPath(t *testing.T) {
	w := newWorld(t)
	w.hack("shop", "shop")
	_, err := w.ctx.Select(project.Selector{Path: ptr(w.path("shop"))})
	wantRefusal(t, err, "E_PERMISSION", "path_outside_projects", "path")
}

func TestO11_NoSelector(t *testing.T) {
	for _, marker := range []string{".hack/docker-compose.yml", ".dev/docker-compose.yml", "tailrace.yaml"} {
		t.Run("found upward by "+marker, func(t *testing.T) {
			w := newWorld(t)
			w.file(filepath.Join("cwd", marker), "")
			wantArgs(t, w, project.Selector{})
			w.ctx.Cwd = w.dir("cwd/a/b/c")
			wantArgs(t, w, project.Selector{})
		})
	}
	t.Run("registered folder without a definition", func(t *testing.T) {
		w := newWorld(t)
		w.register(hackEntry("shop", w.path("cwd")))
		wantArgs(t, w, project.Selector{}, "--path", w.path("cwd"))
	})
	t.Run("a folder of that name is no definition", func(t *testing.T) {
		w := newWorld(t)
		w.dir("cwd/tailrace.yaml")
		w.dir("cwd/.hack/docker-compose.yml")
		_, err := w.ctx.Select(project.Selector{})
		wantRefusal(t, err, "E_PROJECT_NOT_FOUND", "no_project", "")
	})
}

func TestFind_NearestFolderWins(t *testing.T) {
	w := newWorld(t)
	w.hack("outer", "outer")
	w.file("outer/tailrace.yaml", "")
	w.file("outer/inner/tailrace.yaml", "")
	w.dir("outer/inner/deep")
	p, ok := w.ctx.Find(w.path("outer/inner/deep"))
	if want := (project.Project{
		Name: "inner", Root: w.path("outer/inner"), Dir: w.path("outer/inner"), DirName: ".",
		ConfigPath: w.path("outer/inner/tailrace.yaml"),
	}); !ok || p != want {
		t.Errorf("got %+v %v, want %+v", p, ok, want)
	}
	p, ok = w.ctx.Find("../outer")
	if want := (project.Project{
		Name: "outer", Root: w.path("outer"), Dir: w.path("outer/.hack"), DirName: ".hack",
		ConfigPath: w.path("outer/tailrace.yaml"),
	}); !ok || p != want {
		t.Errorf("got %+v %v, want %+v", p, ok, want)
	}
	if _, ok := w.ctx.Find(w.path("none")); ok {
		t.Error("found a project where there is none")
	}
}
