//go:build unix

package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/tailrace/tailrace/pipeline"
)

// home is the home folder of a session.
func (s *session) home() string { return s.server.project.Home }

// auditLines waits for n lines in a file and returns them.
func auditLines(t *testing.T, path string, n int) (lines []auditLine) {
	t.Helper()
	var text []byte
	for end := time.Now().Add(deadline); ; time.Sleep(time.Millisecond) {
		text, _ = os.ReadFile(path)
		if bytes.Count(text, []byte("\n")) >= n || time.Now().After(end) {
			break
		}
	}
	for line := range bytes.Lines(text) {
		var l auditLine
		d := json.NewDecoder(bytes.NewReader(line))
		d.DisallowUnknownFields()
		if err := d.Decode(&l); err != nil {
			t.Fatalf("S9: %v in %s", err, line)
		}
		lines = append(lines, l)
	}
	if len(lines) != n {
		t.Fatalf("S9: %d lines, want %d:\n%s", len(lines), n, text)
	}
	return lines
}

func TestS9_AuditLines(t *testing.T) {
	p := &pids{}
	for name, c := range map[string]struct {
		stub, tool, args string
		want             auditLine
	}{
		"complete":      {"logs:3", SnapshotTool, `{}`, auditLine{Outcome: "complete", Events: 5}},
		"cutoff":        {"logs:3", TailTool, `{"maxEvents":2}`, auditLine{Outcome: "cutoff", Bound: "events", Events: 3}},
		"time":          {"polite", TailTool, `{"maxMs":50}`, auditLine{Outcome: "cutoff", Bound: "time", ExitCode: 143}},
		"killed":        {"hang", TailTool, `{"maxEvents":1}`, auditLine{Outcome: "cutoff", Bound: "events", Events: 1, Killed: true, ExitCode: 137}},
		"failed":        {"fail", SnapshotTool, `{}`, auditLine{Outcome: "failed", Reason: "backend_error", ExitCode: 3, Events: 1}},
		"capture":       {"flood:9", SnapshotTool, `{}`, auditLine{Outcome: "cutoff", Bound: "bytes"}},
		"command":       {"print:4", "hack.project.exec", `{"service":"web","cmd":["x"]}`, auditLine{Outcome: "failed", Reason: "command_failed", ExitCode: 4}},
		"command late":  {"polite", "hack.project.exec", `{"service":"web","cmd":["x"],"timeoutMs":300}`, auditLine{Outcome: "failed", Reason: "timeout", Bound: "time", ExitCode: 143}},
		"withheld":      {"print:0", "hack.project.env.keys", `{}`, auditLine{Outcome: "complete"}},
		"no project":    {"print:0", "hack.projects.list", `{}`, auditLine{Outcome: "complete"}},
		"cancelled":     {"polite", TailTool, `{"maxMs":60000}`, auditLine{Outcome: "cancelled"}},
		"session ended": {"polite", TailTool, `{"maxMs":60000}`, auditLine{Outcome: "interrupted", Bound: "interrupt"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := startWith(t, c.stub, func(o *Options) { o.Env = append(o.Env, stubVariable+"_TEXT=secret") }, watchChildren(p))
			before := time.Now().Truncate(time.Millisecond)
			switch name {
			case "cancelled":
				s.ask("1", c.tool, c.args)
				p.next(t)
				s.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
			case "session ended":
				s.ask("1", c.tool, c.args)
				p.next(t)
				s.in.Close()
				s.end()
			default:
				s.call("1", c.tool, c.args)
			}
			got := auditLines(t, filepath.Join(s.home(), auditName), 1)[0]
			ts, err := time.Parse("2006-01-02T15:04:05.000Z", got.TS)
			if err != nil || ts.Before(before) || ts.After(time.Now()) {
				t.Errorf("S9: ts %s", got.TS)
			}
			if !regexp.MustCompile(`^[0-9a-f]{16}$`).MatchString(got.Session) || got.Tool != c.tool || !got.Spawned {
				t.Errorf("S9: %+v", got)
			}
			if (got.Project == "") != (name == "no project") || strings.Contains(got.Project, "/") {
				t.Errorf("S9: project %q", got.Project)
			}
			if name == "withheld" && got.StdoutBytes != int64(len("secret")) {
				t.Errorf("S9: %d bytes of stdout", got.StdoutBytes)
			}
			if name == "capture" && got.StdoutBytes < pipeline.CaptureLimit-3 {
				t.Errorf("S9: %d bytes of stdout", got.StdoutBytes)
			}
			if c.want.Bound != "bytes" && c.want.Events != 0 && got.Events != c.want.Events {
				t.Errorf("S9: %d events, want %d", got.Events, c.want.Events)
			}
			if got.Outcome != c.want.Outcome || got.Reason != c.want.Reason || got.Bound != c.want.Bound && c.want.Outcome != "cancelled" || got.Killed != c.want.Killed {
				t.Errorf("S9: %+v, want %+v", got, c.want)
			}
			if c.want.ExitCode != 0 && got.ExitCode != c.want.ExitCode {
				t.Errorf("S9: exit code %d, want %d", got.ExitCode, c.want.ExitCode)
			}
		})
	}
}

