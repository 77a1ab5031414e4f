package stages_test

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/tailrace/tailrace/internal/memsource"
	"github.com/tailrace/tailrace/pipeline"
	"github.com/tailrace/tailrace/stages"
)

// benchText is 8 MiB of events of about 350 bytes.
var benchText = func() []byte {
	var b strings.Builder
	for i := 0; b.Len() < 8<<20-400; i++ {
		fmt.Fprintf(&b, `{"type":"log","ts":"2026-03-01T09:59:58.%09dZ","project":"shop","backend":"compose","entry":{"source":"compose","message":"request handled in %d ms","raw":"web-1  | {\"level\":30,\"msg\":\"request handled\",\"ms\":%d}","stream":"stdout","project":"shop","service":"web","instance":"1","timestamp":"2026-03-01T09:59:58.120000001Z","level":"info"}}`+"\n", i, i%997, i%997)
	}
	return []byte(b.String())
}()

func pull[T any](in iter.Seq[T]) (n int) {
	for range in {
		n++
	}
	return n
}

func benchStage[In, Out any](b *testing.B, in []In, apply func() pipeline.Stage[In, Out]) {
	b.SetBytes(int64(len(benchText)))
	b.ReportAllocs()
	for b.Loop() {
		pull(apply()(slices.Values(in)))
	}
}

func BenchmarkStage(b *testing.B) {
	chunks := memsource.New(benchText, 64<<10).Played
	lines := slices.Collect((&stages.LineSplitter{}).Apply(slices.Values(chunks)))
	events := slices.Collect((&stages.Decoder{}).Apply(slices.Values(lines)))
	b.Run("ByteCap", func(b *testing.B) {
		benchStage(b, chunks, func() pipeline.Stage[pipeline.Chunk, pipeline.Chunk] { return (&stages.ByteCap{}).Apply })
	})
	b.Run("Capture", func(b *testing.B) {
		benchStage(b, chunks, func() pipeline.Stage[pipeline.Chunk, pipeline.Chunk] { return (&stages.Capture{}).Apply })
	})
	b.Run("LineSplitter", func(b *testing.B) {
		benchStage(b, chunks, func() pipeline.Stage[pipeline.Chunk, stages.Line] { return (&stages.LineSplitter{}).Apply })
	})
	b.Run("Decoder", func(b *testing.B) {
		benchStage(b, lines, func() pipeline.Stage[stages.Line, stages.Event] { return (&stages.Decoder{}).Apply })
	})
	b.Run("EventCounter", func(b *testing.B) {
		benchStage(b, events, func() pipeline.Stage[stages.Event, stages.Event] { return (&stages.EventCounter{}).Apply })
	})
	b.Run("FailureDetector", func(b *testing.B) {
		benchStage(b, events, func() pipeline.Stage[stages.Event, stages.Event] { return (&stages.FailureDetector{}).Apply })
	})
	b.Run("LineWrapper/events", func(b *testing.B) {
		benchStage(b, chunks, func() pipeline.Stage[pipeline.Chunk, pipeline.Chunk] { return (&stages.LineWrapper{}).Apply })
	})
	text := bytes.Repeat([]byte("2026-03-01 09:59:58,120 INFO [web-1] request handled in 12 ms by worker 7 of pool main\n"), len(benchText)/87)
	b.Run("LineWrapper/text", func(b *testing.B) {
		benchStage(b, memsource.New(text, 64<<10).Played, func() pipeline.Stage[pipeline.Chunk, pipeline.Chunk] { return (&stages.LineWrapper{}).Apply })
	})
}

// BenchmarkLine runs the whole line over memory: all stages but the budget.
func BenchmarkLine(b *testing.B) {
	for _, c := range []struct {
		name  string
		apart bool
	}{{"adjacent", false}, {"apart", true}} {
		b.Run(c.name, func(b *testing.B) {
			_, chunks := split([]pipeline.Chunk{{Data: benchText}}, 64<<10, c.apart)
			src := memsource.Of(0, chunks...)
			b.SetBytes(int64(len(benchText)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := stages.Collect(context.Background(), src, pipeline.Bounds{}, stages.CollectOptions{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
