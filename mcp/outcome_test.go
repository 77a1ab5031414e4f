package mcp

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
)

func TestO1_EachOutcome(t *testing.T) {
	t.Run("complete snapshot", func(t *testing.T) {
		r := start(t, "logs:3").call("1", SnapshotTool, `{"tail":7}`)
		d := r.data(t)
		if !*r.Structured.OK || d.Cutoff != nil || r.Structured.Error != nil || d.Count != 5 {
			t.Errorf("O1: %s", r.raw)
		}
		if len(d.Limits) != 1 || *d.Limits["tail"] != 7 {
			t.Errorf("limits %v", d.Limits)
		}
		if d.StopReason != nil || d.DurationMs != nil {
			t.Error("O8: a snapshot with fields of a tail")
		}
		if r.Structured.Spawned != nil || r.Structured.OutputTruncated != nil {
			t.Error("O1: a flag on a complete result")
		}
		if !strings.Contains(string(r.raw), `"structuredContent":`+r.Content[0].Text) {
			t.Error("B2: the channels are not the same JSON")
		}
	})
	t.Run("complete tail", func(t *testing.T) {
		r := start(t, "logs:3").call("1", TailTool, `{}`)
		d := r.data(t)
		if d.Cutoff != nil || d.StopReason == nil || *d.StopReason != "eof" || d.DurationMs == nil {
			t.Errorf("O8: %s", r.raw)
		}
		tail, given := d.Limits["tail"]
		if !given || tail != nil || *d.Limits["maxEvents"] != 200 || *d.Limits["maxMs"] != 5000 || len(d.Limits) != 3 {
			t.Errorf("limits of a tail without arguments: %s", r.Structured.Data)
		}
	})
	t.Run("events cutoff", func(t *testing.T) {
		r := start(t, "logs:10").call("1", TailTool, `{"maxEvents":4.0,"maxMs":60000}`)
		d := r.data(t)
		if !*r.Structured.OK || d.Cutoff == nil || d.Cutoff.Bound != "events" || d.Cutoff.Limit != 4 || d.Count != 5 {
			t.Errorf("O7: %s", r.raw)
		}
	})
	t.Run("time cutoff", func(t *testing.T) {
		r := start(t, "polite").call("1", TailTool, `{"maxMs":50}`)
		d := r.data(t)
		if !*r.Structured.OK || d.Cutoff == nil || d.Cutoff.Bound != "time" || d.Cutoff.Limit != 50 || *d.StopReason != "timeout" {
			t.Errorf("O7: %s", r.raw)
		}
	})
	t.Run("O2 backend failure", func(t *testing.T) {
		r := start(t, "fail").call("1", SnapshotTool, `{}`)
		e := r.Structured.Error
		if *r.Structured.OK || e == nil || e.Code != "E_UNEXPECTED" || e.Reason != "backend_error" || *r.Structured.ExitCode != 3 {
			t.Errorf("O6: %s", r.raw)
		}
		if *r.Structured.Stderr != "secret diagnostics\n" || strings.Contains(e.Message, "secret") {
			t.Errorf("O6: stderr %q, message %q", *r.Structured.Stderr, e.Message)
		}
	})
}

func TestO11_ArgumentsAreChecked(t *testing.T) {
	s := start(t, "argv")
	for _, c := range []struct {
		args string
		say  string // what the message must hold
	}{
		{`null`, "one JSON object"},
		{`"secret"`, "one JSON object"},
		{`["secret"]`, "one JSON object"},
		{`{"secretname":1}`, "the arguments of this tool are branch, compose, loki, path, profiles, projectName, query, repoRoot, service, services, since, tail, until"},
		{`{"Tail":1}`, "not known"},
		{`{"maxEvents":1}`, "not known"},
		{`{"tail":null}`, "tail must be a whole number from 1 to 10000"},
		{`{"tail":0}`, "tail"},
		{`{"tail":10001}`, "tail"},
		{`{"tail":"5"}`, "tail"},
		{`{"tail":1.5}`, "tail"},
		{`{"tail":true}`, "tail"},
		{`{"tail":1e400}`, "tail"},
		{`{"tail":-0}`, "tail"},
		{`{"service":""}`, "service must be a name of 1 to 253 characters"},
		{`{"service":["web"]}`, "service"},
		{`{"service":"-f"}`, "service"},
		{`{"service":"web\n"}`, "service"},
		{`{"service":"` + strings.Repeat("a", 254) + `"}`, "service"},
		{`{"services":"a,secret"}`, "services"},
		{`{"services":["a",1]}`, "services"},
		{`{"services":["a",null]}`, "services"},
		{`{"services":{}}`, "services"},
		{`{"services":["a"` + strings.Repeat(`,"a"`, 64) + `]}`, "services"},
		{`{"profiles":"--x"}`, "profiles"},
		{`{"branch":"a..b"}`, "branch"},
		{`{"branch":"a/"}`, "branch"},
		{`{"branch":"/a"}`, "branch"},
		{`{"loki":"true"}`, "loki must be true or false"},
		{`{"loki":0}`, "loki"},
		{`{"query":"a\u0000secret"}`, "query must be a string of at most 32768 bytes without NUL"},
		{`{"query":"` + strings.Repeat("é", 16385) + `"}`, "query"},
		{`{"query":{}}`, "query"},
		{`{"since":"--until=1h"}`, "since must be a time in RFC 3339"},
		{`{"since":"yesterday"}`, "since"},
		{`{"since":""}`, "since"},
		{`{"since":"0m"}`, "since"},
		{`{"since":"2026-02-30"}`, "since"},
		{`{"until":"2026-01-01T25:00:00Z"}`, "until"},
		{`{"path":1}`, "path"},
		{`{"path":"a\u0000"}`, "path"},
	} {
		message := s.call(`"`+"c"+`"`, SnapshotTool, c.args).refused(t, "E_USAGE", "invalid_arguments")
		if !strings.Contains(message, c.say) || strings.Contains(message, "secret") {
			t.Errorf("O11: %.80s: %q", c.args, message)
		}
		s.forget()
	}
}

