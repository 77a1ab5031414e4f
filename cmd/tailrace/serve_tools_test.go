package main

import (
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tailrace/tailrace/mcp"
)

// linkSelf makes a tailrace of this test binary. It is no symbolic link: the program has to
// find itself by its own path.
func linkSelf(t *testing.T, dir string) string {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "tailrace")
	if os.Link(exe, path) == nil {
		return path
	}
	from, err := os.Open(exe)
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	to, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(to, from); err != nil {
		t.Fatal(err)
	}
	if err := to.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// A served is a server whose backend is tailrace itself, in a folder of its own, with a
// docker that answers from files.
type served struct {
	*mcp.Client
	dir, docker string
}

func serveSelf(t *testing.T, withDockerOnPath bool) *served {
	t.Helper()
	s := &served{dir: t.TempDir(), docker: t.TempDir()}
	bin := filepath.Join(s.docker, "bin")
	if withDockerOnPath {
		if err := withDocker(s.docker); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(linkSelf(t, s.docker), "mcp", "serve")
	cmd.Dir = s.dir
	cmd.Env = []string{"PATH=" + bin, "HOME=" + s.docker, "FAKE_DOCKER=" + s.docker, "GORACE=" + raceEnd, "TOKEN=hunter2"}
	cmd.Stderr = t.Output()
	c, err := mcp.Dial(t.Context(), cmd)
	if err != nil {
		t.Fatal(err)
	}
	s.Client = c
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func (s *served) write(t *testing.T, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(s.dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// called calls a tool and returns its result, and its data undecoded.
func (s *served) called(t *testing.T, tool string, args map[string]any) (*mcp.CallResult, string) {
	t.Helper()
	r, err := s.Call(t.Context(), tool, args)
	if err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	var m struct {
		Result struct {
			StructuredContent struct{ Data json.RawMessage }
		}
	}
	if err := json.Unmarshal(r.Frame, &m); err != nil {
		t.Fatal(err)
	}
	return r, string(m.Result.StructuredContent.Data)
}

const composeOfTools = `name: shop
services:
  web:
    image: web
    environment: {TOKEN: , MODE: dev}
`

// TestToolsOnTailraceItself drives every tool against tailrace as its own command.
func TestToolsOnTailraceItself(t *testing.T) {
	s := serveSelf(t, true)
	s.write(t, map[string]string{
		"shop/.hack/docker-compose.yml": composeOfTools,
		"shop/tailrace.yaml":            "version: 1\nsources:\n  app: {file: app.log}\n",
		"shop/app.log":                  "one\ntwo\nthree\n",
	})
	answers := map[string]string{
		"ps.out":           `{"id":"a1","state":"running","status":"Up","name":"shop-web-1","ports":"","project":"shop","service":"web","oneoff":"False","dir":"/srv/shop"}`,
		"compose-ps.out":   `{"Service":"web","State":"running","Publishers":[{"URL":"0.0.0.0","TargetPort":80,"PublishedPort":8080,"Protocol":"tcp"}]}`,
		"compose-run.out":  "ran\n",
		"compose-exec.out": "executed\n",
	}
	for name, text := range answers {
		if err := os.WriteFile(filepath.Join(s.docker, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	seen := map[string]bool{}
	for _, c := range []struct {
		tool   string
		args   map[string]any
		stdout string   // "" for any
		data   []string // what the data has
	}{
		{"hack.project.init", map[string]any{"path": "shop", "devHost": "shop.test", "noDiscovery": true}, "kept the compose file that is there\nregistered project shop\n", nil},
		{"hack.projects.list", map[string]any{"filter": "shop", "includeGlobal": true, "includeUnregistered": true}, "", []string{`"runtime_ok":true`, `"name":"shop"`, `"status":"running"`, `"defined_services":["web"]`}},
		{"hack.project.status", map[string]any{"projectName": "Shop", "branch": "fix/1", "profiles": []string{"a", "b"}}, "", []string{`"composeProject":"shop--fix-1"`, `"branch":"fix/1"`, `"Service":"web"`}},
		{"hack.project.up", map[string]any{"projectName": "shop", "profiles": "a"}, "", nil},
		{"hack.project.restart", map[string]any{"path": "shop"}, "", nil},
		{"hack.project.run", map[string]any{"projectName": "shop", "service": "web", "cmd": []string{"ls", "-la"}, "workdir": "/srv"}, "ran\n", []string{`"timeoutMs":120000`}},
		{"hack.project.exec", map[string]any{"projectName": "shop", "service": "web", "cmd": []string{"--version"}}, "executed\n", []string{`"outputBytes":8388608`}},
		{"hack.project.logs.snapshot", map[string]any{"projectName": "shop", "service": "app", "tail": 2}, "", []string{`"count":4`, `"message":"three"`, `"reason":"eof"`}},
		{"hack.project.logs.tail", map[string]any{"projectName": "shop", "service": "app", "tail": 2, "maxEvents": 1, "maxMs": 60000}, "", []string{`"message":"two"`, `"stop_reason":"max_events"`}},
		{"hack.project.open", map[string]any{"projectName": "shop", "target": "api", "branch": "b"}, "", []string{`{"url":"https://api.b.shop.test"}`}},
		{"hack.project.doctor", map[string]any{"projectName": "shop", "branch": "b"}, "", []string{`"ok":true`, `"id":"engine"`, `"error":0`}},
		{"hack.project.env.explain", map[string]any{"projectName": "shop", "key": "TOKEN", "target": "compose"}, "", []string{
			`{"key":"TOKEN","available":true,"secret":true,"format":"compose","environment":"base","requested_scope":null,"effective_scope":"web","target":"compose","delivered_to":["web"],"source":".hack/docker-compose.yml:services.web.environment","precedence":[".hack/docker-compose.yml:services.web.environment"]}`}},
		{"hack.project.env.keys", map[string]any{"projectName": "shop", "service": "web"}, "", []string{
			`"keys":[{"key":"MODE","secret":false,"required":false,"source":".hack/docker-compose.yml:services.web.environment","resolved_from":null,"services":["web"]},{"key":"TOKEN","secret":true,"required":false,"source":".hack/docker-compose.yml:services.web.environment","resolved_from":"process environment","services":["web"]}]`}},
		{"hack.project.instances", map[string]any{"projectName": "shop"}, "", []string{
			`{"project":"shop","found":true,"runtime_ok":true,"instances":[{"branch":null,"compose_project":"shop","working_dir":"/srv/shop","services":[{"service":"web","containers":1,"running":1}]}]}`}},
		{"hack.project.down", map[string]any{"projectName": "shop"}, "", nil},
	} {
		seen[c.tool] = true
		r, data := s.called(t, c.tool, c.args)
		if !r.Structured.OK || r.IsError || r.Structured.Error != nil {
			t.Errorf("%s failed: %.2000s", c.tool, r.Frame)
			continue
		}
		if c.stdout != "" && r.Structured.Stdout != c.stdout {
			t.Errorf("%s: stdout is %q, want %q", c.tool, r.Structured.Stdout, c.stdout)
		}
		for _, part := range c.data {
			if !strings.Contains(data, part) {
				t.Errorf("%s: the data has no %s: %s", c.tool, part, data)
			}
		}
		if (data == "") != (c.data == nil) {
			t.Errorf("%s: data is %q", c.tool, data)
		}
		if strings.Contains(string(r.Frame), "hunter2") {
			t.Errorf("S6: %s: %s", c.tool, r.Frame)
		}
	}
	for _, name := range mcp.ToolNames() {
		if !seen[name] {
			t.Errorf("%s was not called", name)
		}
	}
	checkDockerLog(t, s)
}

// checkDockerLog checks what docker was told, beside questions about its version.
func checkDockerLog(t *testing.T, s *served) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(s.docker, "log"))
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(s.dir, "shop", ".hack", "docker-compose.yml")
	var got []string
	for line := range strings.Lines(string(data)) {
		var args []string
		if err := json.Unmarshal([]byte(line), &args); err != nil {
			t.Fatal(err)
		}
		if args[0] == "compose" && args[1] == "-p" {
			got = append(got, strings.Replace(strings.Join(args[2:], " "), file, "FILE", 1))
		}
	}
	want := []string{
		"shop--fix-1 -f FILE --profile a --profile b ps --all --format json",
		"shop -f FILE --profile a up --detach",
		"shop -f FILE down", "shop -f FILE up --detach",
		"shop -f FILE run --rm -T --workdir=/srv web ls -la",
		"shop -f FILE exec -T web --version",
		"shop -f FILE down",
	}
	if !slices.Equal(got, want) {
		t.Errorf("docker was told\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestToolsWithoutDocker: without docker each tool that needs it fails with a line that
// says so; the others work.
func TestToolsWithoutDocker(t *testing.T) {
	s := serveSelf(t, false)
	s.write(t, map[string]string{"shop/.hack/docker-compose.yml": composeOfTools})
	if r, _ := s.called(t, "hack.project.init", map[string]any{"repoRoot": "shop"}); !r.Structured.OK {
		t.Fatalf("%s", r.Frame)
	}
	shop := map[string]any{"projectName": "shop"}
	with := func(more map[string]any) map[string]any {
		more["projectName"] = "shop"
		return more
	}
	for tool, args := range map[string]map[string]any{
		"hack.project.status": shop, "hack.project.up": shop, "hack.project.down": shop, "hack.project.restart": shop, "hack.project.open": shop,
		"hack.project.run":  with(map[string]any{"service": "web"}),
		"hack.project.exec": with(map[string]any{"service": "web", "cmd": []string{"ls"}}),
	} {
		r, _ := s.called(t, tool, args)
		const line = "tailrace: docker was not found on the PATH: install Docker with its compose plugin\n"
		if r.Structured.OK || r.Structured.ExitCode != 1 || r.Structured.Stderr != line || r.Structured.Error.Reason != "command_failed" {
			t.Errorf("%s: %s", tool, r.Frame)
		}
	}
	for tool, args := range map[string]map[string]any{
		"hack.projects.list": {}, "hack.project.instances": shop, "hack.project.env.keys": shop, "hack.project.env.explain": with(map[string]any{"key": "TOKEN"}),
	} {
		if r, _ := s.called(t, tool, args); !r.Structured.OK {
			t.Errorf("%s: %s", tool, r.Frame)
		}
	}
	r, data := s.called(t, "hack.project.doctor", shop)
	if r.Structured.OK || !strings.Contains(data, `"id":"docker","status":"error"`) {
		t.Errorf("doctor: %s", r.Frame)
	}
}
