package stagetest

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/tailrace/tailrace/pipeline"
	"github.com/tailrace/tailrace/stages"
)

func validUTF8(b []byte) bool { return utf8.Valid(b) }

// textOf is what an element says.
func textOf[Out any](v Out) string {
	switch v := any(v).(type) {
	case pipeline.Chunk:
		return string(v.Data)
	case stages.Line:
		return string(v.Data)
	case stages.Event:
		return string(v.Raw)
	case []byte:
		return string(v)
	case string:
		return v
	}
	return fmt.Sprintf("%v", v)
}

// A checker holds one stage against the laws.
type checker[Out any] struct {
	fresh   func() Subject[Out]
	text    func(Out) string
	summary bool

	found  map[string]bool
	errs   []error
	before int // goroutines at the beginning
}

// broken notes a violation, the first of each law.
func (c *checker[Out]) broken(law, input, format string, args ...any) {
	if !c.found[law] {
		c.found[law] = true
		c.errs = append(c.errs, &Violation{Law: law, Input: input, Detail: fmt.Sprintf(format, args...)})
	}
}

// A result is what a run yielded.
type result struct {
	texts []string
	// streams are the bytes of both streams, where the elements are chunks.
	streams [2]string
	chunks  bool
	cut     bool // the last chunk was the cut
	all     bool // the stage read all of its input
}

// run runs a fresh stage over the stream. It stops after stop elements where that is
// above 0.
func (c *checker[Out]) run(s stream, how splitting, end cutting, stop int) (r result) {
	input := fmt.Sprintf("%s, %s", s.name, how.name)
	if c.before == 0 {
		c.before = runtime.NumGoroutine()
	}
	subject := c.fresh()
	p := s.play(how, end)
	var kept []Out
	stopped := false
	afterStop := 0
	_, r.chunks = any(*new(Out)).(pipeline.Chunk)
	subject.Stage(p.seq)(func(v Out) bool {
		if stopped {
			c.broken(LawStop, input, "it yields an element after its consumer stopped at element %d", stop)
			return false
		}
		kept = append(kept, v)
		r.texts = append(r.texts, c.text(v))
		if chunk, ok := any(v).(pipeline.Chunk); ok {
			if r.cut {
				c.broken(LawPrefix, input, "it yields a chunk behind the one that is marked as the cut")
			}
			if len(chunk.Data) == 0 && !chunk.Cut {
				c.broken(LawZero, input, "it yields a chunk with no bytes that is no cut")
			}
			r.streams[chunk.Stream&1] += string(chunk.Data)
			r.cut = chunk.Cut
		}
		if len(kept) == stop {
			stopped, afterStop = true, p.pulled
			return false
		}
		return true
	})
	r.all = p.pulled == len(p.chunks)
	switch {
	case stopped && p.pulled > afterStop:
		c.broken(LawStop, input, "it reads %d more chunks after its consumer stopped at element %d", p.pulled-afterStop, stop)
	case p.late > 0:
		c.broken(LawStop, input, "it starts its input again after it had ended the loop over it")
	}
	for i, v := range kept {
		if c.text(v) != r.texts[i] {
			c.broken(LawMemory, input, "element %d changed after it was yielded", i)
		}
	}
	if p.written() {
		c.broken(LawMemory, input, "it writes to the memory of its input")
	}
	if subject.Reporter != nil {
		if l := subject.Reporter.Report().Ledger; !l.Balanced() || min(l.In, l.Kept, l.Cut, l.Dropped) < 0 {
			c.broken(LawLedger, input, "%d bytes in, %d kept, %d cut, %d dropped", l.In, l.Kept, l.Cut, l.Dropped)
		}
	}
	if r.chunks && !stopped && !r.cut && !r.all {
		c.broken(LawPrefix, input, "it stops before the end of its input and marks no chunk as the cut")
	}
	return r
}

