//go:build linux && engine

package engine

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func entries(events []event) (all []entry) {
	for _, e := range events {
		all = append(all, e.Entry)
	}
	return all
}

// Two services are merged by time, each in its own order; stdout and stderr are told apart.
func TestSnapshot_Merged(t *testing.T) {
	p := newProject(t, `
  a:
    IMAGE
    command: [/logger, -n, "300", -every, 1ms, -text, a, -stderr, "3", -record, /records/a]
  b:
    IMAGE
    command: [/logger, -n, "300", -every, 1ms, -text, b, -record, /records/b]
`)
	p.up("a", "b")
	logs := p.snapshot("--tail", "1000")
	p.sameLines(entries(logs), "a", "a", true)
	p.sameLines(entries(logs), "b", "b", true)
	// Within one stream the engine's times do not go back.
	last := map[string]string{}
	mixed, before := 0, ""
	for _, e := range logs {
		key := e.Entry.Service + e.Entry.Stream
		if e.Entry.Timestamp < last[key] {
			t.Errorf("%s: %s comes after %s", key, e.Entry.Timestamp, last[key])
		}
		last[key] = e.Entry.Timestamp
		if e.Entry.Service != before {
			mixed++
		}
		before = e.Entry.Service
		if e.Project != p.name || e.Backend != "compose" || e.Entry.Instance != "1" {
			t.Fatalf("%+v", e)
		}
	}
	if mixed < 50 {
		t.Errorf("the services take turns %d times", mixed)
	}
	if got := p.snapshot("--tail", "5"); len(got) != 10 {
		t.Errorf("%d lines, want the last 5 of each", len(got))
	}
	if got := p.snapshot("--tail", "5", "b"); len(got) != 5 || got[4].Entry.Raw != "b 1 300 " {
		t.Errorf("got %+v", got)
	}
	middle := logs[len(logs)/2].Entry.Timestamp
	since, until := p.snapshot("--since", middle), p.snapshot("--tail", "1000", "--until", middle)
	if n := len(since) + len(until); n < len(logs) || n > len(logs)+10 {
		t.Errorf("%d lines up to a time and %d from it on, of %d", len(until), len(since), len(logs))
	}
}

// Long lines are joined, for every log driver that keeps them and on a terminal, and no
// character is split: but for json-file, which keeps half a character as none.
func TestSnapshot_Long(t *testing.T) {
	p := newProject(t, `
  file:
    IMAGE
    command: [/logger, -n, "40", -text, x, -long, "100001", -stderr, "4", -record, /records/file]
  local:
    IMAGE
    logging: {driver: local}
    command: [/logger, -n, "40", -text, x, -long, "100001", -fill, é😀, -stderr, "4", -record, /records/local]
  tty:
    IMAGE
    tty: true
    command: [/logger, -n, "40", -text, x, -long, "100001", -record, /records/tty]
  half:
    IMAGE
    command: [/logger, -n, "2", -text, x, -open, -record, /records/half]
`)
	p.up("file", "local", "tty", "half")
	logs := p.snapshot("--tail", "100")
	for _, name := range []string{"file", "local", "tty", "half"} {
		p.sameLines(entries(logs), name, name, true)
	}
	for _, e := range logs {
		if !utf8.ValidString(e.Entry.Raw) || strings.ContainsRune(e.Entry.Raw, utf8.RuneError) {
			t.Fatalf("a character of %s was split", e.Entry.Service)
		}
	}
	if got := p.snapshot("--tail", "3", "file"); len(got) != 3 {
		t.Errorf("%d lines, want 3", len(got))
	} else {
		p.sameLines(entries(got), "file", "file", false)
	}
}

// A log driver that keeps nothing is an error event, and hides no other log.
func TestSnapshot_NoDriver(t *testing.T) {
	p := newProject(t, `
  mute:
    IMAGE
    logging: {driver: none}
    command: [/logger]
  loud:
    IMAGE
    command: [/logger, -record, /records/loud]
`)
	p.up("mute", "loud")
	all := p.events(p.tailrace("logs", "--json", "--no-follow"))
	told := slices.IndexFunc(all, func(e event) bool { return e.Type == "error" })
	if told < 0 || !strings.Contains(all[told].Message, "service mute cannot be read") {
		t.Errorf("got %+v", all)
	}
	p.sameLines(entries(all), "loud", "loud", true)
}

