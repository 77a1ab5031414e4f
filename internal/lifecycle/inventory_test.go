package lifecycle

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 5e6, time.UTC)

// A branch of one project is not taken for another project, nor the other way round.
func TestListAttachesBranches(t *testing.T) {
	row := func(project, state string) string {
		return `{"id":"x","state":"` + state + `","name":"n","project":"` + project + `","service":"web","oneoff":"False","dir":""}` + "\n"
	}
	c := dockerContext(t, "print:"+row("shop", "exited")+row("shop--b", "running")+row("shop--x", "running")+row("shop--", "running")+row("shopping", "running")+row("other", "running"))
	compose(t, c, "shop", "name: shop\nservices: {}\n")
	compose(t, c, "x", "name: shop--x\nservices: {}\n")
	inv := List(t.Context(), c, InventoryOptions{Unregistered: true}, noon)
	var got []string
	for _, p := range inv.Projects {
		text := p.Name + " " + p.Status
		for _, b := range p.BranchRuntime {
			text += " +" + b.Branch
		}
		got = append(got, text)
	}
	want := "shop running +b|x running|other unregistered|shop-- unregistered|shopping unregistered"
	if strings.Join(got, "|") != want {
		t.Errorf("got %q, want %q", strings.Join(got, "|"), want)
	}
	if inv.GeneratedAt != "2026-03-01T12:00:00.005Z" || !inv.RuntimeOK || *inv.RuntimeLastOKAt != inv.GeneratedAt {
		t.Errorf("%+v", inv)
	}
}

func TestListWithoutAnAnswer(t *testing.T) {
	for do, want := range map[string]string{"code:1": "engine does not answer", "print:no JSON": "cannot be read", "print:{\"project\":1}": "cannot be read"} {
		c := dockerContext(t, do)
		compose(t, c, "shop", "services: [") // which cannot be read, either
		inv := List(t.Context(), c, InventoryOptions{}, noon)
		if inv.RuntimeOK || !strings.Contains(*inv.RuntimeError, want) || inv.RuntimeLastOKAt != nil {
			t.Errorf("%s: %+v", do, inv)
		}
		if p := inv.Projects; len(p) != 1 || p[0].Status != "unknown" || p[0].RuntimeStatus != "unknown" || p[0].DefinedServices != nil || !p[0].RuntimeConfigured {
			t.Errorf("%s: %+v", do, p)
		}
	}
}

func TestScaffold(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a $b", ".hidden", "node_modules", "A-b"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name, "Dockerfile"), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	services, err := Scaffold(dir, "My Shop", true)
	if err != nil || strings.Join(services, ",") != "a-b" {
		t.Fatalf("%q, %v", services, err)
	}
	c := testContext(t)
	p, ok := c.Find(dir)
	if !ok || p.DirName != ".hack" {
		t.Fatalf("%+v", p)
	}
	target, err := Select(c, Selection{Path: &dir})
	if err != nil || target.ComposeProject != "my-shop" {
		t.Fatalf("%+v, %v", target, err)
	}
	m, err := target.model(t.Context(), "")
	if err != nil || strings.Join(m.Services(), ",") != "a-b" {
		t.Errorf("the file is not valid: %v", err)
	}
	if _, err := Scaffold(dir, "x", true); err == nil {
		t.Error("a file that is there was written over")
	}
}

func TestScaffoldEscapesPaths(t *testing.T) {
	if got := scaffoldText("x", []build{{"a", `../a $b "c`}}); !strings.Contains(got, `context: "../a $$b \"c"`) {
		t.Error(got)
	}
}

func TestValidHost(t *testing.T) {
	for host, want := range map[string]bool{
		"shop.test": true, "a": true, "a-b.c1": true, "": false, "-a": false, "a-": false, "a..b": false, "a b": false, "a/b": false,
		"a@b": false, "a:1": false, strings.Repeat("a", 254): false, "ü.test": false,
	} {
		if ValidHost(host) != want {
			t.Errorf("%q: %v", host, !want)
		}
	}
}

func TestRouted(t *testing.T) {
	for _, c := range []struct{ host, target, branch, want string }{
		{"shop.test", "", "", "https://shop.test"},
		{"shop.test", "www", "", "https://shop.test"},
		{"shop.test", "api", "", "https://api.shop.test"},
		{"shop.test", "api", "Fix/1", "https://api.fix-1.shop.test"},
		{"shop.test", "x.test", "b", "https://x.test"},
		{"shop test", "api", "", ""},
	} {
		got, err := routed(c.host, c.target, c.branch)
		if got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%+v: %q, %v", c, got, err)
		}
	}
}

func TestTargetExamine(t *testing.T) {
	c := testContext(t, "PATH="+t.TempDir())
	at := noon
	r := Examine(t.Context(), c, Selection{}, func() time.Time { at = at.Add(3 * time.Millisecond); return at })
	for _, check := range r.Checks {
		if check.DurationMs != 3 {
			t.Errorf("%+v", check)
		}
	}
	if r.Counts.Error != 1 || r.Counts.Warn != 1 || len(r.Summary) != 2 {
		t.Errorf("%+v", r)
	}
}
