package project_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// What is there of an entry keeps its text and its order when the entry gets a definition
// in .hack and a host.
func TestRegister_Update(t *testing.T) {
	w := newWorld(t)
	root, err := json.Marshal(w.dir("shop"))
	if err != nil {
		t.Fatal(err)
	}
	entry := func(dirName, dir, more string) string {
		return fmt.Sprintf(`{"version":1,"future":1.50,"projects":[{"z":[1.0],"id":"a","name":"Shop","devHost":"old","repoRoot":%s,"projectDirName":"%s","projectDir":%s,"createdAt":"t","worktrees":[]%s}],"last":1e3}`,
			root, dirName, dir, more)
	}
	w.registry(entry(".", string(root), `,"devHost":"older.test"`))
	before := w.readRegistry()
	p := w.own("Shop", "shop")
	if err := w.ctx.Register(p); err != nil {
		t.Fatal(err)
	}
	if got := w.readRegistry(); got != before {
		t.Errorf("nothing is new, but the file is now %s", got)
	}
	w.file("shop/.hack/docker-compose.yml", "services: {}\n")
	p, _ = w.ctx.Find(p.Root)
	p.Name, p.DevHost = "another name", "new.test"
	if err := w.ctx.Register(p); err != nil {
		t.Fatal(err)
	}
	dir, err := json.Marshal(w.path("shop/.hack"))
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Replace(entry(".hack", string(dir), ""), `"old"`, `"new.test"`, 1)
	if got := strings.Map(func(r rune) rune {
		if r == ' ' || r == '\n' {
			return -1
		}
		return r
	}, w.readRegistry()); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	if e, ok := w.ctx.EntryOf(p.Root); !ok || e.DevHost != "new.test" || e.Project.DirName != ".hack" || e.Project.Name != "Shop" || !e.Live {
		t.Errorf("%+v", e)
	}
	after := w.readRegistry()
	p.DevHost = ""
	if err := w.ctx.Register(p); err != nil || w.readRegistry() != after {
		t.Errorf("%v: nothing is new, but the file is now %s", err, w.readRegistry())
	}
}
