package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"syscall"

	"golang.org/x/term"

	"github.com/tailrace/tailrace/internal/visible"
	"github.com/tailrace/tailrace/pipeline"
	"github.com/tailrace/tailrace/pipeline/source"
	"github.com/tailrace/tailrace/stages"
)

// codeBrokenPipe is what a program that SIGPIPE ended exits with.
const codeBrokenPipe = 141

// A runOutput shows a run: on stdout in its format, on stderr what is to be said of it.
// Its hooks run on the goroutine of the run; the progress line has one of its own.
type runOutput struct {
	a *app
	o *runOptions
	// screen guards the two streams, which are often one terminal.
	screen   sync.Mutex
	stdout   *bufio.Writer
	stderr   io.Writer
	terminal [2]bool // stdout, stderr
	progress *progressLine
	broken   error
	onBroken func()

	printed       [2]int64 // bytes of each stream that have been shown
	pending       []byte   // text with --lines: a line of which the end is not there yet
	bytes, events atomic.Int64
}

func newRunOutput(a *app, o *runOptions) *runOutput {
	w := &runOutput{a: a, o: o, stdout: bufio.NewWriterSize(a.Stdout, 64<<10), stderr: a.Stderr, onBroken: func() {}}
	for i, s := range []io.Writer{a.Stdout, a.Stderr} {
		if f, ok := s.(*os.File); ok {
			w.terminal[i] = term.IsTerminal(int(f.Fd()))
		}
	}
	return w
}

// hooks are what the run calls as it collects.
func (w *runOutput) hooks() stages.CollectOptions {
	h := stages.CollectOptions{OnChunk: w.chunk, OnEvent: w.event}
	if w.o.lines {
		h.Before = (&stages.LineWrapper{MaxBytes: w.o.bounds.MaxBytes, Now: w.a.Now}).Apply
	}
	return h
}

func (w *runOutput) event(e stages.Event) {
	if e.Kind == stages.KindLog {
		w.events.Add(1)
	}
	if w.o.format == "ndjson" {
		w.screen.Lock()
		w.stdout.Write(e.Raw)
		w.stdout.WriteByte('\n')
		w.screen.Unlock()
	}
}

// chunk shows a chunk once all of it is known to be part of the result.
func (w *runOutput) chunk(c pipeline.Chunk) {
	w.bytes.Add(int64(len(c.Data)))
	w.show(c.Stream, c.Data)
	w.flush()
}

func (w *runOutput) show(s pipeline.Stream, data []byte) {
	w.printed[s] += int64(len(data))
	if w.o.format != "text" || len(data) == 0 {
		return
	}
	w.screen.Lock()
	defer w.screen.Unlock()
	w.progress.erase()
	if s == pipeline.Stderr {
		if _, err := w.stderr.Write(w.shown(s, data)); err != nil {
			w.fail(err)
		}
		return
	}
	if w.o.lines {
		data = w.unwrap(data)
	}
	w.stdout.Write(w.shown(s, data))
	w.progress.hold(len(data) > 0 && data[len(data)-1] != '\n')
}

// shown is data as its stream shows it: as it is, or with visible escapes on a terminal.
func (w *runOutput) shown(s pipeline.Stream, data []byte) []byte {
	if !w.terminal[s] {
		return data
	}
	var out []byte
	for len(data) > 0 {
		line, rest, more := cutLine(data)
		out = visible.Append(out, line)
		if more {
			out = append(out, '\n')
		}
		data = rest
	}
	return out
}

// unwrap gives the original lines of the events that --lines made.
func (w *runOutput) unwrap(data []byte) (out []byte) {
	for len(data) > 0 {
		line, rest, more := cutLine(data)
		data = rest
		if !more {
			w.pending = append(w.pending, line...)
			break
		}
		out = append(append(out, original(append(w.pending, line...))...), '\n')
		w.pending = w.pending[:0]
	}
	return out
}

// original returns entry.raw of an event that was made of a line, and any other line as it is.
func original(line []byte) []byte {
	var e struct {
		Entry *struct {
			Source, Stream string
			Raw            *string
		}
	}
	if len(line) == 0 || line[0] != '{' || json.Unmarshal(line, &e) != nil || e.Entry == nil || e.Entry.Raw == nil || e.Entry.Source != "command" {
		return line
	}
	return []byte(*e.Entry.Raw)
}

