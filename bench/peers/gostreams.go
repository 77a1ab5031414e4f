package main

import (
	"bytes"
	"context"
	"encoding/json"

	ext "github.com/reugn/go-streams/extension"
	"github.com/reugn/go-streams/flow"

	"github.com/tailrace/tailrace/internal/jsonscan"
	"github.com/tailrace/tailrace/internal/memsource"
	"github.com/tailrace/tailrace/pipeline"
)

// An element is a line on its way through the flows.
type element struct {
	raw        []byte
	event, log bool
	failed     bool
}

// goStreams does the stages as flows of go-streams, per line, with the same
// scanner as ours. It makes no result.
func goStreams() *peer {
	return &peer{
		name: "go-streams, per line", version: moduleVersion("github.com/reugn/go-streams"), against: oursMemory, verify: verifyCount,
		about: "six flows with our scanner, over memory: cap, split, decode, filter, count, failure; no budget, no result",
		result: func(_ context.Context, in *input) ([]byte, error) {
			events, logs, size := streamed(in)
			return json.Marshal(map[string]int64{"events": events, "logs": logs, "bytes": size})
		},
	}
}

func streamed(in *input) (events, logs, size int64) {
	chunks := make(chan any, 16)
	go func() {
		defer close(chunks)
		for _, c := range memsource.New(in.data, 64<<10).Played {
			chunks <- c.Data
		}
	}()
	var rest []byte
	room := int64(pipeline.CaptureLimit)
	sink := make(chan any, 256)
	capped := flow.NewMap(func(chunk []byte) []byte {
		chunk = chunk[:min(int64(len(chunk)), room)]
		room -= int64(len(chunk))
		size += int64(len(chunk))
		return chunk
	}, 1)
	split := flow.NewFlatMap(func(chunk []byte) []element {
		lines := make([]element, 0, 256)
		for {
			line, after, found := bytes.Cut(chunk, []byte{'\n'})
			if !found {
				rest = append(rest, chunk...)
				return lines
			}
			if len(rest) > 0 {
				line, rest = append(rest, line...), nil
			}
			lines, chunk = append(lines, element{raw: line}), after
		}
	}, 1)
	decode := flow.NewMap(func(e element) element {
		raw := bytes.TrimSpace(e.raw)
		info, ok := jsonscan.Object(raw, pipeline.MaxDepth)
		if ok {
			e.raw, e.event = raw, true
			e.log = jsonscan.Is(raw[info.Type.Start:info.Type.End], "log")
			e.failed = jsonscan.Is(raw[info.Type.Start:info.Type.End], "error")
		}
		return e
	}, 1)
	filter := flow.NewFilter(func(e element) bool { return e.event }, 1)
	count := flow.NewMap(func(e element) element {
		if e.log {
			logs++
		}
		return e
	}, 1)
	failed := false
	failure := flow.NewMap(func(e element) element {
		failed = failed || e.failed
		return e
	}, 1)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range sink {
			events++
		}
	}()
	ext.NewChanSource(chunks).Via(capped).Via(split).Via(decode).Via(filter).Via(count).Via(failure).To(ext.NewChanSink(sink))
	<-done
	return events, logs, size
}