// stream holds one stream against all laws.
func (c *checker[Out]) stream(s stream) {
	whole := c.run(s, splittings[0], natural, 0)
	c.utf8(s, s.name, whole)
	for _, how := range splittings {
		c.same(s, how, natural, whole)
	}
	for stop := 1; stop <= min(len(whole.texts), 4); stop++ {
		for _, how := range []splitting{splittings[0], splittings[3]} {
			c.run(s, how, natural, stop)
		}
	}
	for _, cut := range cuts(s) {
		first := c.run(cut, splittings[0], cutAlone, 0)
		for _, how := range splittings {
			c.same(cut, how, cutAlone, first)
			c.same(cut, how, cutGlued, first)
		}
		c.utf8(cut, cut.name, first)
		c.prefix(cut, first, whole)
	}
}

// cuts are the stream cut behind some of its pieces, and inside some.
func cuts(s stream) (out []stream) {
	for i, p := range s.pieces {
		out = append(out, s.upTo(i+1))
		if n := len(p.Data); n > 1 {
			out = append(out, s.inside(i, n-1), s.inside(i, n/2))
		}
		if len(out) > 4 {
			break
		}
	}
	return out
}

// same holds a run in another splitting against the first.
func (c *checker[Out]) same(s stream, how splitting, end cutting, want result) {
	got := c.run(s, how, end, 0)
	input := fmt.Sprintf("%s, %s", s.name, how.name)
	switch {
	case got.chunks && (got.streams != want.streams || got.cut != want.cut):
		c.broken(LawChunkInvariance, input, "it yields %+.200q, cut %v; of the whole %+.200q, cut %v", got.streams, got.cut, want.streams, want.cut)
	case !got.chunks && !slices.Equal(got.texts, want.texts):
		c.broken(LawChunkInvariance, input, "it yields %+.200q; of the whole %+.200q", got.texts, want.texts)
	}
}

// utf8 looks for code points in two halves.
func (c *checker[Out]) utf8(s stream, input string, r result) {
	if !s.valid {
		return
	}
	texts := r.texts
	if r.chunks {
		texts = r.streams[:]
	}
	for _, text := range texts {
		if !utf8.ValidString(text) {
			c.broken(LawCodePoint, input, "it yields %+.200q of valid UTF-8", text)
		}
	}
}

// prefix holds what is yielded of a cut stream against that of the whole.
func (c *checker[Out]) prefix(cut stream, got, whole result) {
	if got.chunks && !got.cut {
		c.broken(LawPrefix, cut.name, "its input was cut, and it marks no chunk as the cut")
	}
	switch {
	case c.summary:
	case got.chunks:
		for i := range got.streams {
			if !strings.HasPrefix(whole.streams[i], got.streams[i]) {
				c.broken(LawPrefix, cut.name, "of the cut stream it yields %+.200q, of the whole %+.200q", got.streams[i], whole.streams[i])
			}
		}
	case len(got.texts) > len(whole.texts) || !slices.Equal(got.texts, whole.texts[:len(got.texts)]):
		c.broken(LawPrefix, cut.name, "of the cut stream it yields %+.200q, of the whole %+.200q", got.texts, whole.texts)
	}
}

// goroutines waits until those that runs started have ended.
func (c *checker[Out]) goroutines() {
	for deadline := time.Now().Add(2 * time.Second); runtime.NumGoroutine() > c.before; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			c.broken(LawStop, "all", "%d goroutines are left", runtime.NumGoroutine()-c.before)
			return
		}
	}
}

// OfLines is a subject of a stage that reads lines: the lines of stdout are put before it.
func OfLines[Out any](stage pipeline.Stage[stages.Line, Out], r pipeline.Reporter) Subject[Out] {
	lines := &stages.LineSplitter{}
	return Subject[Out]{Stage: pipeline.Then[pipeline.Chunk, stages.Line, Out](lines.Apply, stage), Reporter: r}
}

// OfEvents is a subject of a stage that reads events: the events of stdout are put before
// it.
func OfEvents[Out any](stage pipeline.Stage[stages.Event, Out], r pipeline.Reporter) Subject[Out] {
	decoder := &stages.Decoder{}
	return OfLines(pipeline.Then[stages.Line, stages.Event, Out](decoder.Apply, stage), r)
}
