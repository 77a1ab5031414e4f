package main

import (
	"github.com/tailrace/tailrace/internal/logline"
	"github.com/tailrace/tailrace/internal/project"
	"github.com/tailrace/tailrace/internal/visible"
	"github.com/tailrace/tailrace/pipeline"
)

// flushBytes is how much output of one chunk is gathered at most before it is written.
const flushBytes = 256 << 10

// A logReader turns the chunks of one source into lines of output. What one chunk
// gives is written at once.
type logReader struct {
	run    *logsRun
	source project.Source
	event  logline.Context
	split  [2]lineSplitter // by stream
	window timeWindow
	last   *lastLines // nil where lines are written as they come
	none   bool       // no line is wanted
	label  []byte
	out    []byte
}

func (r *logsRun) newReader(s project.Source) *logReader {
	kind := backendOf(s)
	in := &logReader{
		run: r, source: s,
		event: logline.Context{
			Backend: kind, Source: kind, Project: r.plan.project, Branch: r.o.branch,
			Service: s.Name, Now: r.frame.now,
		},
		window: timeWindow{since: r.o.sinceAt, until: r.o.untilAt},
	}
	if r.labelled {
		in.label = []byte(s.Name + " | ")
	}
	if lines := r.o.lines(); !r.o.follow && lines >= 0 {
		// The last lines of a file are found from its end, unless the times of the lines
		// decide which ones count.
		if lines == 0 {
			in.none = true
		} else if kind == backendCommand || in.window.set() {
			in.last = &lastLines{n: lines}
		}
	}
	return in
}

func (in *logReader) feed(c pipeline.Chunk) {
	stream := ""
	if in.source.Command != nil {
		stream = c.Stream.String()
	}
	in.split[c.Stream].feed(c.Data, func(line []byte) { in.line(line, stream) })
	in.flush()
}

// end writes what is left once the source has ended. Of a source that was stopped, the
// begin of a line that is held is not a line.
func (in *logReader) end(exit pipeline.Exit) {
	if exit.End == pipeline.EndSource {
		for i, stream := range [...]pipeline.Stream{pipeline.Stdout, pipeline.Stderr} {
			name := ""
			if in.source.Command != nil {
				name = stream.String()
			}
			in.split[i].end(func(line []byte) { in.line(line, name) })
		}
		if in.last != nil {
			in.last.each(in.append)
			if in.last.short {
				in.run.note(in.source, "the last lines took more than 64 MiB: the older ones of them were left out")
			}
		}
		if in.window.blind() {
			in.run.note(in.source, "no line begins with a time that can be read: --since and --until left all of them in")
		}
	}
	in.flush()
}

func (in *logReader) line(line []byte, stream string) {
	switch {
	case in.none || !in.window.holds(line, stream):
	case in.last != nil:
		in.last.add(line, stream)
	default:
		in.append(line, stream)
	}
}

// append appends a line to the output as the command shows it.
func (in *logReader) append(line []byte, stream string) {
	switch {
	case in.run.o.json:
		in.event.Stream = stream
		in.out = logline.AppendEvent(in.out, line, in.event)
	case in.run.terminal:
		in.out = append(in.out, in.label...)
		in.out = append(visible.Append(in.out, line), '\n')
	default:
		in.out = append(in.out, in.label...)
		in.out = append(append(in.out, line...), '\n')
	}
	if len(in.out) >= flushBytes {
		in.flush()
	}
}

func (in *logReader) flush() {
	in.run.write(in.out)
	if in.out = in.out[:0]; cap(in.out) > 4*flushBytes {
		in.out = nil // a long line made it large
	}
}
