package stages

import (
	"context"
	"iter"

	"github.com/tailrace/tailrace/pipeline"
)

// A Collection is what one bounded run collected.
type Collection struct {
	pipeline.Summary
	// Stdout and Stderr are the raw bytes that were kept, each ending on a code-point
	// boundary where the run was cut. They are valid until the source is closed.
	Stdout, Stderr []byte
	// Events are the events in Stdout, in their order.
	Events EventList
	// Truncated says that output was cut by the byte bound.
	Truncated bool
}

// CollectOptions are the settings of [Collect] beyond the bounds.
type CollectOptions struct {
	// OnEvent, if not nil, is called for each event as it is collected, on the
	// goroutine of the run.
	OnEvent func(Event)
	// OnChunk, if not nil, is called for each chunk that was kept whole, after its lines
	// were read. The chunk in which a bound was reached is not shown: what of it was kept
	// is the end of Stdout or Stderr.
	OnChunk func(pipeline.Chunk)
	// Before, if not nil, stands in the line before the byte cap (see [LineWrapper]).
	Before pipeline.Stage[pipeline.Chunk, pipeline.Chunk]
}

// Collect runs src through the line: byte cap, capture, line splitter, JSON decoder,
// event counter, failure detector. It returns when src has ended or was stopped at a
// bound. It does not close src: the collection keeps sub-slices of its buffers. The
// error is for bounds out of range only and wraps [pipeline.ErrBounds]; a failed source
// is an outcome.
func Collect(ctx context.Context, src pipeline.Source, b pipeline.Bounds, o CollectOptions) (*Collection, error) {
	if err := b.Validate(); err != nil {
		return nil, err
	}
	var (
		cap     = &ByteCap{MaxBytes: b.MaxBytes}
		capture = &Capture{MaxBytes: b.Bytes()}
		lines   = &LineSplitter{}
		decoder = &Decoder{}
		counter = &EventCounter{MaxEvents: b.MaxEvents}
		failure = &FailureDetector{}
		c       = &Collection{}
	)
	chunks := pipeline.Then[pipeline.Chunk, pipeline.Chunk, pipeline.Chunk](cap.Apply, capture.Apply)
	if o.Before != nil {
		chunks = pipeline.Then(o.Before, chunks)
	}
	if o.OnChunk != nil {
		chunks = pipeline.Then(chunks, tap(o.OnChunk))
	}
	events := pipeline.Then(pipeline.Then[pipeline.Chunk, Line, Event](lines.Apply, decoder.Apply),
		pipeline.Then[Event, Event, Event](counter.Apply, failure.Apply))
	c.Summary = pipeline.Run(ctx, src, pipeline.Then(chunks, events), func(e Event) {
		c.Events.Append(e)
		if o.OnEvent != nil {
			o.OnEvent(e)
		}
	}, pipeline.Options{
		MaxTime:   b.MaxTime,
		Reporters: []pipeline.Reporter{cap, capture, lines, decoder, counter, failure},
	})
	if c.Cut.Bound == pipeline.EventsBound {
		// Rule C6: what was read behind the last event is not part of the result.
		capture.Truncate(pipeline.Stdout, lines.Consumed())
	}
	if c.Cut.Bound != pipeline.NoBound {
		// Rule C3: an event that the end of the stream completes can reach the bound after
		// the cap has passed on what it held back.
		for _, s := range []pipeline.Stream{pipeline.Stdout, pipeline.Stderr} {
			capture.Truncate(s, int64(len(capture.of(s)))-cap.Flushed(s))
		}
		c.Reports[1] = capture.Report()
	}
	c.Stdout, c.Stderr = capture.Stdout(), capture.Stderr()
	c.Truncated = c.Cut.Bound == pipeline.BytesBound
	return c, nil
}

// tap is a stage that shows each chunk to f once the stages behind it are done with it.
func tap(f func(pipeline.Chunk)) pipeline.Stage[pipeline.Chunk, pipeline.Chunk] {
	return func(in iter.Seq[pipeline.Chunk]) iter.Seq[pipeline.Chunk] {
		return func(yield func(pipeline.Chunk) bool) {
			for chunk := range in {
				if !yield(chunk) {
					return
				}
				f(chunk)
			}
		}
	}
}
