package project_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/tailrace/tailrace/internal/project"
)

// own makes a project of a tailrace.yaml and returns what Find says of it.
func (w *world) own(name, folder string) project.Project {
	w.t.Helper()
	w.file(filepath.Join(folder, "tailrace.yaml"), "version: 1\n")
	p, ok := w.ctx.Find(w.path(folder))
	if !ok {
		w.t.Fatal("no project found")
	}
	p.Name = name
	return p
}

func TestRegister_NewRegistry(t *testing.T) {
	w := newWorld(t)
	p := w.own("Shop", "shop")
	if w.ctx.Registered(p.Root) {
		t.Fatal("registered before")
	}
	if err := w.ctx.Register(p); err != nil {
		t.Fatal(err)
	}
	if !w.ctx.Registered(p.Root) || w.ctx.Registered(w.path("shop/sub")) || w.ctx.Registered(w.root) {
		t.Error("exactly the root must be registered")
	}
	wantArgs(t, w, project.Selector{ProjectName: ptr("shop")}, "--project", "shop")
	wantArgs(t, w, project.Selector{Path: ptr(p.Root)}, "--path", p.Root)

	var file struct {
		Version  int                 `json:"version"`
		Projects []map[string]string `json:"projects"`
	}
	if err := json.Unmarshal([]byte(w.readRegistry()), &file); err != nil {
		t.Fatal(err)
	}
	if file.Version != 1 || len(file.Projects) != 1 || len(file.Projects[0]) != 6 {
		t.Fatalf("got %+v", file)
	}
	e := file.Projects[0]
	if e["name"] != "Shop" || e["repoRoot"] != p.Root || e["projectDir"] != p.Root ||
		e["projectDirName"] != "." || len(e["id"]) != 36 || len(e["createdAt"]) != 24 {
		t.Errorf("got %+v", e)
	}
	for path, want := range map[string]os.FileMode{"home/.hack": 0o700, "home/.hack/projects.json": 0o600} {
		info, err := os.Stat(w.path(path))
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("%s has mode %v, want %v", path, info.Mode().Perm(), want)
		}
	}
	left, err := filepath.Glob(w.path("home/.hack/.*.tmp"))
	if err != nil || len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestRegister_KeepsWhatOthersWrote(t *testing.T) {
	w := newWorld(t)
	const before = `{"future":{"big":12345678901234567890,"f":1.0,"e":1e3,"dup":1,"dup":2},` +
		`"version":1.0,"\u006eot\ud800":"\ud800<&>",` +
		`"projects":[{"id":"a","name":"x","repoRoot":"relative","extra":[1.50]},null,7,"text",` +
		`{"z":1,"id":"b","name":"kept","repoRoot":"/gone","projectDirName":".hack","projectDir":"/gone/.hack","createdAt":"t","worktrees":[{"path":"/w","branch":null}]}],` +
		`"last":[]}`
	w.registry(before)
	if err := w.ctx.Register(w.own("new", "new")); err != nil {
		t.Fatal(err)
	}
	var compact strings.Builder
	inString := false
	for _, r := range w.readRegistry() {
		if r == '"' {
			inString = !inString // no string of this file holds an escaped quote
		}
		if inString || !strings.ContainsRune(" \n", r) {
			compact.WriteRune(r)
		}
	}
	head, tail, ok := strings.Cut(compact.String(), `,{"id":"`)
	_, rest, found := strings.Cut(tail, `"name":"new"`)
	if !ok || !found {
		t.Fatalf("no new entry in %s", compact.String())
	}
	_, rest, _ = strings.Cut(rest, "}")
	if got := head + rest; got != before {
		t.Errorf("got  %s\nwant %s", got, before)
	}
}

func TestRegister_Twice(t *testing.T) {
	w := newWorld(t)
	p := w.own("shop", "real/shop")
	if err := w.ctx.Register(p); err != nil {
		t.Fatal(err)
	}
	before := w.readRegistry()
	w.link(w.path("real"), "alias")
	alias := p
	alias.Root, alias.Dir, alias.Name = w.path("alias/shop"), w.path("alias/shop"), "other name"
	for _, again := range []project.Project{p, alias} {
		if err := w.ctx.Register(again); err != nil {
			t.Fatal(err)
		}
	}
	if after := w.readRegistry(); after != before {
		t.Errorf("the file changed:\n%s\n%s", before, after)
	}
}

