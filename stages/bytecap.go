package stages

import (
	"iter"

	"github.com/tailrace/tailrace/internal/utf8cut"
	"github.com/tailrace/tailrace/pipeline"
)

// A ByteCap bounds the raw bytes of both streams together, in the order in which they
// are read. Output of exactly MaxBytes passes whole; the first byte over it is the cut.
//
// Wherever a run is stopped, by this stage or by another, what the cap has passed on
// ends on a code-point boundary in both streams: it holds back the bytes of a code point
// that is not whole yet, and drops them at a cut. At a natural end they are passed on,
// since they were really written.
//
// The zero value bounds at [pipeline.CaptureLimit]. A ByteCap serves one run.
type ByteCap struct {
	// MaxBytes is the bound in bytes. 0 means [pipeline.CaptureLimit].
	MaxBytes int64

	in, passed int64
	cut        bool
	// held are the bytes of an unfinished code point, by stream: 0 to 3 bytes that lie
	// where the source put them.
	held [2][]byte
	// flushed is how many of them were passed on at a natural end, by stream.
	flushed [2]int64
}

// Apply is the stage.
func (c *ByteCap) Apply(in iter.Seq[pipeline.Chunk]) iter.Seq[pipeline.Chunk] {
	return func(yield func(pipeline.Chunk) bool) {
		limit := c.limit()
		for chunk := range in {
			room := limit - c.in
			c.in += int64(len(chunk.Data))
			if int64(len(chunk.Data)) > room {
				chunk.Data, chunk.Cut, c.cut = chunk.Data[:room], true, true
			}
			last := chunk.Cut
			if !c.pass(chunk, yield) || last {
				return
			}
		}
		for s, held := range c.held {
			if len(held) > 0 {
				c.held[s], c.flushed[s] = nil, int64(len(held))
				c.passed += int64(len(held))
				if !yield(pipeline.Chunk{Stream: pipeline.Stream(s), Data: held}) {
					return
				}
			}
		}
	}
}

func (c *ByteCap) limit() int64 { return pipeline.Bounds{MaxBytes: c.MaxBytes}.Bytes() }

// pass yields what is whole of the chunk, with what was held back before it.
func (c *ByteCap) pass(chunk pipeline.Chunk, yield func(pipeline.Chunk) bool) bool {
	held := &c.held[chunk.Stream&1]
	data := chunk.Data
	if len(*held) > 0 && len(data) > 0 {
		if joined, ok := adjacent(*held, data); ok {
			data = joined
		} else {
			// The code point lies in two places: only its bytes are copied, the rest stays.
			n := min(len(data), 3)
			joint := append(append(make([]byte, 0, 6), *held...), data[:n]...)
			whole := utf8cut.Complete(joint)
			if n == len(data) {
				data = joint
			} else {
				// Three more bytes complete or refute any code point; what remains begins in data.
				taken := max(whole-len(*held), 0)
				*held = nil
				c.passed += int64(whole)
				if !yield(pipeline.Chunk{Stream: chunk.Stream, Data: joint[:whole:whole]}) {
					return false
				}
				data = data[taken:]
			}
		}
		*held = nil
	} else if len(data) == 0 {
		data = nil
		if !chunk.Cut {
			return true
		}
		return yield(pipeline.Chunk{Stream: chunk.Stream, Cut: true})
	}
	whole := utf8cut.Complete(data)
	*held = data[whole:]
	if whole == 0 && !chunk.Cut {
		return true
	}
	c.passed += int64(whole)
	return yield(pipeline.Chunk{Stream: chunk.Stream, Data: data[:whole], Cut: chunk.Cut})
}

// Cut says whether the cap has stopped the run.
func (c *ByteCap) Cut() bool { return c.cut }

// Flushed says how many bytes of a stream, 0 to 3, begin a code point that the natural end
// left unfinished. A stage further down that reaches its bound on what the end completes
// (see [LineSplitter]) has stopped the run before them: rule C3.
func (c *ByteCap) Flushed(s pipeline.Stream) int64 { return c.flushed[s&1] }

// Report says what the cap kept and cut, after the run.
func (c *ByteCap) Report() pipeline.Report {
	r := pipeline.Report{Stage: "byte cap", Ledger: pipeline.Ledger{In: c.in, Kept: c.passed, Cut: c.in - c.passed}}
	if c.cut {
		r.Cut = pipeline.Cutoff{Bound: pipeline.BytesBound, Limit: c.limit()}
	}
	return r
}
