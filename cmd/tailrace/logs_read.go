package main

import (
	"context"
	"errors"
	"strconv"

	"github.com/tailrace/tailrace/internal/backend"
	"github.com/tailrace/tailrace/internal/logline"
	"github.com/tailrace/tailrace/internal/project"
	"github.com/tailrace/tailrace/pipeline"
	"github.com/tailrace/tailrace/pipeline/source"
)

// A failure is how a source ended badly. The zero value says that it did not.
type failure struct {
	code    string // the code of an error event, or ""
	problem string // why it failed
	exit    string // instead of problem: how the command ended
	told    bool   // instead of problem: it has been told
}

// A logReader reads one source and gives its records on: the last ones of them, or those
// of a time, where that is asked for.
type logReader struct {
	run    *logsRun
	source project.Source
	split  [2]lineSplitter // by stream
	window timeWindow
	last   *lastLines // nil where records are given on as they come
	none   bool       // no record is wanted
	full   bool       // emit wants no more
	// emit takes a record, whose line is valid during the call only. It returns false where
	// it wants no more.
	emit func(logline.Record) bool
	// pause is called where it may take a while until the next record.
	pause func()
}

func (r *logsRun) newReader(s project.Source, emit func(logline.Record) bool, pause func()) *logReader {
	in := &logReader{
		run: r, source: s, emit: emit, pause: pause,
		window: timeWindow{since: r.o.sinceAt, until: r.o.untilAt},
	}
	if lines := r.o.lines(); !r.o.follow && lines >= 0 {
		// The last lines of a file are found from its end, unless the times of the lines
		// decide which ones count.
		if lines == 0 {
			in.none = true
		} else if s.Compose != nil {
			// These are the last lines of each container already.
		} else if s.File == "" || in.window.set() {
			in.last = &lastLines{n: lines}
		}
	}
	return in
}

// lastOfCompressed keeps the last lines of a file whose end cannot be found from behind.
// It ends, also where it was to be followed.
func (in *logReader) lastOfCompressed() {
	if lines := in.run.o.lines(); in.last == nil && lines > 0 && !in.source.FromStart {
		in.last = &lastLines{n: lines}
	} else if lines == 0 {
		in.none = true
	}
}

// read reads the source to its end, or until ctx is done or no more is wanted.
func (in *logReader) read(ctx context.Context) failure {
	switch in.source.Kind() {
	case project.KindFile, project.KindCommand:
		if in.source.Files != nil {
			return in.readFiles(ctx)
		}
		return in.readBytes(ctx)
	}
	return in.readRecords(ctx)
}

// readBytes reads a source that is bytes.
func (in *logReader) readBytes(ctx context.Context) failure {
	src, err := in.run.open(in.source)
	if err != nil {
		return failure{problem: openProblem(err)}
	}
	// Close ends what a command left behind. There is no more to read, so nothing of it
	// is missing from the log.
	defer func() { _ = src.Close() }()
	if f, ok := src.(*source.File); ok && f.Compressed() {
		in.lastOfCompressed()
	}
	for chunk := range src.Chunks(ctx) {
		in.feed(chunk)
		if in.full {
			break
		}
	}
	exit := src.Exit()
	in.end(exit)
	switch {
	case !exit.Failed():
		return failure{}
	case exit.Err != nil:
		return failure{problem: readProblem(exit.Err)}
	}
	return failure{exit: "exit:" + strconv.Itoa(exit.Code)}
}

// readRecords reads a source that is records.
func (in *logReader) readRecords(ctx context.Context) failure {
	src, err := in.run.openRecords(in.source)
	if err != nil {
		return backendFailure(err)
	}
	defer func() { _ = src.Close() }()
	for items := range src.Batches(ctx) {
		for i := range items {
			if n := items[i].Notice; n != nil {
				in.pause() // so that it stands where it happened
				in.run.notice(in.source, n)
			} else {
				r := items[i].Record
				if r.Service == "" {
					r.Service = in.source.Name
				}
				in.record(r)
			}
			if in.full {
				break
			}
		}
		in.pause()
		if in.full {
			break
		}
	}
	if err := src.Err(); err != nil {
		in.give()
		return backendFailure(err)
	}
	if ctx.Err() == nil {
		in.give()
	}
	return failure{}
}

// backendFailure says why a backend failed.
func backendFailure(err error) failure {
	var known *backend.Error
	if errors.As(err, &known) {
		return failure{code: string(known.Code), problem: known.Problem}
	}
	return failure{problem: "could not be read to its end"}
}

func (in *logReader) feed(c pipeline.Chunk) {
	in.split[c.Stream].feed(c.Data, func(line []byte) { in.line(line, c.Stream) })
	in.pause()
}

// end gives on what is left once a source of bytes has ended. Of a source that was
// stopped, the begin of a line that is held is not a line.
func (in *logReader) end(exit pipeline.Exit) {
	if exit.End != pipeline.EndSource {
		return
	}
	for _, stream := range [...]pipeline.Stream{pipeline.Stdout, pipeline.Stderr} {
		in.split[stream].end(func(line []byte) { in.line(line, stream) })
	}
	in.give()
}

// give gives on the last records, once they are known.
func (in *logReader) give() {
	if in.last != nil {
		in.last.each(func(r logline.Record) bool {
			in.full = in.full || !in.emit(r)
			return !in.full
		})
		if in.last.short {
			in.run.note(in.source, "the last lines took more than 64 MiB: the older ones of them were left out")
		}
		in.last = nil
	}
	if in.window.blind() {
		in.run.note(in.source, "no line begins with a time that can be read: --since and --until left all of them in")
	}
	in.pause()
}

func (in *logReader) line(line []byte, stream pipeline.Stream) {
	r := logline.Record{Line: line, Service: in.source.Name, Instance: in.source.Instance}
	if in.source.Command != nil {
		r.Stream = stream.String()
	}
	in.record(r)
}

func (in *logReader) record(r logline.Record) {
	switch {
	case in.none || in.full || !in.window.holds(r):
	case in.last != nil:
		in.last.add(r)
	default:
		in.full = !in.emit(r)
	}
}
