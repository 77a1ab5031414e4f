package proptest

import (
	"context"
	"iter"
	"math/rand"
	"slices"

	"github.com/tailrace/tailrace/pipeline"
	"github.com/tailrace/tailrace/stages"
)

// A chunking says where the bytes of a piece are split: whether behind the first n.
type chunking struct {
	name  string
	split func(r *rand.Rand, data []byte, n int) bool
}

var chunkings = []chunking{
	{"whole", func(*rand.Rand, []byte, int) bool { return false }},
	{"one byte", func(*rand.Rand, []byte, int) bool { return true }},
	{"halves", func(_ *rand.Rand, data []byte, n int) bool { return n == len(data)/2 }},
	{"random", func(r *rand.Rand, _ []byte, _ int) bool { return r.Intn(5) == 0 }},
	{"at code points", func(_ *rand.Rand, data []byte, n int) bool { return data[n]&0xc0 != 0x80 }},
	{"inside code points", func(_ *rand.Rand, data []byte, n int) bool { return data[n]&0xc0 == 0x80 }},
	{"at quotes and line ends", func(_ *rand.Rand, data []byte, n int) bool {
		return data[n] == '"' || data[n-1] == '"' || data[n] == '\n' || data[n-1] == '\n'
	}},
}

// A player is a source that plays pieces in chunks. Where it is timed, the time is over
// behind the last one.
type player struct {
	chunks []pipeline.Chunk
	timed  bool
	// glued says that the last chunk itself is marked as the cut.
	glued bool
	code  int

	end    pipeline.End
	pulled int
}

// play splits the input: the pieces of a stream lie in one buffer, as those of a child
// do, or each in memory of its own.
func (in input) play(c chunking, apart bool) *player {
	pieces, timed := in.pieces()
	r := rand.New(rand.NewSource(in.seed))
	p := &player{timed: timed, glued: in.seed%2 == 0, code: in.code}
	var buffers [2][]byte
	for _, piece := range pieces {
		s := stream(piece)
		buffers[s] = append(buffers[s], piece.Data...)
	}
	for s := range buffers { // what the source reads next
		buffers[s] = append(buffers[s], "{}\n"...)
	}
	var at [2]int
	for _, piece := range pieces {
		s := stream(piece)
		for left := piece.Data; len(left) > 0; {
			n := 1
			for n < len(left) && !c.split(r, left, n) {
				n++
			}
			data := buffers[s][at[s] : at[s]+n]
			if apart {
				data = slices.Clip(slices.Clone(data))
			}
			p.chunks = append(p.chunks, pipeline.Chunk{Stream: s, Data: data})
			at[s] += n
			left = left[n:]
		}
	}
	return p
}

func stream(p Piece) pipeline.Stream {
	if p.Stderr {
		return pipeline.Stderr
	}
	return pipeline.Stdout
}

func (p *player) Chunks(ctx context.Context) iter.Seq[pipeline.Chunk] {
	return func(yield func(pipeline.Chunk) bool) {
		for i, c := range p.chunks {
			p.pulled++
			c.Cut = p.timed && p.glued && i == len(p.chunks)-1
			if c.Cut {
				<-ctx.Done()
				p.end = pipeline.EndContext
			}
			if !yield(c) {
				if !c.Cut {
					p.end = pipeline.EndConsumer
				}
				return
			}
			if c.Cut {
				return
			}
		}
		if p.timed {
			<-ctx.Done()
			p.end = pipeline.EndContext
			yield(pipeline.Chunk{Cut: true})
		}
	}
}

func (p *player) Exit() pipeline.Exit {
	e := pipeline.Exit{End: p.end}
	if p.end == pipeline.EndSource {
		e.Code = p.code
	}
	return e
}

func (p *player) Close() error { return nil }

// run collects the input in one way of splitting it.
func (in input) run(c chunking, apart, lines bool) *stages.Collection {
	return in.collect(in.play(c, apart), lines)
}

// collect collects what p plays of the input.
func (in input) collect(p *player, lines bool) *stages.Collection {
	b := pipeline.Bounds{MaxBytes: int64(in.maxBytes), MaxEvents: in.maxEvents}
	if p.timed {
		b.MaxTime = timeBound
	}
	o := stages.CollectOptions{}
	if lines {
		o.Before = (&stages.LineWrapper{MaxBytes: b.MaxBytes, Now: clock}).Apply
	}
	run, err := stages.Collect(context.Background(), p, b, o)
	if err != nil {
		panic(err)
	}
	return run
}

// runs are the runs of the input in every way of splitting it.
func (in input) runs(lines bool) iter.Seq2[string, *stages.Collection] {
	return func(yield func(string, *stages.Collection) bool) {
		for i, c := range chunkings {
			apart := (int(in.seed)+i)%2 == 0
			name := c.name + ", in one buffer"
			if apart {
				name = c.name + ", apart"
			}
			if !yield(name, in.run(c, apart, lines)) {
				return
			}
		}
	}
}

func raws(c *stages.Collection) (out []string) {
	for raw := range c.Events.All() {
		out = append(out, string(raw))
	}
	return out
}