// Secrets in every place that a call touches: arguments, output, environment, names of
// folders. None of them is in the audit log, and none in the server's (see the cleanup of
// every session).
func TestS9_AuditHoldsNoContent(t *testing.T) {
	const canary = "secret-c4n4ry"
	s := startWith(t, "print:5", func(o *Options) {
		dir := filepath.Join(o.Cwd, canary)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "tailrace.yaml"), []byte("version: 1\nsources: {}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		o.Cwd = dir
		o.Env = append(o.Env, stubVariable+"_TEXT="+canary, "TOKEN="+canary)
	})
	calls := []struct{ tool, args string }{
		{SnapshotTool, `{"query":"` + canary + `","service":"` + canary + `","branch":"` + canary + `"}`},
		{TailTool, `{"services":["` + canary + `"],"profiles":"` + canary + `"}`},
		{"hack.project.exec", `{"service":"` + canary + `","cmd":["` + canary + `"],"workdir":"/` + canary + `"}`},
		{"hack.project.run", `{"service":"web","cmd":["-e","` + canary + `"]}`},
		{"hack.project.env.explain", `{"key":"` + strings.ReplaceAll(canary, "-", "_") + `","env":"` + canary + `"}`},
		{"hack.projects.list", `{"filter":"` + canary + `"}`},
		{"hack.project.init", `{"path":".","name":"` + canary + `"}`},
	}
	for i, c := range calls {
		s.call(fmt.Sprint(i), c.tool, c.args)
	}
	// Refusals start nothing, and so write nothing.
	s.call("10", SnapshotTool, `{"projectName":"`+canary+`"}`).refused(t, "E_PROJECT_NOT_FOUND", "unknown_project")
	s.call("11", SnapshotTool, `{"`+canary+`":1}`).refused(t, "E_USAGE", "invalid_arguments")
	path := filepath.Join(s.home(), auditName)
	lines := auditLines(t, path, len(calls))
	for _, l := range lines {
		if l.Project != lines[0].Project && l.Tool != "hack.projects.list" {
			t.Errorf("S9: one project is %s and %s", lines[0].Project, l.Project)
		}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"secret", "c4n4ry", "/", "TOKEN"} {
		if bytes.Contains(text, []byte(part)) {
			t.Errorf("S9: %q is in the audit log:\n%s", part, text)
		}
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode() != 0o600 {
		t.Errorf("S9: the audit log has the mode %v, %v", info.Mode(), err)
	}
}

func TestS9_NoAudit(t *testing.T) {
	s := startWith(t, "logs:1", with(shared(t, SharedOptions{NoAudit: true})))
	s.call("1", SnapshotTool, `{}`)
	s.in.Close()
	s.end() // What is written behind a reply has been written.
	if _, err := os.Lstat(filepath.Join(s.home(), auditName)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("S9: an audit log: %v", err)
	}
}

// What lies in the place of the file decides whether it is written.
func TestS9_AuditFile(t *testing.T) {
	record := CallRecord{Tool: SnapshotTool, Spawned: true, Outcome: CallComplete}
	for name, c := range map[string]struct {
		make func(t *testing.T, path string)
		said string // the reason in the log; "" where the line is written
	}{
		"nothing":      {func(*testing.T, string) {}, ""},
		"no folder":    {func(t *testing.T, path string) { os.Remove(filepath.Dir(path)) }, ""},
		"wide mode":    {func(t *testing.T, path string) { write(t, path, "", 0o666) }, ""},
		"narrow mode":  {func(t *testing.T, path string) { write(t, path, "", 0o600) }, ""},
		"executable":   {func(t *testing.T, path string) { write(t, path, "", 0o700) }, ""},
		"link":         {func(t *testing.T, path string) { write(t, path+".x", "", 0o644); link(t, path+".x", path) }, "not_a_regular_file"},
		"link to none": {func(t *testing.T, path string) { link(t, path+".x", path) }, "not_a_regular_file"},
		"pipe":         {func(t *testing.T, path string) { check(t, syscall.Mkfifo(path, 0o600)) }, "not_a_regular_file"},
		"folder":       {func(t *testing.T, path string) { check(t, os.Mkdir(path, 0o700)) }, "not_a_regular_file"},
		"file as folder": {func(t *testing.T, path string) {
			os.Remove(filepath.Dir(path))
			write(t, filepath.Dir(path), "", 0o600)
		}, "other"},
	} {
		t.Run(name, func(t *testing.T) {
			home := filepath.Join(t.TempDir(), "home")
			path := filepath.Join(home, auditName)
			check(t, os.Mkdir(home, 0o700))
			c.make(t, path)
			var log lockedBuffer
			a := newAuditLog(slog.New(slog.NewTextHandler(&log, nil)))
			a.append(home, record)
			a.append(home, record)
			if c.said != "" {
				if strings.Count(log.String(), "level=WARN") != 1 || !strings.Contains(log.String(), "reason="+c.said) || strings.Contains(log.String(), home) {
					t.Errorf("S9: the log says %s", log.String())
				}
				if info, err := os.Stat(path + ".x"); err == nil && (info.Size() > 0 || info.Mode().Perm() != 0o644) {
					t.Errorf("S9: the target of the link was touched: %v, %d bytes", info.Mode(), info.Size())
				} else if name == "link to none" && err == nil {
					t.Error("S9: the target of the link was made")
				}
				return
			}
			auditLines(t, path, 2)
			if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 || log.String() != "" {
				t.Errorf("S9: mode %v, %v, log %s", info.Mode(), err, log.String())
			}
		})
	}
}

func write(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	check(t, os.WriteFile(path, []byte(text), mode))
	check(t, os.Chmod(path, mode)) // whatever the umask
}

func link(t *testing.T, target, path string) {
	t.Helper()
	check(t, os.Symlink(target, path))
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Several servers write at once while the file is renamed under them: each line is whole,
// and none is lost or written twice.
func TestS9_AuditRotation(t *testing.T) {
	const writers, each = 8, 50
	home := t.TempDir()
	path, old := filepath.Join(home, auditName), filepath.Join(home, auditOld)
	size := int64(len(auditText(CallRecord{Tool: SnapshotTool, Session: "00-00"})))
	var log lockedBuffer
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			a := newAuditLog(slog.New(slog.NewTextHandler(&log, nil)))
			a.limit = size * writers * each * 2 / 3 // so that there is one rotation
			for i := range each {
				a.append(home, CallRecord{Tool: SnapshotTool, Session: fmt.Sprintf("%02d-%02d", w, i)})
			}
		})
	}
	all.Wait()
	seen := map[string]bool{}
	count := func(path string) int {
		text, err := os.ReadFile(path)
		check(t, err)
		n := bytes.Count(text, []byte("\n"))
		for _, l := range auditLines(t, path, n) {
			if seen[l.Session] {
				t.Errorf("S9: %s is there twice", l.Session)
			}
			seen[l.Session] = true
		}
		return n
	}
	now, before := count(path), count(old)
	if len(seen) != writers*each || before < now || log.String() != "" {
		t.Errorf("S9: %d lines and %d before the rotation, of %d; log %s", now, before, writers*each, log.String())
	}
}

