package pipeline_test

import (
	"iter"
	"slices"
	"testing"

	"github.com/tailrace/tailrace/pipeline"
)

func TestThen(t *testing.T) {
	l := &limit{n: 2}
	length := func(in iter.Seq[string]) iter.Seq[int] {
		return func(yield func(int) bool) {
			for s := range in {
				if !yield(len(s)) {
					return
				}
			}
		}
	}
	src := &play{chunks: []string{"a", "bb", "ccc"}}
	got := slices.Collect(pipeline.Then[pipeline.Chunk, string, int](l.Apply, length)(src.Chunks(t.Context())))
	if !slices.Equal(got, []int{1, 2}) || src.pulled != 2 {
		t.Errorf("%v of %d chunks", got, src.pulled)
	}
}
