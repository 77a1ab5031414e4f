package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/tailrace/tailrace/internal/project"
	"github.com/tailrace/tailrace/mcp"
)

// judged returns the check for an answer of a tool.
func judged(t *testing.T, tool, structured string) mcpCheck {
	t.Helper()
	d := &mcpDoctor{app: &app{Now: time.Now}, context: project.Context{Executable: "/opt/tailrace"}}
	r := &mcp.CallResult{}
	if err := json.Unmarshal([]byte(structured), &r.Structured); err != nil {
		t.Fatal(err)
	}
	d.judge(tool, r)
	return d.report.Checks[0]
}

// Each way that a call can end is told in words, with what to do where it failed, and
// without a word of the output.
func TestDoctorJudgesAnswers(t *testing.T) {
	const canary = "Wohlklang"
	for _, c := range []struct{ tool, answer, status, detail, action string }{
		{listTool, `{"ok": true}`, checkOK, "hack.projects.list answered", ""},
		{mcp.TailTool, `{"ok": true, "data": {"events": [1], "count": 1, "cutoff": {"bound": "time", "limit": 3000}, "stop_reason": "timeout"}}`, checkOK, "no line came", ""},
		{mcp.TailTool, `{"ok": true, "data": {"count": 2, "cutoff": {"bound": "events", "limit": 1}, "stop_reason": "max_events"}}`, checkOK, "2 events, and stopped at its bound (events, 1)", ""},
		{mcp.TailTool, `{"ok": true, "data": {"count": 1, "cutoff": null, "stop_reason": "eof"}}`, checkOK, "1 event, complete", ""},
		{mcp.TailTool, `{"ok": false, "exitCode": 3, "error": {"reason": "backend_error", "message": "m"}}`, checkError, "tailrace failed with exit code 3", "run `tailrace logs --no-follow` here"},
		{listTool, `{"ok": false, "exitCode": 3, "error": {"reason": "command_failed", "message": "m"}}`, checkError, "tailrace failed with exit code 3", "run `tailrace projects --json` here"},
		{listTool, `{"ok": false, "exitCode": 4}`, checkError, "tailrace failed with exit code 4", "run `tailrace projects --json` here"},
		{mcp.TailTool, `{"ok": false, "spawned": false, "error": {"reason": "busy", "message": "wait"}}`, checkError, "refused before anything was started (busy)", "wait"},
		{mcp.TailTool, `{"ok": false, "error": {"reason": "timeout", "message": "give it more time"}}`, checkError, "failed (timeout)", "give it more time"},
	} {
		answer := strings.Replace(c.answer, "{", `{"stdout": "`+canary+`", "stderr": "`+canary+`", "command": "`+canary+`", `, 1)
		got := judged(t, c.tool, answer)
		if got.Status != c.status || !strings.Contains(got.Detail, c.detail) || !strings.Contains(got.Action, c.action) || c.status == checkOK && got.Action != "" {
			t.Errorf("%s: got %+v", c.answer, got)
		}
		if strings.Contains(got.Detail+got.Action, canary) {
			t.Errorf("%s: output is repeated: %+v", c.answer, got)
		}
	}
}

// What the server says of itself is kept up to a bound, and shown without what a terminal
// would act on.
func TestDoctorShowsTheServersLog(t *testing.T) {
	var said serverLog
	if said.lines() != "" {
		t.Error("nothing said is not nothing")
	}
	for range 3 {
		if n, err := said.Write(bytes.Repeat([]byte("\x1b[2Jx\n\xff"), doctorLog/8)); n != doctorLog/8*7 || err != nil {
			t.Fatalf("took %d bytes, %v", n, err)
		}
	}
	if len(said.text) != doctorLog {
		t.Errorf("kept %d bytes", len(said.text))
	}
	d := &mcpDoctor{app: &app{Now: time.Now}}
	d.add("log", checkWarn, "said"+said.lines(), "do")
	if text := d.end().text(); strings.ContainsAny(text, "\x1b\xff") || !strings.Contains(text, `said: \x1b[2Jx; `) {
		t.Errorf("got %q", text)
	}
}