func TestRegister_Names(t *testing.T) {
	w := newWorld(t)
	w.register(w.hack("Taken_Name", "taken"), hackEntry("moved", w.path("moved-away")),
		hackEntry("two", w.path("gone1")), hackEntry("TWO", w.path("gone2")))
	for _, name := range []string{"taken-name", "two"} {
		if err := w.ctx.Register(w.own(name, "p-"+name)); !errors.Is(err, project.ErrNameTaken) {
			t.Errorf("%s: got error %v, want ErrNameTaken", name, err)
		}
	}
	// The folder of the name is gone: the name goes to the new folder, with its entry.
	if err := w.ctx.Register(w.own("Moved", "moved-here")); err != nil {
		t.Fatal(err)
	}
	if !w.ctx.Registered(w.path("moved-here")) || !strings.Contains(w.readRegistry(), "id-moved") ||
		strings.Contains(w.readRegistry(), "moved-away") {
		t.Errorf("the entry was not moved:\n%s", w.readRegistry())
	}
	for name, p := range map[string]project.Project{
		"no name":       {Root: w.path("cwd"), Dir: w.path("cwd"), DirName: "."},
		"punctuation":   {Name: "-", Root: w.path("cwd"), Dir: w.path("cwd"), DirName: "."},
		"relative root": {Name: "x", Root: "cwd", Dir: w.path("cwd"), DirName: "."},
		"missing root":  {Name: "x", Root: w.path("none"), Dir: w.path("none"), DirName: "."},
		"bad bytes":     {Name: "x", Root: w.dir("b\xff"), Dir: w.path("b\xff"), DirName: "."},
	} {
		if err := w.ctx.Register(p); !errors.Is(err, project.ErrProject) {
			t.Errorf("%s: got error %v, want ErrProject", name, err)
		}
	}
}

// hostile lists files that are no registry. None of them may allow anything, cost much,
// or be written over.
func hostile(root string) map[string]string {
	entry := func(members string) string { return `{"version":1,"projects":[{` + members + `}]}` }
	quoted, _ := json.Marshal(root)
	all := fmt.Sprintf(`"id":"x","name":"shop","repoRoot":%s,"projectDirName":".","projectDir":%s,"createdAt":"t"`, quoted, quoted)
	return map[string]string{
		"text":            "hello",
		"array":           "[]",
		"null":            "null",
		"cut":             entry(all)[:40],
		"trailing":        entry(all) + "x",
		"two":             entry(all) + entry(all),
		"BOM":             "\ufeff" + entry(all),
		"version 2":       strings.Replace(entry(all), `"version":1`, `"version":2`, 1),
		"version text":    strings.Replace(entry(all), `"version":1`, `"version":"1"`, 1),
		"version case":    strings.Replace(entry(all), `"version"`, `"Version"`, 1),
		"later version":   strings.Replace(entry(all), `]}`, `],"version":2}`, 1),
		"no version":      strings.Replace(entry(all), `"version":1,`, ``, 1),
		"no projects":     `{"version":1}`,
		"projects object": `{"version":1,"projects":{}}`,
		"projects later":  strings.Replace(entry(all), `]}`, `],"projects":null}`, 1),
		"deep":            `{"version":1,"x":` + strings.Repeat("[", 5<<20),
		"deep and closed": `{"version":1,"projects":[` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + `]}`,
		"many":            `{"version":1,"projects":[` + strings.Repeat("0,", 1<<17) + `0]}`,
		"large":           entry(all) + strings.Repeat(" ", 16<<20),
	}
}

func TestRegistry_HostileFilesAllowNothing(t *testing.T) {
	w := newWorld(t)
	p := w.own("shop", "shop")
	for name, content := range hostile(p.Root) {
		t.Run(name, func(t *testing.T) {
			w.registry(content)
			if w.ctx.Registered(p.Root) {
				t.Error("registered")
			}
			_, err := w.ctx.Select(project.Selector{ProjectName: ptr("shop")})
			wantRefusal(t, err, "E_PROJECT_NOT_FOUND", "unknown_project", "projectName")
			_, err = w.ctx.Select(project.Selector{Path: ptr(p.Root)})
			wantRefusal(t, err, "E_PERMISSION", "path_outside_projects", "path")
			err = w.ctx.Register(p)
			if !errors.Is(err, project.ErrRegistryForm) || strings.Contains(err.Error(), w.root) {
				t.Errorf("got error %v, want ErrRegistryForm", err)
			}
			if w.readRegistry() != content {
				t.Error("the file was written over")
			}
		})
	}
}

