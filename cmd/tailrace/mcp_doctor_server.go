package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/tailrace/tailrace/mcp"
)

// errDoctorEnded is the error of a doctor that was ended by a signal.
var errDoctorEnded = errors.New("interrupted before all checks were made")

const (
	// doctorStart bounds the start of the server and its answers, doctorCall a call.
	doctorStart = 20 * time.Second
	doctorCall  = 60 * time.Second
	// doctorWait is how long the log is waited for, in milliseconds.
	doctorWait = 3000
	// doctorLog is how much is kept of what the server says of itself, in bytes.
	doctorLog = 4 << 10
)

// listTool is a tool that needs no project.
const listTool = "hack.projects.list"

// checkServer starts this program as a client does, and asks it what a client asks.
func (d *mcpDoctor) checkServer(ctx context.Context) {
	if d.context.Executable == "" {
		return // said by the check of the program
	}
	var said serverLog
	cmd := exec.Command(d.context.Executable, "mcp", "serve")
	cmd.Dir, cmd.Env, cmd.Stderr = d.context.Cwd, d.context.Env, &said
	starting, cancel := context.WithTimeout(ctx, doctorStart)
	defer cancel()
	began := time.Now()
	client, err := mcp.Dial(starting, cmd)
	if err != nil {
		d.add("server", checkError, "the server did not answer"+said.lines(), "run `tailrace mcp serve --log-level debug </dev/null` and read what it says")
		return
	}
	d.ask(ctx, starting, client, began)
	if err := client.Close(); err != nil && ctx.Err() == nil {
		d.add("end", checkError, "the server did not end well when its client left: "+endText(err)+said.lines(), "report this")
		return
	}
	if lines := said.lines(); lines != "" {
		d.add("log", checkWarn, "the server said of itself"+lines, "do what the line says")
	}
}

// ask makes the checks that need a session.
func (d *mcpDoctor) ask(ctx, starting context.Context, client *mcp.Client, began time.Time) {
	info, err := client.Inspect(starting)
	if err != nil {
		d.add("server", checkError, "the server started and did not say what it offers: "+err.Error(), "run `tailrace demo`, which shows whether this build works")
		return
	}
	d.add("server", checkOK, fmt.Sprintf("started by `mcp serve`, speaks protocol %s, answered after %d ms", info.Protocol, time.Since(began).Milliseconds()), "")
	if len(info.Tools) == 0 || !slices.Contains(info.Tools, mcp.SnapshotTool) {
		d.add("tools", checkError, "the server offers "+plural(int64(len(info.Tools)), "tool")+" and none that reads logs", "report this")
		return
	}
	d.add("tools", checkOK, plural(int64(len(info.Tools)), "tool")+" and "+plural(int64(len(info.Prompts)), "prompt"), "")

	tool, args := listTool, map[string]any(nil)
	if d.project {
		tool, args = mcp.TailTool, map[string]any{"tail": 1, "maxEvents": 1, "maxMs": doctorWait}
	}
	if !slices.Contains(info.Tools, tool) {
		d.add("call", checkWarn, "no tool was called: "+tool+" is not offered here", "run this in the folder of a project")
		return
	}
	ctx, cancel := context.WithTimeout(ctx, doctorCall)
	defer cancel()
	r, err := client.Call(ctx, tool, args)
	if err != nil {
		d.add("call", checkError, tool+" got no answer: "+err.Error(), "run `tailrace demo`, which shows whether this build works")
		return
	}
	d.judge(tool, r)
}

// judge says what an answer means.
func (d *mcpDoctor) judge(tool string, r *mcp.CallResult) {
	s := &r.Structured
	by := "the command"
	if path, _, err := d.context.Command(); err == nil {
		by = filepath.Base(path)
	}
	words := "logs --no-follow"
	if tool == listTool {
		words = "projects --json"
	}
	// What the command wrote stays out of the report: it is shown where it is asked for.
	see := "run `" + by + " " + words + "` here and read what it says"
	switch {
	case s.OK && tool == listTool:
		d.add("call", checkOK, tool+" answered; a log is read where the check of the project is ok", "")
	case s.OK && s.Data.StopReason == "timeout":
		d.add("call", checkOK, fmt.Sprintf("%s answered; the log was followed for %d s, and no line came", tool, doctorWait/1000), "")
	case s.OK:
		d.add("call", checkOK, fmt.Sprintf("%s answered with %s, %s", tool, plural(int64(s.Data.Count), "event"), outcomeText(s)), "")
	case s.Spawned != nil && s.Error != nil:
		d.add("call", checkError, tool+" was refused before anything was started ("+s.Error.Reason+")", s.Error.Message)
	case s.Error == nil, s.Error.Reason == "backend_error", s.Error.Reason == "command_failed":
		d.add("call", checkError, fmt.Sprintf("%s answered: %s failed with exit code %d", tool, by, s.ExitCode), see)
	default:
		d.add("call", checkError, tool+" failed ("+s.Error.Reason+")", s.Error.Message)
	}
}

func outcomeText(s *mcp.Structured) string {
	if s.Data.Cutoff == nil {
		return "complete"
	}
	return fmt.Sprintf("and stopped at its bound (%s, %d)", s.Data.Cutoff.Bound, s.Data.Cutoff.Limit)
}

// endText says how a process ended, without its path.
func endText(err error) string {
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return "how is not known"
	}
	if ws, ok := exit.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return "by a signal"
	}
	return fmt.Sprintf("exit code %d", exit.ExitCode())
}

// A serverLog keeps the first lines of what the server says of itself, which is neither
// output of a command nor input of a caller. It is safe for concurrent use.
type serverLog struct {
	mu   sync.Mutex
	text []byte
}

// Write keeps what fits, and takes everything.
func (l *serverLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text = append(l.text, p[:min(len(p), doctorLog-len(l.text))]...)
	return len(p), nil
}

// lines returns the lines behind a colon, or "".
func (l *serverLog) lines() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	text := strings.TrimSpace(string(bytes.ToValidUTF8(l.text, nil)))
	if text == "" {
		return ""
	}
	return ": " + strings.ReplaceAll(text, "\n", "; ")
}
