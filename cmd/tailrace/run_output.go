package main

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"sync"
	"sync/atomic"
	"syscall"

	"golang.org/x/term"

	"github.com/tailrace/tailrace/internal/visible"
	"github.com/tailrace/tailrace/pipeline"
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
	shared   bool    // both are one file: a terminal, say
	// inside says that what was written last to where stderr goes ended inside a line.
	inside   bool
	progress *progressLine
	broken   error
	onBroken func()

	printed       [2]int64  // bytes of each stream that have been shown
	plain         int       // lines that came before the first event; -1 once that was said
	lines         originals // text with --lines
	bytes, events atomic.Int64
}

func newRunOutput(a *app, o *runOptions) *runOutput {
	w := &runOutput{a: a, o: o, stdout: bufio.NewWriterSize(a.Stdout, 64<<10), stderr: a.Stderr, onBroken: func() {}}
	var files [2]fs.FileInfo
	for i, s := range []io.Writer{a.Stdout, a.Stderr} {
		if f, ok := s.(*os.File); ok {
			w.terminal[i] = term.IsTerminal(int(f.Fd()))
			files[i], _ = f.Stat() // nil is the same file as nothing
		}
	}
	w.shared = files[0] != nil && files[1] != nil && os.SameFile(files[0], files[1])
	return w
}

// hooks are what the run calls as it collects.
func (w *runOutput) hooks() stages.CollectOptions {
	h := stages.CollectOptions{OnChunk: w.chunk, OnEvent: w.event}
	if w.o.lines {
		h.Before = (&stages.LineWrapper{MaxBytes: w.o.bounds.MaxBytes, Now: w.a.Now}).Apply
		if w.o.format == "text" {
			h.Before = pipeline.Then(w.lines.Apply, h.Before)
		}
	}
	return h
}

func (w *runOutput) event(e stages.Event) {
	if e.Kind == stages.KindLog {
		w.events.Add(1)
	}
	if w.o.format == "ndjson" {
		w.screen.Lock()
		if w.shared {
			w.progress.erase()
			w.inside = false
		}
		w.stdout.Write(w.json(e.Raw))
		w.stdout.WriteByte('\n')
		w.screen.Unlock()
	}
}

// chunk shows a chunk once all of it is known to be part of the result.
func (w *runOutput) chunk(c pipeline.Chunk) {
	w.bytes.Add(int64(len(c.Data)))
	w.show(c.Stream, c.Data)
	w.flush()
	if c.Stream == pipeline.Stdout {
		w.earlyHint(c.Data)
	}
}

func (w *runOutput) show(s pipeline.Stream, data []byte) {
	w.printed[s] += int64(len(data))
	if len(data) == 0 || w.o.format == "json" || w.o.format == "ndjson" && s == pipeline.Stdout {
		return
	}
	if s == pipeline.Stdout && w.o.lines {
		data = w.lines.of(nil, data)
	}
	w.print(s, data)
}

// print writes data to the stream of ours that is the like of s.
func (w *runOutput) print(s pipeline.Stream, data []byte) {
	if len(data) == 0 {
		return
	}
	w.screen.Lock()
	defer w.screen.Unlock()
	if s == pipeline.Stderr || w.shared {
		w.progress.erase()
		w.inside = data[len(data)-1] != '\n'
	}
	if s == pipeline.Stdout {
		w.stdout.Write(w.shown(s, data))
		return
	}
	// What came before on stdout is shown before.
	if err := w.stdout.Flush(); err != nil {
		w.fail(err)
	}
	if _, err := w.stderr.Write(w.shown(s, data)); err != nil {
		w.fail(err)
	}
}

// shown is data as its stream shows it: as it is, or with visible escapes on a terminal.
func (w *runOutput) shown(s pipeline.Stream, data []byte) []byte {
	if !w.terminal[s] {
		return data
	}
	var out []byte
	for len(data) > 0 {
		line, rest, more := bytes.Cut(data, []byte{'\n'})
		if more {
			out = append(visible.Append(out, bytes.TrimSuffix(line, []byte{'\r'})), '\n')
		} else {
			out = visible.Append(out, line)
		}
		data = rest
	}
	return out
}

// json is JSON as stdout shows it: the same value in any case.
func (w *runOutput) json(data []byte) []byte {
	if !w.terminal[pipeline.Stdout] {
		return data
	}
	return visible.AppendJSON(nil, data)
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
		if w.o.format == "text" && w.o.lines {
			w.print(pipeline.Stdout, w.lines.rest(nil))
		}
		if w.o.format == "json" {
			p := stages.PayloadOf(c, stages.CommandLine(w.o.command[0], w.o.command[1:]), true, w.limits())
			if w.terminal[pipeline.Stdout] {
				w.stdout.Write(visible.AppendJSON(nil, stages.AppendPayload(nil, p)))
			} else {
				_ = stages.WritePayload(w.stdout, p) // the buffer keeps the error
			}
			w.stdout.WriteByte('\n')
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
