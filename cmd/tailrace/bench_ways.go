package main

import (
	"context"
	"errors"
	"io"
	"iter"
	"slices"

	"github.com/tailrace/tailrace/internal/measure"
	"github.com/tailrace/tailrace/internal/memsource"
	"github.com/tailrace/tailrace/pipeline"
	"github.com/tailrace/tailrace/pipeline/source"
	"github.com/tailrace/tailrace/stages"
)

// The names of what is measured of an input. They are part of the report's form.
const (
	wayDrain  = "drain"
	wayWhole  = "tailrace"
	wayMemory = "memory"
)

// benchChunk is the size of the chunks of an input in memory, as a child's are.
const benchChunk = 64 << 10

// whole is the child read through all stages, and its result written to sink.
func (in *benchInput) whole(sink io.Writer) measure.Way {
	var dst []byte
	return measure.Way{Name: wayWhole, Run: func(ctx context.Context) error {
		child, err := source.Start(in.command)
		if err != nil {
			return err
		}
		defer child.Close()
		dst, err = in.result(ctx, child, dst)
		if err != nil {
			return err
		}
		_, err = sink.Write(dst)
		return err
	}}
}

// memory is the whole line over memory.
func (in *benchInput) memory() measure.Way {
	src := memsource.New(in.data, benchChunk)
	var dst []byte
	return measure.Way{Name: wayMemory, Run: func(ctx context.Context) (err error) {
		dst, err = in.result(ctx, src, dst)
		return err
	}}
}

// result runs a source through the line to the bytes of its result, which must be those
// of the probe.
func (in *benchInput) result(ctx context.Context, src pipeline.Source, dst []byte) ([]byte, error) {
	c, err := stages.Collect(ctx, src, pipeline.Bounds{}, stages.CollectOptions{})
	if err != nil {
		return dst, err
	}
	if ctx.Err() != nil {
		return dst, context.Cause(ctx)
	}
	if c.Cut.Bound != pipeline.NoBound || int64(c.Events.Len()) != in.info.Events || int64(len(c.Stdout)) != in.info.Bytes {
		return dst, errBenchChanged
	}
	dst, _ = stages.Budget{}.AppendResult(dst[:0], stages.PayloadOf(c, "", false, stages.LogLimits{}))
	return dst, nil
}

// stageWays are the stages alone, each over what the one before it makes of the input.
func (in *benchInput) stageWays(ctx context.Context) ([]measure.Way, error) {
	chunks := memsource.New(in.data, benchChunk).Played
	lines := slices.Collect((&stages.LineSplitter{}).Apply(slices.Values(chunks)))
	events := slices.Collect((&stages.Decoder{}).Apply(slices.Values(lines)))
	c, err := stages.Collect(ctx, memsource.New(in.data, benchChunk), pipeline.Bounds{}, stages.CollectOptions{})
	if err != nil {
		return nil, err
	}
	if int64(len(events)) != in.info.Events || int64(c.Events.Len()) != in.info.Events {
		return nil, errors.New("the stages alone do not find the events that the whole finds")
	}
	var dst []byte
	return []measure.Way{
		stageWay("byte cap", chunks, func() pipeline.Stage[pipeline.Chunk, pipeline.Chunk] { return (&stages.ByteCap{}).Apply }),
		stageWay("capture", chunks, func() pipeline.Stage[pipeline.Chunk, pipeline.Chunk] { return (&stages.Capture{}).Apply }),
		stageWay("line splitter", chunks, func() pipeline.Stage[pipeline.Chunk, stages.Line] { return (&stages.LineSplitter{}).Apply }),
		stageWay("decoder", lines, func() pipeline.Stage[stages.Line, stages.Event] { return (&stages.Decoder{}).Apply }),
		stageWay("event counter", events, func() pipeline.Stage[stages.Event, stages.Event] { return (&stages.EventCounter{}).Apply }),
		stageWay("failure detector", events, func() pipeline.Stage[stages.Event, stages.Event] { return (&stages.FailureDetector{}).Apply }),
		{Name: "budget", Run: func(context.Context) error {
			dst, _ = stages.Budget{}.AppendResult(dst[:0], stages.PayloadOf(c, "", false, stages.LogLimits{}))
			return nil
		}},
	}, nil
}

func stageWay[In, Out any](name string, in []In, stage func() pipeline.Stage[In, Out]) measure.Way {
	return measure.Way{Name: name, Run: func(context.Context) error {
		consume(stage()(slices.Values(in)))
		return nil
	}}
}

func consume[T any](in iter.Seq[T]) {
	for range in {
	}
}