func TestO11_ProjectIsSelected(t *testing.T) {
	s := start(t, "argv")
	for _, c := range []struct{ args, code, reason string }{
		{`{"projectName":"a","path":"b"}`, "E_USAGE", "conflicting_selectors"},
		{`{"projectName":""}`, "E_USAGE", "invalid_project_name"},
		{`{"projectName":"!!"}`, "E_USAGE", "invalid_project_name"},
		{`{"projectName":"secret"}`, "E_PROJECT_NOT_FOUND", "unknown_project"},
		{`{"path":"no/secret"}`, "E_PROJECT_NOT_FOUND", "path_not_found"},
		{`{"repoRoot":"/"}`, "E_PERMISSION", "path_outside_projects"},
	} {
		message := s.call(`1`, SnapshotTool, c.args).refused(t, c.code, c.reason)
		if strings.Contains(message, "secret") {
			t.Errorf("O11: the message repeats the value: %q", message)
		}
		s.forget()
	}
	if err := os.Remove(s.dir + "/tailrace.yaml"); err != nil {
		t.Fatal(err)
	}
	s.call(`1`, SnapshotTool, `{}`).refused(t, "E_PROJECT_NOT_FOUND", "no_project")
}

func TestO11_SpawnFailuresAreToldApart(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) string {
		if err := os.WriteFile(dir+"/"+name, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return dir + "/" + name
	}
	for reason, c := range map[string]struct{ path, code string }{
		"command_not_found":       {dir + "/none", "E_UNEXPECTED"},
		"command_is_directory":    {dir, "E_UNEXPECTED"},
		"command_not_executable":  {write("noexec", "#!/bin/sh\n", 0o644), "E_PERMISSION"},
		"command_bad_interpreter": {write("badinterp", "#!/nonexistent/interp\n", 0o755), "E_UNEXPECTED"},
		"command_bad_format":      {write("empty", "", 0o755), "E_UNEXPECTED"},
	} {
		t.Run(reason, func(t *testing.T) {
			s := start(t, "argv", func(s *server) {
				s.project.Env = append(slices.Clone(s.project.Env), "HACK_MCP_COMMAND="+c.path)
			})
			message := s.call("1", SnapshotTool, `{}`).refused(t, c.code, reason)
			if strings.Contains(message, dir) {
				t.Errorf("O11: the message holds a path: %q", message)
			}
			s.ping("2")
		})
	}
	t.Run("bad_working_directory", func(t *testing.T) {
		gone := t.TempDir()
		s := start(t, "argv", func(s *server) {
			// The project is found in one folder, the command is to run in another.
			run := s.start
			s.start = func(c command) (child, *refusal) {
				c.dir = gone + "/gone"
				return run(c)
			}
		})
		s.call("1", SnapshotTool, `{}`).refused(t, "E_UNEXPECTED", "bad_working_directory")
	})
}

func TestS1_ContextIsFrozen(t *testing.T) {
	t.Setenv("TAILRACE_MCP_LATER", "secret")
	s := start(t, "environment")
	if err := os.Setenv("TAILRACE_MCP_LATER", "other"); err != nil {
		t.Fatal(err)
	}
	var e struct {
		Env []string
		Cwd string
	}
	if err := json.Unmarshal(s.call("1", SnapshotTool, `{}`).data(t).Events[0], &e); err != nil {
		t.Fatal(err)
	}
	if e.Cwd != s.dir {
		t.Errorf("S1: the child ran in %q, not in the captured folder", e.Cwd)
	}
	if slices.ContainsFunc(e.Env, func(v string) bool { return strings.HasPrefix(v, "TAILRACE_MCP_LATER") }) {
		t.Error("S1: the child saw the environment of the process")
	}
	if !slices.Contains(e.Env, stubVariable+"=environment") {
		t.Error("S1: the child did not see the captured environment")
	}
}
