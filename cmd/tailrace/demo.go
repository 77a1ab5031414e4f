package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/tailrace/tailrace/internal/project"
	"github.com/tailrace/tailrace/mcp"
	"github.com/tailrace/tailrace/pipeline"
)

const demoLong = `Start the real server over stdio with a real client, and show what its tools answer:
a live log that is tailed, the three outcomes (complete, cut off at a bound, backend
failure), and a result that is cut because it would not fit the client's buffer.

Everything happens in a temporary folder, which is removed at the end. The demo checks
each answer.

Exit codes: 0 all is as it should be, 1 an answer is not, 2 the command line is wrong.`

const (
	demoSnapshot = "hack.project.logs.snapshot"
	demoTail     = "hack.project.logs.tail"
	// demoTime bounds the whole demo.
	demoTime = 3 * time.Minute
	// demoGrace is how long the server has to end when the demo is interrupted.
	demoGrace = 3 * time.Second
	// demoRow lays a row of the table out: each is shown when its answer is there.
	demoRow = "%-1s %-9s %-17s %-21s %6v %13v %11v  %s\n"
)

var (
	errDemo      = errors.New("an answer was not as it should be: see the lines marked with !")
	errDemoEnded = errors.New("the demo was interrupted")
)

func newDemoCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Show the server at work, with a client of its own",
		Long:  demoLong,
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			// A demo that is ended early takes its folder and its server along.
			defer brokenPipes()()
			ctx, stop := signal.NotifyContext(context.Background(), endSignals()...)
			defer stop()
			ctx, cancel := context.WithTimeout(ctx, demoTime)
			defer cancel()
			err := runDemo(ctx, a)
			if errors.Is(ctx.Err(), context.Canceled) {
				return &exitError{code: codeInterrupted, err: errDemoEnded}
			}
			return err
		},
	}
	cmd.AddCommand(newDemoSourceCommand(a))
	return cmd
}

// A demoCall is one call of the demo, and what its answer must be.
type demoCall struct {
	about, tool string
	args        map[string]any
	outcome     string
	events      int  // at least so many
	cut         bool // outputTruncated
	meaning     string
}

var demoCalls = []demoCall{
	{"a log so far", demoSnapshot, map[string]any{"service": "live", "tail": 20}, "complete", 10, false, "the backend ended by itself: this is all of it"},
	{"a live log", demoTail, map[string]any{"service": "live", "tail": 1, "maxEvents": 5}, "cutoff events/5", 5, false, "stopped at the fifth log event; the stream goes on"},
	{"a live log", demoTail, map[string]any{"service": "live", "tail": 1, "maxEvents": 10000, "maxMs": 1200}, "cutoff time/1200", 3, false, "stopped after 1.2 s; what came until then is whole"},
	{"a job that fails", demoSnapshot, map[string]any{"service": "failing"}, "backend failure", 2, false, "the job exited with 3; what it wrote is still there"},
	{"9 MiB of emoji", demoSnapshot, map[string]any{"service": "flood", "tail": 10000}, "cutoff bytes/8388608", 3000, true, "capture ends on a whole code point, the result on a whole event"},
	{"7 MiB of quotes", demoSnapshot, map[string]any{"service": "quotes", "tail": 10000}, "complete", 2000, true, "all events fit; the copies of them (text, stdout) were cut to fit"},
	{"the log again", demoSnapshot, map[string]any{"service": "live", "tail": 3}, "complete", 3, false, "the session lives on after every large result"},
}

// answers says whether r is what the call must be answered with.
func (c *demoCall) answers(r *mcp.CallResult) bool {
	s := &r.Structured
	return demoOutcome(r) == c.outcome &&
		s.Data.Count == len(s.Data.Events) && s.Data.Count >= c.events && s.OutputTruncated == c.cut &&
		r.ResultBytes <= pipeline.ResultLimit && (!c.cut || r.TextBytes <= pipeline.TextViewLimit)
}

