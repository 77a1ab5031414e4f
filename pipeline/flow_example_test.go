package pipeline_test

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"strings"

	ext "github.com/reugn/go-streams/extension"
	"github.com/reugn/go-streams/flow"

	"github.com/tailrace/tailrace/pipeline"
)

// A stage of ours between the flows of go-streams.
func ExampleFlow() {
	words := func(in iter.Seq[string]) iter.Seq[string] {
		return func(yield func(string) bool) {
			for s := range in {
				for w := range strings.FieldsSeq(s) {
					if !yield(w) {
						return
					}
				}
			}
		}
	}
	result := make(chan any, 8)
	stage := pipeline.Flow(context.Background(), words)
	ext.NewChanSource(channelOf("one two", "three")).
		Via(stage).
		Via(flow.NewMap(strings.ToUpper, 1)).
		To(ext.NewChanSink(result))
	for w := range result {
		fmt.Println(w)
	}
	fmt.Println("error:", stage.Err())
	// Output:
	// ONE
	// TWO
	// THREE
	// error: <nil>
}

func ExampleFrom() {
	elements := pipeline.From[int](context.Background(), ext.NewChanSource(channelOf(1, 2, 3)))
	for n := range elements.Seq() {
		fmt.Println(n)
	}
	fmt.Println("error:", elements.Err())
	// Output:
	// 1
	// 2
	// 3
	// error: <nil>
}

// The batches of a go-streams source, converted to chunks, feed a run of ours.
func ExampleSourceFrom() {
	batches := ext.NewChanSource(channelOf([]byte("one\ntwo\n"), []byte("three\n"))).
		Via(flow.NewMap(func(b []byte) pipeline.Chunk { return pipeline.Chunk{Data: b} }, 1))
	src := pipeline.SourceFrom(batches)
	defer src.Close()
	lines := 0
	summary := pipeline.Run(context.Background(), src,
		func(in iter.Seq[pipeline.Chunk]) iter.Seq[pipeline.Chunk] { return in },
		func(c pipeline.Chunk) { lines += bytes.Count(c.Data, []byte("\n")) },
		pipeline.Options{})
	fmt.Println(lines, "lines,", summary.Outcome)
	// Output: 3 lines, complete
}
