package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tailrace/tailrace/pipeline"
	"github.com/tailrace/tailrace/pipeline/source"
	"github.com/tailrace/tailrace/stages"
)

const runLong = `Run a command and read what it writes, up to a bound.

The bounds are bytes (stdout and stderr together), events (lines that are JSON objects
of type log) and time. At a bound the command and all that it started are stopped. What
is shown is the exact prefix up to there: whole events, whole code points.

  -o text     what the command writes, as it comes; a summary on stderr
  -o json     one object at the end: ok, stdout, stderr, data.events, data.cutoff ...
  -o ndjson   the events, one a line, as they come; the command's stderr on stderr

With --lines each plain line of stdout becomes a log event, so that --max-events applies
to any command; bytes are then counted as events are written. The command's stdin is
empty. Nothing passes through a shell.

Ctrl-C stops the command and reports what was collected; a second one kills it.

Exit codes:
  0         complete, or cut off at a bound (said on stderr and in the JSON)
  1         the command failed: by its exit code, an error event, or a bad end reason
  2         the command line is wrong
  3         cut off, with --fail-on-cut
  126, 127  not started: not executable, not found
  130, 143  ended by SIGINT, SIGTERM (129: by SIGHUP)
  141       whoever read stdout went away`

const runExample = `  tailrace run --max-events 100 --max-time 5s -o json --lines -- docker compose logs -f
  tailrace run --lines --max-events 3 -o ndjson -- journalctl -f
  tailrace run --max-bytes 64KiB -- cat /var/log/dpkg.log`

// runOptions are the flags of run.
type runOptions struct {
	bounds    pipeline.Bounds
	format    string
	lines     bool
	failOnCut bool
	quiet     bool
	command   []string
}

func newRunCommand(a *app) *cobra.Command {
	o := &runOptions{format: "text", bounds: pipeline.Bounds{MaxBytes: pipeline.CaptureLimit}}
	service, inService := &serviceRun{}, false
	cmd := &cobra.Command{
		Use:                   "run [flags] -- COMMAND [ARGS...]",
		Short:                 "Run a command and read what it writes, up to a bound",
		Long:                  runLong + runServiceLong,
		Example:               runExample,
		DisableFlagsInUseLine: true,
	}
	f := cmd.Flags()
	f.Var(&byteSize{&o.bounds.MaxBytes}, "max-bytes", "stop above `SIZE` of output: a number and B, KB, KiB, MB, MiB, GB or GiB")
	f.Var(&count{&o.bounds.MaxEvents}, "max-events", "stop at `N` log events")
	f.Var(&span{&o.bounds.MaxTime}, "max-time", "stop after `TIME`: 500ms, 5s, 2m")
	f.StringVarP(&o.format, "output", "o", o.format, "`FORMAT`: text, json or ndjson")
	f.BoolVar(&o.lines, "lines", false, "make each plain line a log event")
	f.BoolVar(&o.failOnCut, "fail-on-cut", false, "exit with 3 where a bound was reached")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "no summary, hints or progress on stderr")
	service.add(cmd)
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error {
		text := flagProblem(err)
		var unknown *pflag.NotExistError
		if errors.As(err, &unknown) {
			text += "; flags of COMMAND stand behind --"
		}
		return &usageError{text}
	})
	// The only error is for a flag that does not exist.
	_ = cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions([]string{"text", "json", "ndjson"}, cobra.ShellCompDirectiveNoFileComp))
	cmd.Args = func(cmd *cobra.Command, args []string) (err error) {
		inService, err = service.means(cmd, args)
		switch {
		case err != nil, inService:
			return err
		case len(args) == 0:
			return &usageError{"run needs a command: tailrace run [flags] -- COMMAND [ARGS...]"}
		case cmd.ArgsLenAtDash() != 0:
			return &usageError{"put -- before the command, so that its flags are its own: tailrace run [flags] -- COMMAND [ARGS...]"}
		case o.format != "text" && o.format != "json" && o.format != "ndjson":
			return &usageError{"-o takes text, json or ndjson"}
		}
		return nil
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if inService {
			ctx, stop := signal.NotifyContext(context.Background(), endSignals()...)
			defer stop()
			return service.run(ctx, a, cmd)
		}
		o.command = args
		return runCommand(a, o)
	}
	return cmd
}

// runCommand is one run: start, collect, report.
func runCommand(a *app, o *runOptions) error {
	out := newRunOutput(a, o)
	defer brokenPipes()()
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	out.onBroken = func() { cancel(errReaderGone) }
	caught := catchSignals(cancel, os.Exit)
	defer caught.release()

	child, err := source.Start(source.Command{
		Path: o.command[0], Args: o.command[1:], Env: a.Env,
		BufferBytes: int(min(o.bounds.MaxBytes, pipeline.CaptureLimit)) + 64<<10,
	})
	if err != nil {
		return out.notStarted(err)
	}
	defer child.Close()
	caught.child.Store(child)

	stopProgress := out.startProgress()
	c, err := stages.Collect(ctx, child, o.bounds, out.hooks())
	stopProgress()
	if err != nil {
		return &usageError{err.Error()}
	}
	if err := out.finish(c); err != nil {
		return err
	}
	if code := caught.code(); code != 0 && c.Cut.Bound == pipeline.InterruptBound {
		return &exitError{code: code}
	}
	return verdict(c, o)
}

// verdict is the exit code of a run that nobody interrupted.
func verdict(c *stages.Collection, o *runOptions) error {
	switch c.Outcome.(type) {
	case pipeline.Failed:
		return &exitError{code: codeFailed}
	case pipeline.Cutoff:
		if o.failOnCut {
			return &exitError{code: codeCut}
		}
	}
	return nil
}

// errReaderGone is the cause of a run whose output nobody reads any more.
var errReaderGone = errors.New("the reader of the output went away")

// notStartedCode is the exit code for a command that could not be started, as shells have it.
func notStartedCode(err error) int {
	var e *source.SpawnError
	if errors.As(err, &e) && e.Reason == source.CommandNotFound {
		return codeNotFound
	}
	return codeNoExecute
}

// limitName names the flag that raises a bound.
func limitName(b pipeline.Bound) string {
	switch b {
	case pipeline.BytesBound:
		return "--max-bytes"
	case pipeline.EventsBound:
		return "--max-events"
	case pipeline.TimeBound:
		return "--max-time"
	}
	return ""
}

func limitText(c pipeline.Cutoff) string {
	switch c.Bound {
	case pipeline.BytesBound:
		return sizeText(c.Limit)
	case pipeline.EventsBound:
		return plural(c.Limit, "event")
	case pipeline.TimeBound:
		return (time.Duration(c.Limit) * time.Millisecond).String()
	}
	return c.Bound.String()
}