func runDemo(ctx context.Context, a *app) error {
	executable, err := os.Executable()
	if err != nil {
		return errors.New("the demo does not find its own executable: run it by its path")
	}
	dir, err := os.MkdirTemp("", "tailrace-demo-")
	if err != nil {
		return errors.New("no temporary folder can be made: set TMPDIR to a folder that can be written")
	}
	defer os.RemoveAll(dir)
	env, err := demoProject(dir, executable, a.Env)
	if err != nil {
		return err
	}
	defer keepWriting(filepath.Join(dir, "live.log"), a.Now)()

	cmd := exec.CommandContext(ctx, executable, "mcp", "serve")
	cmd.Dir, cmd.Env = dir, env
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = demoGrace
	began := time.Now()
	client, err := mcp.Dial(ctx, cmd)
	if err != nil {
		return err
	}
	fmt.Fprintf(a.Stdout, "A server on stdio, a client, and a project with four sources.\n\n")
	failed := showCalls(ctx, a, client)
	if err := client.Close(); err != nil && !failed {
		return errors.New("the server did not end well when its client left")
	}
	fmt.Fprintf(a.Stdout, "\nThe largest result a client must take is %d bytes; its read buffer is 10485760.\nDone in %.1f s.\n",
		pipeline.ResultLimit, time.Since(began).Seconds())
	if failed {
		return errDemo
	}
	return nil
}

// showCalls makes the calls, and says whether one was not as it should be.
func showCalls(ctx context.Context, a *app, client *mcp.Client) (failed bool) {
	row := func(cells ...any) { fmt.Fprintf(a.Stdout, demoRow, cells...) }
	row("", "call", "of", "outcome", "events", "result bytes", "text bytes", "what it means")
	for _, c := range demoCalls {
		short := c.tool[strings.LastIndexByte(c.tool, '.')+1:]
		r, err := client.Call(ctx, c.tool, c.args)
		if err != nil {
			row("!", short, c.about, "no answer", "", "", "", err)
			return true
		}
		mark := ""
		if !c.answers(r) {
			mark, failed = "!", true
		}
		row(mark, short, c.about, demoOutcome(r), r.Structured.Data.Count, r.ResultBytes, r.TextBytes, c.meaning)
	}
	return failed
}

// demoOutcome is the one outcome of a result, read as a client reads it.
func demoOutcome(r *mcp.CallResult) string {
	s := r.Structured
	switch {
	case !s.OK && r.IsError && s.Error != nil && s.Error.Reason == "backend_error":
		return "backend failure"
	case !s.OK && s.Error != nil:
		return "refused: " + s.Error.Reason
	case s.OK && s.Data.Cutoff != nil:
		return fmt.Sprintf("cutoff %s/%d", s.Data.Cutoff.Bound, s.Data.Cutoff.Limit)
	case s.OK:
		return "complete"
	}
	return "unknown"
}

// demoProject makes a registered project in dir and returns the server's environment:
// a home and a backend of the demo's own, whatever else is installed.
func demoProject(dir, executable string, env []string) ([]string, error) {
	home := filepath.Join(dir, "home")
	env = append(append([]string{}, env...), "HACK_HOME="+home, "HACK_GLOBAL_CONFIG_PATH=", "HACK_MCP_COMMAND="+executable)
	config := "version: 1\nname: demo\nsources:\n  live:\n    file: live.log\n"
	for _, kind := range []string{"failing", "flood", "quotes"} {
		config += fmt.Sprintf("  %s:\n    command: [%q, demo, source, %s]\n", kind, executable, kind)
	}
	if err := os.WriteFile(filepath.Join(dir, "tailrace.yaml"), []byte(config), 0o600); err != nil {
		return nil, errors.New("the demo cannot write to its temporary folder: set TMPDIR to another")
	}
	c, err := project.NewContext(dir, env)
	if err != nil {
		return nil, err
	}
	return env, c.Register(project.Project{Name: "demo", Root: dir, Dir: dir, DirName: "."})
}

// keepWriting writes a line to a log twenty times a second until it is stopped.
func keepWriting(path string, now func() time.Time) (stop func()) {
	quit := make(chan struct{})
	var done sync.WaitGroup
	write := func(n int) {
		f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			return // the calls on the log then show that it is missing
		}
		defer f.Close()
		fmt.Fprintf(f, `{"time":%q,"level":"info","msg":"request handled","n":%d}`+"\n", now().UTC().Format(time.RFC3339Nano), n)
	}
	for n := range 10 {
		write(n)
	}
	done.Go(func() {
		tick := time.NewTicker(50 * time.Millisecond)
		defer tick.Stop()
		for n := 10; ; n++ {
			select {
			case <-tick.C:
				write(n)
			case <-quit:
				return
			}
		}
	})
	return func() { close(quit); done.Wait() }
}