// A follow goes on over restarts, scaling, replacement, and loses and repeats nothing.
func TestFollow_Restarts(t *testing.T) {
	p := newProject(t, `
  web:
    IMAGE
    command: [/logger, -n, "-1", -every, 2ms, -text, web, -stderr, "7", -open, -record, /records/web]
`)
	p.up()
	f := p.follow("--tail", "10000")
	fresh := func(run int) func(event) bool {
		return func(e event) bool {
			return strings.HasPrefix(e.Entry.Raw, fmt.Sprintf("web %d 100 ", run))
		}
	}
	f.until("a line of the first run", fresh(1))
	for run := 2; run <= 6; run++ {
		p.compose("restart", "--timeout", "2", "web")
		f.until("a line of the next run", fresh(run))
	}
	p.compose("up", "--detach", "--force-recreate", "--timeout", "2", "web")
	f.until("a line of the container in its place", fresh(7))
	p.compose("kill", "--signal", "SIGKILL", "web")
	p.compose("start", "web")
	f.until("a line after SIGKILL", fresh(8))
	p.compose("stop", "--timeout", "2", "web")
	// What a killed process has noted down and not written is in no log.
	f.until("the last line", func(e event) bool { return e.Entry.Raw == "web 8 half" })
	f.end()
	runs := map[string][]entry{}
	var order []string
	for _, l := range f.logs {
		run := strings.Fields(l.Raw)[1]
		if runs[run] == nil {
			order = append(order, run)
		}
		runs[run] = append(runs[run], l)
	}
	if want := []string{"1", "2", "3", "4", "5", "6", "7", "8"}; !slices.Equal(order, want) {
		t.Errorf("the runs come as %v", order)
	}
	p.sameLines(f.logs, "web", "web", true)
}

func TestFollow_Scale(t *testing.T) {
	p := newProject(t, `
  web:
    IMAGE
    command: [/logger, -n, "-1", -every, 5ms, -text, web]
`)
	p.up()
	f := p.follow("--tail", "1")
	f.until("a line", func(e event) bool { return e.Type == "log" })
	p.compose("up", "--detach", "--scale", "web=3", "--no-recreate")
	for _, instance := range []string{"2", "3"} {
		f.until("the first line of a new instance", func(e event) bool { return e.Entry.Instance == instance })
	}
	f.until("more lines", func(e event) bool { return strings.HasPrefix(e.Entry.Raw, "web 1 200 ") })
	p.compose("up", "--detach", "--scale", "web=1", "--no-recreate", "--timeout", "1")
	f.end()
	next := map[string]int{}
	for _, l := range f.logs {
		var n int
		if _, err := fmt.Sscanf(l.Raw, "web 1 %d", &n); err != nil {
			t.Fatal(err)
		}
		if want := next[l.Instance]; want > 0 && n != want || want == 0 && l.Instance != "1" && n != 1 {
			t.Fatalf("instance %s: line %d where %d was due", l.Instance, n, want)
		}
		next[l.Instance] = n + 1
	}
}

// Two branches are two projects.
func TestBranches(t *testing.T) {
	p := newProject(t, `
  web:
    IMAGE
    command: [/logger, -n, "3", -text, web]
`)
	p.up("web")
	p.tailrace("up", "--detach", "--branch", "Fix/2")
	defer p.tailrace("down", "--branch", "Fix/2")
	p.wait(p.name+"--fix-2", "web")
	for branch, project := range map[string]string{"": p.name, "Fix/2": p.name + "--fix-2"} {
		logs := p.snapshot("--branch", branch)
		if len(logs) != 3 || logs[0].Project != project || logs[0].Branch != branch {
			t.Errorf("branch %q: %+v", branch, logs)
		}
	}
}

// Profiles choose services, as they do for Compose.
func TestProfiles(t *testing.T) {
	p := newProject(t, `
  web:
    IMAGE
    command: [/logger, -n, "1", -text, web]
  one:
    IMAGE
    profiles: [one]
    command: [/logger, -n, "1", -text, one]
  two:
    IMAGE
    profiles: [two]
    command: [/logger, -n, "1", -text, two]
`)
	p.tailrace("up", "--detach", "--profile", "one,two")
	p.wait(p.name, "web", "one", "two")
	for profile, want := range map[string]string{"": "one two web", "one": "one web", "one,two": "one two web"} {
		var got []string
		for _, e := range p.snapshot("--profile", profile) {
			got = append(got, e.Entry.Service)
		}
		if slices.Sort(got); strings.Join(got, " ") != want {
			t.Errorf("profile %q: %v, want %s", profile, got, want)
		}
	}
}

// The lines for people name the services.
func TestPretty(t *testing.T) {
	p := newProject(t, `
  web:
    IMAGE
    command: [/logger, -n, "2", -text, hello, -stderr, "2"]
`)
	p.up("web")
	out := p.tailrace("logs", "--no-follow", "--pretty")
	if lines := strings.Split(strings.TrimSpace(out), "\n"); len(lines) != 2 || !strings.Contains(lines[0], "web") || !strings.Contains(lines[0], "| hello 1 1") || !strings.Contains(lines[1], "! hello 1 2") {
		t.Errorf("got %q", out)
	}
}

// The tools, by the TypeScript client, on an engine that is ended by one of its tests.
func TestTools(t *testing.T) {
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	e, err := ready(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := e.Stop(); err != nil {
			t.Error(err)
		}
	}()
	cmd := exec.Command("node", "--test", "engine.mjs")
	cmd.Dir = filepath.Join(folder(), "../e2e/node")
	cmd.Env = append(e.Env(), "TAILRACE_BINARY="+path, "ENGINE_IMAGE="+Image, fmt.Sprint("ENGINE_PID=", e.Pid()))
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	if _, err := os.Stat(filepath.Join(cmd.Dir, "node_modules")); err != nil {
		t.Error("the TypeScript SDK is not installed: make node")
	}
}
