//go:build linux && engine

package engine

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// binary builds tailrace once.
var binary = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "tailrace-bin-")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "tailrace")
	return path, build(context.Background(), filepath.Join(folder(), "../.."), path, "./cmd/tailrace")
})

// An entry is the part of a log event that the tests look at.
type entry struct{ Raw, Stream, Service, Instance, Timestamp string }

// An event is one line of `tailrace logs --json`.
type event struct {
	Type, Project, Backend, Branch, Reason, Code, Message string
	Entry                                                 entry
}

// A proj is a registered compose project in a folder of its own.
type proj struct {
	*testing.T
	dir, name string
	env       []string
}

// newProject registers a project with a compose file, in which IMAGE is the image.
func newProject(t *testing.T, services string) *proj {
	t.Helper()
	home := t.TempDir()
	p := &proj{T: t, name: strings.ToLower(strings.NewReplacer("/", "-", "_", "-").Replace(t.Name()))}
	p.dir = filepath.Join(home, p.name)
	if err := os.MkdirAll(filepath.Join(p.dir, "records"), 0o755); err != nil {
		t.Fatal(err)
	}
	text := "services:\n" + strings.ReplaceAll(services, "IMAGE", "image: "+Image+"\n    network_mode: none\n    volumes: [./records:/records]")
	if err := os.WriteFile(filepath.Join(p.dir, "compose.yaml"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	p.env = append(docker.Env(), "HACK_HOME="+filepath.Join(home, "hack"))
	p.tailrace("init")
	t.Cleanup(func() {
		// The context of the test is over by now.
		if out, err := docker.Docker(context.Background(), p.dir, "compose", "--profile", "*", "down", "--timeout", "1"); err != nil {
			t.Error(err, out)
		}
	})
	return p
}

func (p *proj) command(args ...string) *exec.Cmd {
	p.Helper()
	path, err := binary()
	if err != nil {
		p.Fatal(err)
	}
	cmd := exec.Command(path, args...)
	cmd.Dir, cmd.Env = p.dir, p.env
	return cmd
}

// tailrace runs tailrace, which has to end well, and returns its stdout.
func (p *proj) tailrace(args ...string) string {
	p.Helper()
	cmd := p.command(args...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		p.Fatalf("tailrace %v: %v\n%s", args, err, stderr.String())
	}
	return string(out)
}

// compose runs docker compose.
func (p *proj) compose(args ...string) {
	p.Helper()
	if _, err := docker.Docker(p.Context(), p.dir, append([]string{"compose"}, args...)...); err != nil {
		p.Fatal(err)
	}
}

// up starts the services and waits until those that end have ended.
func (p *proj) up(ended ...string) {
	p.Helper()
	p.tailrace("up", "--detach")
	p.wait(p.name, ended...)
}

// wait waits until services of a compose project have ended.
func (p *proj) wait(project string, services ...string) {
	p.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(time.Minute); ; <-tick.C {
		out, err := docker.Docker(p.Context(), p.dir, "ps", "--all", "--format", "{{.State}} {{.Label \"com.docker.compose.service\"}}",
			"--filter", "label=com.docker.compose.project="+project)
		if err != nil {
			p.Fatal(err)
		}
		ended := 0
		for _, service := range services {
			if strings.Contains("\n"+out, "\nexited "+service+"\n") {
				ended++
			}
		}
		switch {
		case ended == len(services):
			return
		case time.Now().After(end):
			p.Fatalf("%v do not end:\n%s", services, out)
		}
	}
}

// snapshot returns the log events.
func (p *proj) snapshot(args ...string) []event {
	p.Helper()
	var logs []event
	for _, e := range p.events(p.tailrace(append([]string{"logs", "--json", "--no-follow"}, args...)...)) {
		if e.Type == "log" {
			logs = append(logs, e)
		}
	}
	return logs
}

// schema is that of events.
var schema = sync.OnceValues(func() (*jsonschema.Schema, error) {
	f, err := os.Open(filepath.Join(folder(), "../../docs/schema/log-event.schema.json"))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	doc, err := jsonschema.UnmarshalJSON(f)
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("event", doc); err != nil {
		return nil, err
	}
	return c.Compile("event")
})

// events reads events, each of which is one of the schema.
func (p *proj) events(out string) (all []event) {
	p.Helper()
	s, err := schema()
	if err != nil {
		p.Fatal(err)
	}
	for line := range strings.Lines(out) {
		doc, err := jsonschema.UnmarshalJSON(strings.NewReader(line))
		if err != nil {
			p.Fatal(err)
		}
		if err := s.Validate(doc); err != nil {
			p.Fatalf("an event is not one of the schema: %v", err)
		}
		var e event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			p.Fatal(err)
		}
		all = append(all, e)
	}
	return all
}

// A follower is a `tailrace logs --json` that goes on.
type follower struct {
	*proj
	cmd    *exec.Cmd
	events chan event
	logs   []entry // those that were read
}

func (p *proj) follow(args ...string) *follower {
	p.Helper()
	f := &follower{proj: p, cmd: p.command(append([]string{"logs", "--json"}, args...)...), events: make(chan event, 100_000)}
	f.cmd.Stderr = os.Stderr
	out, err := f.cmd.StdoutPipe()
	if err != nil {
		p.Fatal(err)
	}
	if err := f.cmd.Start(); err != nil {
		p.Fatal(err)
	}
	go func() {
		defer close(f.events)
		lines := bufio.NewScanner(out)
		lines.Buffer(nil, 32<<20)
		for lines.Scan() {
			var e event
			if json.Unmarshal(lines.Bytes(), &e) == nil {
				f.events <- e
			}
		}
	}()
	return f
}

// until reads on until something is so.
func (f *follower) until(what string, so func(event) bool) {
	f.Helper()
	for {
		select {
		case e, ok := <-f.events:
			if !ok {
				f.Fatalf("it ended before %s", what)
			}
			if e.Type == "log" {
				f.logs = append(f.logs, e.Entry)
			}
			if so(e) {
				return
			}
		case <-time.After(time.Minute):
			f.Fatalf("no %s", what)
		}
	}
}

// end stops it and reads the rest.
func (f *follower) end() {
	f.Helper()
	if err := f.cmd.Process.Signal(syscall.SIGINT); err != nil {
		f.Fatal(err)
	}
	f.until("the end", func(e event) bool { return e.Type == "end" && e.Reason == "closed" })
	for range f.events {
		f.Error("an event after the end")
	}
	if code := f.cmd.Wait(); f.cmd.ProcessState.ExitCode() != 130 {
		f.Errorf("it ended with %v", code)
	}
}

// sameLines compares lines that were read with those that a service noted down: each once,
// in order, without a gap, for each stream. whole says that all of them were read.
func (p *proj) sameLines(logs []entry, service, record string, whole bool) {
	p.Helper()
	data, err := os.ReadFile(filepath.Join(p.dir, "records", record))
	if err != nil {
		p.Fatal(err)
	}
	for mark, stream := range map[string]string{"o": "stdout", "e": "stderr"} {
		var written, got []string
		for line := range strings.Lines(string(data)) {
			if text, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), mark); ok {
				written = append(written, text)
			}
		}
		for _, l := range logs {
			if l.Service == service && l.Stream == stream {
				got = append(got, l.Raw)
			}
		}
		if whole && len(got) != len(written) {
			p.Errorf("%d lines of %s on %s, %d were written", len(got), service, stream, len(written))
		}
		if len(got) == 0 {
			continue
		}
		at := 0
		for at < len(written) && written[at] != got[0] {
			at++
		}
		for i, line := range got {
			if at+i >= len(written) {
				p.Fatalf("%s of %s: line %d of %d is %.60q, which was not written", stream, service, i, len(got), line)
			}
			if line != written[at+i] {
				p.Fatalf("%s of %s: line %d of %d is %.60q, want %.60q", stream, service, i, len(got), line, written[at+i])
			}
		}
	}
}
