package stages

import (
	"context"

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
	// OnChunk, if not nil, is called for each chunk that was kept, before its lines are read.
	OnChunk func(pipeline.Chunk)
	// Before, if not nil, stands in the line before the byte cap (see [LineWrapper]).
	Before pipeline.Stage[pipeline.Chunk, pipeline.Chunk]
}

// Collect runs src through the line: byte cap, capture, line splitter, JSON decoder,
// event counter, failure detector. It returns when src has ended or was stopped at a
// bound. It does not close src: the collection keeps sub-slices of its buffers. The
// error is for bounds out of range only; a failed source is an outcome.
func Collect(ctx context.Context, src pipeline.Source, b pipeline.Bounds, o CollectOptions) (*Collection, error) {
	panic("stub")
}
