package main

import (
	"github.com/tailrace/tailrace/internal/logline"
	"github.com/tailrace/tailrace/internal/project"
	"github.com/tailrace/tailrace/internal/visible"
)

// flushBytes is how much output is gathered at most before it is written.
const flushBytes = 256 << 10

// An origin is where records come from, as the output says it.
type origin struct {
	source project.Source
	event  logline.Context
}

func (r *logsRun) origin(s project.Source) *origin {
	kind := s.Kind()
	o := &origin{source: s, event: logline.Context{
		Backend: kind, Source: kind, Project: r.plan.project, Branch: r.o.branch, Now: r.frame.now,
	}}
	return o
}

// appendLabel appends what stands before a line where there are several sources.
func (w *logWriter) appendLabel(from *origin, r logline.Record) {
	switch {
	case w.run.labelled && r.Instance != "":
		w.out = append(append(append(w.out, from.source.Name...), '/'), visible.Append(nil, []byte(r.Instance))...)
	case w.run.labelled:
		w.out = append(w.out, from.source.Name...)
	case r.Instance != "":
		w.out = visible.Append(w.out, []byte(r.Instance))
	default:
		return
	}
	w.out = append(w.out, " | "...)
}

// A logWriter turns records into lines of output. It is for one goroutine.
type logWriter struct {
	run *logsRun
	out []byte
}

// append appends a record to the output as the command shows it.
func (w *logWriter) append(from *origin, r logline.Record) {
	switch {
	case w.run.pretty != nil:
		w.run.pretty.add(from, r)
		return
	case w.run.o.json:
		w.out = logline.AppendRecord(w.out, r, from.event)
	case w.run.terminal:
		w.appendLabel(from, r)
		w.out = append(visible.Append(w.out, r.Line), '\n')
	default:
		w.appendLabel(from, r)
		w.out = append(append(w.out, r.Line...), '\n')
	}
	if len(w.out) >= flushBytes {
		w.flush()
	}
}

// end writes what is still held back of a source that has ended, or of all for nil.
func (w *logWriter) end(from *origin) {
	if w.run.pretty != nil {
		w.run.pretty.end(from)
	}
	w.flush()
}

func (w *logWriter) flush() {
	if w.run.pretty != nil {
		w.run.pretty.flush()
		return
	}
	w.run.write(w.out)
	if w.out = w.out[:0]; cap(w.out) > 4*flushBytes {
		w.out = nil // a long line made it large
	}
}
