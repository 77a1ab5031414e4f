package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"golang.org/x/term"

	"github.com/tailrace/tailrace/internal/backend"
	"github.com/tailrace/tailrace/internal/logline"
	"github.com/tailrace/tailrace/internal/project"
	"github.com/tailrace/tailrace/internal/visible"
	"github.com/tailrace/tailrace/pipeline"
)

// errOutput says that stdout could not be written, for another reason than that its
// reader went away.
var errOutput = errors.New("the output could not be written: check the disk, or where it is directed to")

// The end reasons of our own sources. A command that failed has exit:CODE.
const (
	reasonEOF    = "eof"
	reasonError  = "error"
	reasonClosed = "closed"
)

// A signalled is the cause of a context that a signal ended.
type signalled struct{ signal syscall.Signal }

func (s *signalled) Error() string { return "ended by a signal" }

// A logsRun is one call of the command while it reads.
type logsRun struct {
	o     *logsOptions
	plan  *plan
	frame frame
	env   []string
	// labelled says that lines for people name their source; terminal that their controls
	// are shown as escapes.
	labelled, terminal bool
	// pretty writes lines for people; nil where they are shown as they are, or as JSON.
	pretty *prettyLogs
	stop   context.CancelCauseFunc
	// open and openRecords start reading a source of bytes and one of records.
	open        func(project.Source) (pipeline.Source, error)
	openRecords func(project.Source) (backend.Source, error)

	mu             sync.Mutex // guards what follows
	stdout, stderr io.Writer
	broken         error
}