// The disk is full: the system says so at the write. The result is what it is without an
// audit log, and it is said once.
func TestFault_AuditDiskFull(t *testing.T) {
	var log lockedBuffer
	both := shared(t, SharedOptions{Log: slog.New(slog.NewTextHandler(&log, nil))})
	both.audit.open = func(string) (auditFile, error) { return os.OpenFile("/dev/full", os.O_RDWR, 0) }
	s := startWith(t, "logs:3", with(both))
	for i := range 3 {
		if r := s.call(fmt.Sprint(i), SnapshotTool, `{}`); !*r.Structured.OK || r.data(t).Count != 5 {
			t.Errorf("O1: %.300s", r.raw)
		}
	}
	s.in.Close()
	s.end()
	if strings.Count(log.String(), "level=WARN") != 1 || !strings.Contains(log.String(), "reason=no_space") {
		t.Errorf("S9: the log says %s", log.String())
	}
}

// An observer that panics, and one that is told of every call.
func TestObserve(t *testing.T) {
	records := make(chan CallRecord, 8)
	s := startWith(t, "logs:3", with(shared(t, SharedOptions{Observe: func(r CallRecord) { records <- r; panic("secret") }})))
	s.call("1", SnapshotTool, `{}`)
	s.call("2", SnapshotTool, `{"tail":0}`)
	byOutcome := map[CallOutcome]CallRecord{}
	for range 2 {
		r := <-records
		byOutcome[r.Outcome] = r
	}
	if r := byOutcome[CallComplete]; !r.Spawned || r.Events != 5 || r.ResultBytes == 0 || r.Duration <= 0 || r.Tool != SnapshotTool || r.Session == "" || r.Reason != "" || r.Stopped {
		t.Errorf("%+v", r)
	}
	if r := byOutcome[CallRefused]; r.Spawned || r.Reason != "invalid_arguments" || r.ResultBytes == 0 || r.StderrBytes != 0 || r.ExitCode != 1 {
		t.Errorf("%+v", r)
	}
	s.ping("3")
}
