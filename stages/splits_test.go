package stages_test

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tailrace/tailrace/internal/memsource"
	"github.com/tailrace/tailrace/pipeline"
	"github.com/tailrace/tailrace/stages"
)

// piece returns a chunk that lies in memory of its own.
func piece(s pipeline.Stream, text string) pipeline.Chunk {
	return pipeline.Chunk{Stream: s, Data: slices.Clip([]byte(text))}
}

// splits yields the same bytes in many chunkings: whole, byte by byte where they are not
// too many for that, and at random; each in one buffer a stream, as a child source reads,
// and each in memory of its own. A chunk with Cut stays the last. After each it checks
// that nobody wrote to the memory of the source.
func splits(t *testing.T, in []pipeline.Chunk) iter.Seq2[string, []pipeline.Chunk] {
	t.Helper()
	total := 0
	for _, c := range in {
		total += len(c.Data)
	}
	sizes := []int{0, 64 << 10, -1, -2}
	switch {
	case total <= 1<<16:
		sizes = append(sizes, 1, 2, 3, 7)
	case total > 1<<20: // large inputs take the race detector long
		sizes = []int{64 << 10, -1}
	}
	return func(yield func(string, []pipeline.Chunk) bool) {
		for _, size := range sizes {
			for _, apart := range []bool{false, true} {
				name := fmt.Sprintf("chunks of %d, apart %v", size, apart)
				buffers, chunks := split(in, size, apart)
				before := [2][]byte{bytes.Clone(buffers[0]), bytes.Clone(buffers[1])}
				if !yield(name, chunks) {
					return
				}
				for s := range buffers {
					if !bytes.Equal(buffers[s], before[s]) {
						t.Errorf("%s: the memory of the source was written to", name)
					}
				}
			}
		}
	}
}

// split cuts each piece of in into chunks of size bytes; 0 leaves it whole, a negative
// size is a seed for random ones. The buffers hold more than the chunks do.
func split(in []pipeline.Chunk, size int, apart bool) (buffers [2][]byte, out []pipeline.Chunk) {
	r := rand.New(rand.NewPCG(uint64(-size), 3))
	for _, c := range in {
		buffers[c.Stream] = append(buffers[c.Stream], c.Data...)
	}
	for s := range buffers {
		buffers[s] = append(buffers[s], "what the source reads next\n"...)
	}
	var at [2]int
	for _, c := range in {
		for left := len(c.Data); left > 0; {
			n := left
			switch {
			case size > 0:
				n = min(n, size)
			case size < 0:
				n = 1 + r.IntN(min(n, 1+r.IntN(64<<10)))
			}
			data := buffers[c.Stream][at[c.Stream] : at[c.Stream]+n]
			if apart {
				data = slices.Clip(bytes.Clone(data))
			}
			out = append(out, pipeline.Chunk{Stream: c.Stream, Data: data})
			at[c.Stream] += n
			left -= n
		}
		if c.Cut {
			out = append(out, pipeline.Chunk{Stream: c.Stream, Cut: true})
		}
	}
	return buffers, out
}

// counted is a sequence that counts what was asked of it.
func counted[T any](in []T, n *int) iter.Seq[T] {
	return func(yield func(T) bool) {
		for _, v := range in {
			*n++
			if !yield(v) {
				return
			}
		}
	}
}

// balanced checks the ledger of a stage, and that it was given in bytes.
func balanced(t *testing.T, r pipeline.Reporter, in int64) {
	t.Helper()
	if rep := r.Report(); !rep.Ledger.Balanced() || rep.Ledger.In != in || min(rep.Ledger.Kept, rep.Ledger.Cut, rep.Ledger.Dropped) < 0 {
		t.Errorf("ledger-balance: %s: %+v, %d bytes in", rep.Stage, rep.Ledger, in)
	}
}

func sizeOf(in []pipeline.Chunk) (n int64) {
	for _, c := range in {
		n += int64(len(c.Data))
	}
	return n
}

func collect(t *testing.T, src pipeline.Source, b pipeline.Bounds) *stages.Collection {
	t.Helper()
	c, err := stages.Collect(context.Background(), src, b, stages.CollectOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range c.Reports {
		if !r.Ledger.Balanced() {
			t.Errorf("ledger-balance: %s: %+v", r.Stage, r.Ledger)
		}
	}
	return c
}

func collectOf(t *testing.T, code int, chunks []pipeline.Chunk, b pipeline.Bounds) *stages.Collection {
	t.Helper()
	return collect(t, memsource.Of(code, chunks...), b)
}

func raws(c *stages.Collection) (out []string) {
	for raw := range c.Events.All() {
		out = append(out, string(raw))
	}
	return out
}
