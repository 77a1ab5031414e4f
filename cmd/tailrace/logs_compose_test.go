package main

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tailrace/tailrace/internal/project"
)

// A composeApp is a registered project on which plans are made. Its engine is not there.
type composeApp struct {
	*testing.T
	root string
	env  []string
}

func newComposeApp(t *testing.T, files map[string]string) *composeApp {
	t.Helper()
	base := t.TempDir()
	a := &composeApp{T: t, root: filepath.Join(base, "shop")}
	a.env = []string{"HOME=" + base, "HACK_HOME=" + filepath.Join(base, "hack"), "DOCKER_HOST=unix://" + filepath.Join(base, "none.sock")}
	for name, text := range files {
		path := filepath.Join(a.root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	c, err := project.NewContext(a.root, a.env)
	if err != nil {
		t.Fatal(err)
	}
	p, ok := c.Find(a.root)
	if !ok {
		t.Fatal("no project")
	}
	if err := c.Register(p); err != nil {
		t.Fatal(err)
	}
	return a
}

// plan is the plan of a call.
func (a *composeApp) plan(o *logsOptions, env ...string) (*plan, error) {
	a.Helper()
	c, err := project.NewContext(a.root, append(a.env, env...))
	if err != nil {
		a.Fatal(err)
	}
	return o.plan(a.Context(), c)
}

const shopYAML = "services:\n  web: {image: x}\n  db: {image: x, profiles: [data]}\n"

// Which services of which compose project are read.
func TestPlan_Compose(t *testing.T) {
	const sources = "version: 1\nsources:\n  app: {file: app.log}\n  containers: {compose: {}}\n  infra: {compose: {project: infra, services: [proxy]}}\n"
	yaml := map[string]string{"tailrace.yaml": sources, "compose.yaml": shopYAML}
	for _, tt := range []struct {
		name  string
		files map[string]string
		o     logsOptions
		want  []string // a source each: its name, the project, its services
		title string   // the project of the events
	}{
		{"the compose file of a project", map[string]string{".hack/docker-compose.yml": shopYAML}, logsOptions{}, []string{":shop:"}, "shop"},
		{"no sources", map[string]string{"tailrace.yaml": "version: 1\n", "compose.yaml": "name: other\n" + shopYAML}, logsOptions{}, []string{":other:"}, "other"},
		{"a branch", map[string]string{".dev/docker-compose.yml": shopYAML}, logsOptions{branch: "Fix/1"}, []string{":shop--fix-1:"}, "shop--fix-1"},
		{"a service", map[string]string{".hack/docker-compose.yml": shopYAML}, logsOptions{names: []string{"db"}}, []string{":shop:db"}, "shop"},
		{"a profile", map[string]string{".hack/docker-compose.yml": shopYAML}, logsOptions{profile: "data"}, []string{":shop:db web"}, "shop"},
		{"another profile", map[string]string{".hack/docker-compose.yml": shopYAML}, logsOptions{profile: "x"}, []string{":shop:web"}, "shop"},
		{"a file with sources", yaml, logsOptions{}, []string{"app", "containers:shop:", "infra:infra:proxy"}, "shop"},
		{"--compose", yaml, logsOptions{compose: true}, []string{":shop:"}, "shop"},
		{"a source by name", yaml, logsOptions{names: []string{"infra"}}, []string{"infra:infra:proxy"}, "infra"},
		{"a source of files by name", yaml, logsOptions{names: []string{"app"}}, []string{"app"}, "shop"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, err := newComposeApp(t, tt.files).plan(&tt.o)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, s := range p.sources {
				text := s.Name
				if s.Compose != nil {
					text += ":" + s.Compose.Project + ":" + strings.Join(s.Compose.Services, " ")
				}
				got = append(got, text)
			}
			if !slices.Equal(got, tt.want) || p.project != tt.title {
				t.Errorf("got %q of %s, want %q of %s", got, p.project, tt.want, tt.title)
			}
		})
	}
}

// A service that is nowhere is refused; one of a source that names another project is left to
// the engine.
func TestPlan_ComposeServices(t *testing.T) {
	a := newComposeApp(t, map[string]string{"tailrace.yaml": "version: 1\nsources: {containers: {compose: {services: [web]}}}\n", "compose.yaml": shopYAML})
	for name, code := range map[string]string{"web": "", "db": codeService, "none": codeService} {
		_, err := a.plan(&logsOptions{names: []string{name}})
		if got := refusalCode(err); err == nil && code != "" || err != nil && got != code {
			t.Errorf("%s: %v, want %q", name, err, code)
		}
	}
	bare := newComposeApp(t, map[string]string{".hack/docker-compose.yml": shopYAML})
	if _, err := bare.plan(&logsOptions{names: []string{"none"}}); refusalCode(err) != codeService {
		t.Errorf("got %v", err)
	}
}

// Which backend is chosen: the rules of the reference where its collector may be there, and
// the containers everywhere else.
func TestPlan_Backend(t *testing.T) {
	ready := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/ready" {
			t.Errorf("%s is asked for", r.URL.Path)
		}
	}))
	defer ready.Close()
	gone := httptest.NewServer(nil)
	gone.Close()
	hack := map[string]string{".hack/docker-compose.yml": shopYAML}
	chosen := func(json string) map[string]string {
		return map[string]string{".hack/docker-compose.yml": shopYAML, ".hack/hack.config.json": json}
	}
	for _, tt := range []struct {
		name  string
		files map[string]string
		o     logsOptions
		loki  *httptest.Server
		want  string
	}{
		{"a snapshot", hack, logsOptions{}, ready, "loki"},
		{"a follow", hack, logsOptions{follow: true}, ready, "compose"},
		{"several services", hack, logsOptions{follow: true, services: "web", names: []string{"web"}}, ready, "loki"},
		{"a time", hack, logsOptions{follow: true, since: "1h"}, ready, "loki"},
		{"--compose", hack, logsOptions{compose: true}, ready, "compose"},
		{"Loki is not there", hack, logsOptions{since: "1h"}, gone, "compose"},
		{"--loki though it is not there", hack, logsOptions{wantsLoki: true, loki: true}, gone, "loki"},
		{"a choice for snapshots", chosen(`{"logs":{"snapshot_backend":"compose"}}`), logsOptions{}, ready, "compose"},
		{"a choice for follows", chosen(`{"logs":{"follow_backend":"loki"}}`), logsOptions{follow: true}, ready, "loki"},
		{"an unknown choice", chosen(`{"logs":{"follow_backend":"x"}}`), logsOptions{follow: true}, ready, "compose"},
		{"a folder with a compose file", map[string]string{"tailrace.yaml": "version: 1\n", "compose.yaml": shopYAML}, logsOptions{}, ready, "loki"},
		{"one without a server", map[string]string{"tailrace.yaml": "version: 1\n", "compose.yaml": shopYAML}, logsOptions{}, nil, "compose"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var env []string
			if tt.loki != nil {
				env = append(env, "HACK_LOKI_URL="+tt.loki.URL)
			}
			p, err := newComposeApp(t, tt.files).plan(&tt.o, env...)
			if err != nil {
				t.Fatal(err)
			}
			if p.backend() != tt.want || len(p.sources) != 1 || p.project != "shop" {
				t.Errorf("got %s of %s, want %s", p.backend(), p.project, tt.want)
			}
		})
	}
}

