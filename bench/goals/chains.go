package main

import (
	"bytes"
	"context"
	"errors"
	"iter"

	"github.com/tailrace/tailrace/internal/jsonscan"
	"github.com/tailrace/tailrace/internal/measure"
	"github.com/tailrace/tailrace/internal/memsource"
	"github.com/tailrace/tailrace/pipeline"
	"github.com/tailrace/tailrace/stages"
)

var errCount = errors.New("the ways do not find the same events")

// events is the line from chunks to events, without the capture.
func events() pipeline.Stage[pipeline.Chunk, stages.Event] {
	return pipeline.Then(
		pipeline.Then(pipeline.Stage[pipeline.Chunk, pipeline.Chunk]((&stages.ByteCap{}).Apply), pipeline.Stage[pipeline.Chunk, stages.Line]((&stages.LineSplitter{}).Apply)),
		pipeline.Then(pipeline.Stage[stages.Line, stages.Event]((&stages.Decoder{}).Apply),
			pipeline.Then(pipeline.Stage[stages.Event, stages.Event]((&stages.EventCounter{}).Apply), pipeline.Stage[stages.Event, stages.Event]((&stages.FailureDetector{}).Apply))),
	)
}

// fused is the same work in one loop over memory that lies together, without stages.
func fused(chunks []pipeline.Chunk, whole []byte) (logs, all int) {
	room, at, start := int64(pipeline.CaptureLimit), 0, 0
	failed := false
	line := func(raw []byte) {
		for len(raw) > 0 && (raw[0] == ' ' || raw[0] == '\t' || raw[0] == '\r') {
			raw = raw[1:]
		}
		for len(raw) > 0 && (raw[len(raw)-1] == ' ' || raw[len(raw)-1] == '\t' || raw[len(raw)-1] == '\r') {
			raw = raw[:len(raw)-1]
		}
		raw = bytes.TrimPrefix(raw, []byte("\ufeff"))
		info, ok := jsonscan.Object(raw, pipeline.MaxDepth)
		if !ok {
			return
		}
		all++
		switch kind := raw[info.Type.Start:info.Type.End]; {
		case jsonscan.Is(kind, "log"):
			logs++
		case jsonscan.Is(kind, "error"):
			failed = true
		case jsonscan.Is(kind, "end"):
			failed = failed || !jsonscan.Is(raw[info.Reason.Start:info.Reason.End], "eof")
		}
	}
	for _, c := range chunks {
		n := min(int64(len(c.Data)), room)
		room -= n
		end := at + int(n)
		for at < end {
			i := bytes.IndexByte(whole[at:end], '\n')
			if i < 0 {
				break
			}
			line(whole[start : at+i])
			at += i + 1
			start = at
		}
		at = end
	}
	if start < len(whole) {
		line(whole[start:])
	}
	if failed {
		return -1, all
	}
	return logs, all
}

// batchEvents is how many events go through a channel at once.
const batchEvents = 512

// batches is the line with its events in batches, the grain at which channels do not matter.
func batches() pipeline.Stage[pipeline.Chunk, []stages.Event] {
	line := events()
	return func(in iter.Seq[pipeline.Chunk]) iter.Seq[[]stages.Event] {
		return func(yield func([]stages.Event) bool) {
			batch := make([]stages.Event, 0, batchEvents)
			for e := range line(in) {
				if batch = append(batch, e); len(batch) == batchEvents {
					if !yield(batch) {
						return
					}
					batch = make([]stages.Event, 0, batchEvents)
				}
			}
			if len(batch) > 0 {
				yield(batch)
			}
		}
	}
}

// chains are the rows of stages in a line against the same in one loop, and through
// go-streams.
func (b *bench) chains(ctx context.Context) ([]row, error) {
	data := b.data["c1"]
	chunks := memsource.New(data, 64<<10).Played
	_, want := fused(chunks, data)
	counted := func(n int) error {
		if n != want {
			return errCount
		}
		return nil
	}
	source := func(yield func(pipeline.Chunk) bool) {
		for _, c := range chunks {
			if !yield(c) {
				return
			}
		}
	}
	least, err := b.interleave(ctx, []measure.Way{
		{Name: "fused", Run: func(context.Context) error {
			_, n := fused(chunks, data)
			return counted(n)
		}},
		{Name: "chain", Run: func(context.Context) error {
			n := 0
			for range events()(source) {
				n++
			}
			return counted(n)
		}},
		{Name: "batches", Run: func(context.Context) error {
			n := 0
			for batch := range batches()(source) {
				n += len(batch)
			}
			return counted(n)
		}},
		{Name: "flow", Run: func(ctx context.Context) error {
			f := pipeline.Flow(ctx, batches())
			go func() {
				defer close(f.In())
				for _, c := range chunks {
					f.In() <- c
				}
			}()
			n := 0
			for batch := range f.Out() {
				n += len(batch.([]stages.Event))
			}
			return errors.Join(counted(n), f.Wait())
		}},
	})
	if err != nil {
		return nil, err
	}
	return []row{
		times("iter.Seq chain / one fused loop, c1 over memory", least["chain"]/least["fused"], 1.10, 0),
		times("go-streams adapter at batch grain / bare chain", least["flow"]/least["batches"], 1.15, 0),
	}, nil
}
