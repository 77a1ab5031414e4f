package proptest

import (
	"fmt"
	"iter"
	"math/rand"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/leanovate/gopter"

	"github.com/tailrace/tailrace/pipeline"
	"github.com/tailrace/tailrace/stages"
)

// TestLaw_ClosedOutcome: a run ends in exactly one outcome, and its result says the same
// thing in each of its members (rules O1, O6, O8).
func TestLaw_ClosedOutcome(t *testing.T) {
	stops := map[pipeline.Bound]pipeline.StopReason{
		pipeline.NoBound: pipeline.StopEOF, pipeline.BytesBound: pipeline.StopOutputLimit, pipeline.EventsBound: pipeline.StopMaxEvents, pipeline.TimeBound: pipeline.StopTimeout,
	}
	forAll(t, inputs(), func(in input) string {
		for name, got := range in.runs(false) {
			p := stages.PayloadOf(got, "", true, stages.LogLimits{})
			var kinds int
			var fits bool
			switch o := got.Outcome.(type) {
			case pipeline.Complete:
				kinds++
				fits = p.OK && p.Error == nil && p.Log.Cutoff.Bound == pipeline.NoBound && got.Cut.Bound == pipeline.NoBound && got.Exit.Code == 0
			case pipeline.Cutoff:
				kinds++
				fits = p.OK && p.Error == nil && p.Log.Cutoff == o && o == got.Cut && o.Bound != pipeline.NoBound && o.Limit > 0
			case pipeline.Failed:
				kinds++
				fits = !p.OK && p.Error != nil && p.Log.Cutoff.Bound == pipeline.NoBound && o.Evidence != pipeline.NoEvidence &&
					p.Error.Code == stages.CodeUnexpected && p.Error.Reason == stages.ReasonBackendError
			}
			if kinds != 1 || !fits || got.Stop != stops[got.Cut.Bound] {
				return fmt.Sprintf("%s: %v, stop %v, cut %v, payload %+v", name, got.Outcome, got.Stop, got.Cut, p)
			}
		}
		return ""
	})
}

// TestLaw_StopLeavesNothing: when the consumer stops, nothing more is asked of the source
// and no goroutine is left. TestMain finds goroutines; that no process and descriptor of
// a child is left is proved in package source and by the acceptance tests.
func TestLaw_StopLeavesNothing(t *testing.T) {
	forAll(t, inputs(), func(in input) string {
		in.timeAt = -1
		for i, c := range chunkings {
			p := in.play(c, i%2 == 0)
			cap, capture, lines, decoder := &stages.ByteCap{MaxBytes: int64(in.maxBytes)}, &stages.Capture{}, &stages.LineSplitter{}, &stages.Decoder{}
			chain := lines.Apply(capture.Apply(cap.Apply(p.Chunks(t.Context()))))
			stopAt, seen, pulled := 1+int(in.seed)%4, 0, 0
			for range decoder.Apply(chain) {
				if seen++; seen == stopAt {
					pulled = p.pulled
					break
				}
			}
			if seen == stopAt && (p.pulled != pulled || p.end != pipeline.EndConsumer && pulled < len(p.chunks)) {
				return fmt.Sprintf("%s: %d chunks were read after the stop, ended by %v", c.name, p.pulled-pulled, p.end)
			}
		}
		return ""
	})
}

// A flood is a stream that is hostile by its shape: one token again and again.
type flood struct {
	token string
	chunk int
	apart bool
	lines bool
}

func (f flood) String() string {
	return fmt.Sprintf("%+.100q in chunks of %d, apart %v, lines %v", f.token, f.chunk, f.apart, f.lines)
}

func floods() gopter.Gen {
	return func(p *gopter.GenParameters) *gopter.GenResult {
		r := p.Rng
		var text strings.Builder
		for range 1 + r.Intn(3) {
			text.WriteString(tokens(p).Result.(token).text)
		}
		return gopter.NewGenResult(flood{text.String(), 1 << (6 + r.Intn(9)), r.Intn(2) == 0, r.Intn(2) == 0}, gopter.NoShrinker)
	}
}

// TestLaw_Memory: all that a run allocates, and so its peak, is at most a small multiple
// of its byte bound, for a stream of any shape and of several times the bound.
func TestLaw_Memory(t *testing.T) {
	const bound = 64 << 10
	forAll(t, floods(), func(f flood) string {
		in := input{tokens: []token{{text: strings.Repeat(f.token, 3*bound/len(f.token)+1)}}, maxBytes: bound, timeAt: -1}
		p := in.play(chunking{split: func(_ *rand.Rand, _ []byte, n int) bool { return n == f.chunk }}, f.apart)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		got := in.collect(p, f.lines)
		runtime.ReadMemStats(&after)
		done := len(got.Stdout) + len(got.Stderr)
		if spent := after.TotalAlloc - before.TotalAlloc; spent > 12*bound+512<<10 || done > bound {
			return fmt.Sprintf("%d bytes allocated for %d, %d kept", spent, bound, done)
		}
		return ""
	})
}

// TestLaw_StageAlone: a stage keeps its laws in any chain. Stages that pass all on, at any
// place, change nothing, and the stages one by one make the run that Collect makes. What
// each keeps without a chain is proved in package stagetest.
func TestLaw_StageAlone(t *testing.T) {
	forAll(t, inputs(), func(in input) string {
		in.timeAt, in.code = -1, 0
		for i, c := range chunkings {
			want := in.run(c, i%2 == 0, false)
			p := in.play(c, i%2 == 0)
			cap, capture, lines := &stages.ByteCap{MaxBytes: int64(in.maxBytes)}, &stages.Capture{}, &stages.LineSplitter{}
			decoder, counter, failure := &stages.Decoder{}, &stages.EventCounter{MaxEvents: in.maxEvents}, &stages.FailureDetector{}
			chunks := pass(capture.Apply(pass(cap.Apply(pass(p.Chunks(t.Context()))))))
			var again stages.Capture
			events := pass(failure.Apply((&stages.FailureDetector{}).Apply(counter.Apply((&stages.EventCounter{}).Apply(decoder.Apply(pass(lines.Apply(again.Apply(chunks)))))))))
			var got []string
			for e := range events {
				got = append(got, string(e.Raw))
			}
			if counter.Cut() {
				capture.Truncate(pipeline.Stdout, lines.Consumed())
				capture.Truncate(pipeline.Stderr, int64(len(capture.Stderr()))-cap.Flushed(pipeline.Stderr))
			}
			if !slices.Equal(got, raws(want)) || string(capture.Stdout()) != string(want.Stdout) || string(capture.Stderr()) != string(want.Stderr) {
				return fmt.Sprintf("%s: %q %q, together %q %q", c.name, got, capture.Stdout(), raws(want), want.Stdout)
			}
			if cap.Cut() && !counter.Cut() != (want.Cut.Bound == pipeline.BytesBound) || counter.Cut() != (want.Cut.Bound == pipeline.EventsBound) {
				return fmt.Sprintf("%s: cut %v", c.name, want.Cut)
			}
		}
		return ""
	})
}

// pass is a stage that passes all on.
func pass[T any](in iter.Seq[T]) iter.Seq[T] {
	return func(yield func(T) bool) {
		for v := range in {
			if !yield(v) {
				return
			}
		}
	}
}