// Containers are read for registered projects only.
func TestPlan_ComposeUnregistered(t *testing.T) {
	a := newComposeApp(t, map[string]string{".hack/docker-compose.yml": shopYAML})
	a.env = append(a.env, "HACK_HOME="+t.TempDir())
	for _, o := range []logsOptions{{}, {compose: true}, {names: []string{"web"}}} {
		if _, err := a.plan(&o); refusalCode(err) != codeNoAccess {
			t.Errorf("got %v", err)
		}
	}
}

// Without an engine a call says so, with a code, in one line.
func TestLogs_NoEngine(t *testing.T) {
	a := newComposeApp(t, map[string]string{".hack/docker-compose.yml": shopYAML})
	for _, args := range [][]string{{"--no-follow"}, {"-f"}} {
		var out, errs strings.Builder
		app := &app{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Args: append([]string{"logs", "--json"}, args...), Env: a.env, Cwd: a.root, Now: time.Now}
		cmd := newLogsCommand(app)
		cmd.SetArgs(app.Args[1:])
		cmd.SetContext(t.Context())
		err := cmd.Execute()
		var exit *exitError
		if !errors.As(err, &exit) || exit.code != 1 {
			t.Errorf("%v: %v", args, err)
		}
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		if len(lines) != 3 || !strings.Contains(lines[1], `"code":"E_DOCKER_UNAVAILABLE"`) || !strings.Contains(lines[2], `"reason":"error"`) || errs.String() != "" {
			t.Errorf("%v: got %q, %q", args, lines, errs.String())
		}
	}
}