// runLogs reads the sources of a plan and writes what they say.
func runLogs(ctx context.Context, app *app, o *logsOptions, p *plan) error {
	if ctx == nil {
		ctx = context.Background()
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	defer stopOnSignal(stop)()

	r := newLogsRun(app, o, p)
	r.stop = stop
	return r.run(ctx)
}

func newLogsRun(app *app, o *logsOptions, p *plan) *logsRun {
	r := &logsRun{
		o: o, plan: p, env: app.Env, stdout: app.Stdout, stderr: app.Stderr,
		frame:    frame{project: p.project, backend: p.backend(), branch: o.branch, now: app.Now},
		labelled: len(p.sources) > 1,
		stop:     func(error) {},
	}
	r.open, r.openRecords = r.openSource, r.openBackend
	if f, ok := app.Stdout.(*os.File); ok {
		r.terminal = term.IsTerminal(int(f.Fd()))
	}
	return r
}

// run reads the sources and returns what ends the program.
func (r *logsRun) run(ctx context.Context) error {
	if r.o.json {
		r.write(r.frame.appendStart(nil, r.o.names, r.o.follow, r.o.since, r.o.until))
	}
	if r.o.forPeople(r.terminal) {
		r.pretty = newPrettyLogs(r, r.env)
	}
	reason := r.readAll(ctx)
	if ctx.Err() != nil {
		reason = reasonClosed
	}
	if r.pretty != nil {
		r.pretty.close()
	}
	if r.o.json {
		r.write(r.frame.appendEnd(nil, reason))
	}
	return r.result(ctx, reason)
}

// backend names the backend of the plan's sources.
func (p *plan) backend() string {
	backend := ""
	for _, s := range p.sources {
		switch kind := s.Kind(); {
		case backend == "":
			backend = kind
		case backend != kind:
			return backendMixed
		}
	}
	return backend
}

// readAll reads every source to its end and returns the reason of the end event: that of
// the first source, in the order of the plan, that failed. Followed sources are read
// side by side. Others are merged by time, but for commands: these are read after the
// others, one by one, so that a command that does not end holds back nothing that is
// there already.
func (r *logsRun) readAll(ctx context.Context) string {
	sources := r.plan.sources
	reasons := make([]string, len(sources))
	if r.o.follow {
		var wg sync.WaitGroup
		for i, s := range sources {
			wg.Go(func() { reasons[i] = r.tell(s, r.follow(ctx, s)) })
		}
		wg.Wait()
	} else {
		var merged []project.Source
		var places []int
		for i, s := range sources {
			if s.Command == nil {
				merged, places = append(merged, s), append(places, i)
			}
		}
		for i, f := range r.readMerged(ctx, merged) {
			reasons[places[i]] = r.tell(merged[i], f)
		}
		for i, s := range sources {
			if s.Command != nil && ctx.Err() == nil {
				reasons[i] = r.tell(s, r.read(ctx, s))
			}
		}
	}
	for _, reason := range reasons {
		if reason != "" {
			return reason
		}
	}
	return reasonEOF
}

// follow reads a source that goes on.
func (r *logsRun) follow(ctx context.Context, s project.Source) failure {
	if s.Files != nil {
		return r.followFiles(ctx, s)
	}
	return r.read(ctx, s)
}

// read reads one source and writes what it says as it comes.
func (r *logsRun) read(ctx context.Context, s project.Source) failure {
	from, w := r.origin(s), &logWriter{run: r}
	defer w.end(from)
	return r.newReader(s, func(record logline.Record) bool {
		w.append(from, record)
		return true // a failing output ends the context
	}, w.flush).read(ctx)
}

// readMerged reads sources that end and writes what they say in the order of time.
func (r *logsRun) readMerged(ctx context.Context, sources []project.Source) []failure {
	if len(sources) == 1 {
		return []failure{r.read(ctx, sources[0])}
	}
	w := &logWriter{run: r}
	defer w.end(nil)
	return r.merge(ctx, sources, func(from *origin, record logline.Record) bool {
		w.append(from, record)
		return ctx.Err() == nil
	})
}

// tell tells of a source that failed: by an error event, or by a line on stderr. It returns
// the reason for the end event, "" where the source ended well or was stopped.
func (r *logsRun) tell(s project.Source, f failure) string {
	switch {
	case f.told:
		return reasonError
	case f.exit != "":
		r.note(s, "the command ended with "+f.exit)
		return f.exit
	case f.problem == "":
		return ""
	case r.o.json:
		r.write(r.of(s).appendError(nil, f.code, sourceLabel(s)+": "+f.problem))
	default:
		r.note(s, f.problem)
	}
	return reasonError
}

// notice tells of something that happened to a source that goes on.
func (r *logsRun) notice(s project.Source, n *backend.Notice) {
	switch {
	case !r.o.json:
		r.note(s, n.Message)
	case n.Dropped > 0:
		r.write(r.of(s).appendDropped(nil, n.Dropped, sourceLabel(s)+": "+n.Message))
	default:
		r.write(r.of(s).appendError(nil, "", sourceLabel(s)+": "+n.Message))
	}
}

// of is the frame of events about one source.
func (r *logsRun) of(s project.Source) *frame {
	f := r.frame
	f.backend = s.Kind()
	return &f
}

// note writes a line on stderr. It holds no log text.
func (r *logsRun) note(s project.Source, text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, _ = fmt.Fprintf(r.stderr, "tailrace: %s: %s\n", sourceLabel(s), text)
}

// sourceLabel names a source: by its name, which its grammar makes safe to show.
func sourceLabel(s project.Source) string {
	switch {
	case s.Name != "":
	case s.Loki != nil:
		return "Loki"
	case s.Compose != nil:
		return "compose"
	default:
		return "the log file"
	}
	return "source " + s.Name
}

// write writes whole lines to stdout. After the first failure nothing more is written,
// and the run is stopped.
func (r *logsRun) write(lines []byte) {
	if len(lines) == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.broken != nil {
		return
	}
	if r.terminal && r.o.json {
		lines = visible.AppendJSON(nil, lines)
	}
	if _, err := r.stdout.Write(lines); err != nil {
		r.broken = err
		r.stop(errOutput)
	}
}

// result makes what ends the program of what is known after the run.
func (r *logsRun) result(ctx context.Context, reason string) error {
	r.mu.Lock()
	broken := r.broken
	r.mu.Unlock()
	var by *signalled
	switch {
	case errors.Is(broken, syscall.EPIPE), errors.Is(broken, io.ErrClosedPipe):
		return &exitError{code: 128 + int(syscall.SIGPIPE)}
	case broken != nil:
		return &exitError{code: 1, err: errOutput}
	case errors.As(context.Cause(ctx), &by):
		return &exitError{code: 128 + int(by.signal)}
	case ctx.Err() != nil:
		return &exitError{code: 128 + int(syscall.SIGINT)}
	case reason != reasonEOF:
		return &exitError{code: 1}
	}
	return nil
}

// stopOnSignal cancels with the first signal that ends a program, and turns a broken pipe
// into an error of the write, so that commands are stopped in both cases. What it
// returns ends it.
func stopOnSignal(cancel context.CancelCauseFunc) (end func()) {
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, append(endSignals(), syscall.SIGPIPE)...)
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case s := <-signals:
				if number, ok := s.(syscall.Signal); ok && number != syscall.SIGPIPE {
					cancel(&signalled{number})
				}
			case <-done:
				return
			}
		}
	})
	return func() {
		signal.Stop(signals)
		close(done)
		wg.Wait()
	}
}