func cutLine(data []byte) (line, rest []byte, more bool) {
	for i, c := range data {
		if c == '\n' {
			return data[:i], data[i+1:], true
		}
	}
	return data, nil, false
}

func (w *runOutput) flush() {
	w.screen.Lock()
	defer w.screen.Unlock()
	if err := w.stdout.Flush(); err != nil {
		w.fail(err)
	}
}

// fail notes the first error of writing and ends the run.
func (w *runOutput) fail(err error) {
	if w.broken == nil {
		w.broken = err
		w.onBroken()
	}
}

// finish shows the rest of the result and says how the run ended.
func (w *runOutput) finish(c *stages.Collection) error {
	if w.broken == nil {
		w.show(pipeline.Stderr, c.Stderr[min(w.printed[1], int64(len(c.Stderr))):])
		w.show(pipeline.Stdout, c.Stdout[min(w.printed[0], int64(len(c.Stdout))):])
		if w.o.format == "text" && len(w.pending) > 0 {
			w.screen.Lock()
			w.stdout.Write(w.shown(pipeline.Stdout, original(w.pending)))
			w.screen.Unlock()
		}
		if w.o.format == "json" {
			p := stages.PayloadOf(c, stages.CommandLine(w.o.command[0], w.o.command[1:]), true, w.limits())
			w.stdout.Write(append(stages.AppendPayload(nil, p), '\n'))
		}
		w.flush()
	}
	if w.broken != nil {
		if errors.Is(w.broken, syscall.EPIPE) {
			return &exitError{code: codeBrokenPipe}
		}
		return &exitError{code: codeFailed, err: errOutput}
	}
	if !w.o.quiet {
		w.summary(c)
	}
	return nil
}

func (w *runOutput) limits() (l stages.LogLimits) {
	if n := int64(w.o.bounds.MaxEvents); n > 0 {
		l.MaxEvents = &n
	}
	if ms := w.o.bounds.MaxTime.Milliseconds(); ms > 0 {
		l.MaxMs = &ms
	}
	return l
}

// summary says on stderr how the run ended, and what to do about a cut.
func (w *runOutput) summary(c *stages.Collection) {
	text := "complete"
	switch o := c.Outcome.(type) {
	case pipeline.Cutoff:
		if o.Bound == pipeline.InterruptBound {
			text = "interrupted"
		} else {
			text = fmt.Sprintf("cut off at %s; raise %s for more", limitText(o), limitName(o.Bound))
		}
	case pipeline.Failed:
		text = "failed: " + o.Evidence.String()
		if o.Evidence == pipeline.BadExit {
			text = fmt.Sprintf("failed: exit code %d", c.Exit.Code)
		}
	}
	if len(c.Stdout) > 0 && w.o.format == "text" && w.terminal[0] && c.Stdout[len(c.Stdout)-1] != '\n' {
		fmt.Fprintln(w.stderr)
	}
	fmt.Fprintf(w.stderr, "tailrace: %s (%s, %s, %.2fs)\n", text,
		sizeText(int64(len(c.Stdout)+len(c.Stderr))), plural(int64(c.Events.Len()), "event"), c.Elapsed.Seconds())
	if c.Events.Len() == 0 && len(c.Stdout) > 0 && !w.o.lines && (w.o.bounds.MaxEvents > 0 || w.o.format != "text") {
		fmt.Fprintln(w.stderr, "tailrace: there was text but no event; add --lines to make each line an event")
	}
}

// notStarted reports a command that could not be started.
func (w *runOutput) notStarted(err error) error {
	if w.o.format == "json" {
		reason := string(source.SpawnFailed)
		var e *source.SpawnError
		if errors.As(err, &e) {
			reason = string(e.Reason)
		}
		p := &stages.Payload{
			NotSpawned: true, ExitCode: 1, Stderr: []byte(err.Error() + "\n"),
			Error: &stages.PayloadError{Code: stages.CodeUnexpected, Reason: reason, Message: err.Error()},
		}
		w.stdout.Write(append(stages.AppendPayload(nil, p), '\n'))
		w.stdout.Flush()
	}
	return &exitError{code: notStartedCode(err), err: err}
}