func TestRegistry_MalformedEntriesAreSkipped(t *testing.T) {
	w := newWorld(t)
	p := w.own("shop", "shop")
	good := map[string]any{
		"id": "x", "name": "shop", "repoRoot": p.Root, "projectDirName": ".", "projectDir": p.Root, "createdAt": "t",
	}
	with := func(key string, value any) map[string]any {
		e := map[string]any{}
		for k, v := range good {
			e[k] = v
		}
		if e[key] = value; value == nil {
			delete(e, key)
		}
		return e
	}
	w.register(good)
	if !w.ctx.Registered(p.Root) {
		t.Fatal("the good entry is not read")
	}
	bad := map[string]map[string]any{
		"number as id": with("id", 1), "relative root": with("repoRoot", "shop"), "empty root": with("repoRoot", ""),
		"root of dots": with("repoRoot", ".."), "relative dir": with("projectDir", "."), "other kind": with("projectDirName", "x"),
		"name of other case": with("Name", "shop"),
	}
	delete(bad["name of other case"], "name")
	for key := range good {
		bad["no "+key] = with(key, nil)
		bad["list as "+key] = with(key, []any{})
	}
	for name, e := range bad {
		t.Run(name, func(t *testing.T) {
			w.register(e)
			if w.ctx.Registered(p.Root) {
				t.Error("registered")
			}
			_, err := w.ctx.Select(project.Selector{Path: ptr(w.path("cwd"))})
			wantRefusal(t, err, "E_PERMISSION", "path_outside_projects", "path")
		})
	}
}

func TestRegistry_Link(t *testing.T) {
	w := newWorld(t)
	p := w.own("shop", "shop")
	target := w.path("dotfiles/projects.json")
	w.link(target, "home/.hack/projects.json")
	// A link that leads nowhere must not decide where a file is made.
	if err := w.ctx.Register(p); !errors.Is(err, project.ErrRegistryForm) {
		t.Fatalf("got error %v, want ErrRegistryForm", err)
	}
	if _, err := os.Lstat(target); err == nil {
		t.Fatal("the target was made")
	}
	w.file("dotfiles/projects.json", `{"version":1,"projects":[]}`)
	if err := w.ctx.Register(p); err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat(w.path("home/.hack/projects.json"))
	if err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Error("the link was replaced by a file")
	}
	if !w.ctx.Registered(p.Root) {
		t.Error("not registered through the link")
	}
	// What a link leads to is written only where it is a registry.
	w.file("dotfiles/projects.json", "alias rm='rm -i'\n")
	if err := w.ctx.Register(w.own("other", "other")); !errors.Is(err, project.ErrRegistryForm) {
		t.Errorf("got error %v, want ErrRegistryForm", err)
	}
}

func TestRegister_AtOnce(t *testing.T) {
	w := newWorld(t)
	const n = 24
	var wg sync.WaitGroup
	errs := make([]error, n)
	for i := range n {
		p := w.own(fmt.Sprintf("p%d", i), fmt.Sprintf("p%d", i))
		wg.Go(func() { errs[i] = w.ctx.Register(p) })
	}
	wg.Wait()
	for i, err := range errs {
		if err != nil || !w.ctx.Registered(w.path(fmt.Sprintf("p%d", i))) {
			t.Errorf("p%d: %v", i, err)
		}
	}
}

func FuzzRegistry(f *testing.F) {
	for _, content := range hostile("/x") {
		if len(content) < 1000 {
			f.Add(content)
		}
	}
	f.Add(`{"version":1,"projects":[{"a":1},2,"x"],"k":{"b":[1e5]}}`)
	f.Fuzz(func(t *testing.T, content string) {
		w := newWorld(t)
		w.registry(content)
		p := w.own("shop", "shop")
		err := w.ctx.Register(p)
		if err != nil {
			if w.readRegistry() != content {
				t.Fatal("a file that was refused was written over")
			}
			return
		}
		if !w.ctx.Registered(p.Root) || !json.Valid([]byte(w.readRegistry())) {
			t.Fatalf("not registered in %s", w.readRegistry())
		}
	})
}
