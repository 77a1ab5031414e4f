package main

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/tailrace/tailrace/pipeline"
	"github.com/tailrace/tailrace/pipeline/source"
	"github.com/tailrace/tailrace/stages"
)

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
	if w.inside {
		fmt.Fprintln(w.stderr)
	}
	fmt.Fprintf(w.stderr, "tailrace: %s (%s, %s, %.2fs)\n", text,
		sizeText(int64(len(c.Stdout)+len(c.Stderr))), plural(int64(c.Events.Len()), "event"), c.Elapsed.Seconds())
	if c.Events.Len() == 0 && len(c.Stdout) > 0 && !w.o.lines && w.plain >= 0 && (w.o.bounds.MaxEvents > 0 || w.o.format == "ndjson") {
		fmt.Fprintln(w.stderr, textHint)
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
		w.flush()
	}
	return &exitError{code: notStartedCode(err), err: err}
}

// textHint tells what makes plain lines count.
const textHint = "tailrace: there was text but no event; add --lines to make each line an event"

// hintAfter is how many plain lines a run with an event bound may see before it is told
// that none of them counts: such a run may never end.
const hintAfter = 10

func (w *runOutput) earlyHint(data []byte) {
	if w.plain < 0 || w.o.bounds.MaxEvents == 0 || w.o.lines || w.o.quiet || w.events.Load() > 0 {
		return
	}
	if w.plain += bytes.Count(data, []byte{'\n'}); w.plain < hintAfter || w.inside {
		return // a hint inside a line waits for its end
	}
	w.plain = -1
	w.screen.Lock()
	defer w.screen.Unlock()
	w.progress.erase()
	fmt.Fprintln(w.stderr, textHint)
}
