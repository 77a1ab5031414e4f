package proptest

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/tailrace/tailrace/pipeline"
	"github.com/tailrace/tailrace/stages"
)

const timeBound = 1500 * time.Millisecond

func clock() time.Time { return time.UnixMilli(5) }

// reference is what the naive reference says of the input.
func (in input) reference() Run {
	pieces, timed := in.pieces()
	return Collect(pieces, Limits{Bytes: in.maxBytes, Events: in.maxEvents, TimeOver: timed, ExitCode: in.code})
}

// all is what the reference says of the whole input without any bound.
func (in input) all() Run {
	in.maxBytes, in.maxEvents, in.timeAt = in.size()+1, 0, -1
	return in.reference()
}

// outcome spells an outcome with its limit.
func (in input) outcome(r Run) string {
	switch {
	case r.Failed:
		return "failed"
	case r.Bound == "bytes":
		return fmt.Sprint("bytes ", in.maxBytes)
	case r.Bound == "events":
		return fmt.Sprint("events ", in.maxEvents)
	case r.Bound == "time":
		return fmt.Sprint("time ", timeBound.Milliseconds())
	}
	return "complete"
}

func spell(o pipeline.Outcome) string {
	switch o := o.(type) {
	case pipeline.Failed:
		return "failed"
	case pipeline.Cutoff:
		return fmt.Sprint(o.Bound, " ", o.Limit)
	case pipeline.Complete:
		return "complete"
	}
	return "no outcome"
}

// TestReference_Collect holds every run against the naive reference: rules C1, C3, C5,
// C6, E1-E8, O1-O5, O7-O9.
func TestReference_Collect(t *testing.T) {
	stops := map[string]pipeline.StopReason{"": pipeline.StopEOF, "bytes": pipeline.StopOutputLimit, "events": pipeline.StopMaxEvents, "time": pipeline.StopTimeout}
	forAll(t, inputs(), func(in input) string {
		want := in.reference()
		for name, got := range in.runs(false) {
			switch {
			case spell(got.Outcome) != in.outcome(want):
				return fmt.Sprintf("O1: %s: %s, want %s", name, spell(got.Outcome), in.outcome(want))
			case got.Stop != stops[want.Bound]:
				return fmt.Sprintf("O8: %s: %s, want %s", name, got.Stop, stops[want.Bound])
			case got.Truncated != (want.Bound == "bytes"):
				return fmt.Sprintf("C5: %s: truncated %v", name, got.Truncated)
			case !bytes.Equal(got.Stdout, want.Stdout):
				return fmt.Sprintf("C6: %s: stdout %q, want %q", name, got.Stdout, want.Stdout)
			case !bytes.Equal(got.Stderr, want.Stderr):
				return fmt.Sprintf("C1: %s: stderr %q, want %q", name, got.Stderr, want.Stderr)
			case !slices.Equal(raws(got), want.Events):
				return fmt.Sprintf("E4: %s: events %q, want %q", name, raws(got), want.Events)
			case got.Events.Len() != len(want.Events):
				return fmt.Sprintf("E7: %s: %d events, want %d", name, got.Events.Len(), len(want.Events))
			}
		}
		return ""
	})
}

// TestLaw_ChunkInvariance: splitting the same bytes differently changes nothing, with and
// without the line wrapper.
func TestLaw_ChunkInvariance(t *testing.T) {
	forAll(t, inputs(), func(in input) string {
		for _, lines := range []bool{false, true} {
			var first *stages.Collection
			for name, got := range in.runs(lines) {
				if first == nil {
					first = got
				}
				if diff := differ(first, got); diff != "" {
					return fmt.Sprintf("lines %v, %s: %s", lines, name, diff)
				}
			}
		}
		return ""
	})
}

func differ(a, b *stages.Collection) string {
	switch {
	case !reflect.DeepEqual(a.Outcome, b.Outcome) || a.Stop != b.Stop || a.Cut != b.Cut || a.Truncated != b.Truncated:
		return fmt.Sprintf("%v, %v, and %v, %v", a.Outcome, a.Stop, b.Outcome, b.Stop)
	case !bytes.Equal(a.Stdout, b.Stdout) || !bytes.Equal(a.Stderr, b.Stderr):
		return fmt.Sprintf("%q %q, and %q %q", a.Stdout, a.Stderr, b.Stdout, b.Stderr)
	case !slices.Equal(raws(a), raws(b)):
		return fmt.Sprintf("%q, and %q", raws(a), raws(b))
	}
	return ""
}

// TestLaw_CodePoint: where a run was cut, what a reader sees of a stream is the beginning
// of what it sees of the whole stream: no code point is in two halves.
func TestLaw_CodePoint(t *testing.T) {
	forAll(t, inputs(), func(in input) string {
		whole := in.all()
		for name, got := range in.runs(false) {
			for i, kept := range [][]byte{got.Stdout, got.Stderr} {
				all := [][]byte{whole.Stdout, whole.Stderr}[i]
				if got.Cut.Bound == pipeline.NoBound {
					continue
				}
				if !bytes.HasPrefix(decode(all), decode(kept)) {
					return fmt.Sprintf("%s: %q of %q", name, kept, all)
				}
			}
		}
		return ""
	})
}

// TestLaw_WholeEventPrefix: what is returned is a prefix of what was written, and its
// events are the first of all events, each whole.
func TestLaw_WholeEventPrefix(t *testing.T) {
	forAll(t, inputs(), func(in input) string {
		whole := in.all()
		for name, got := range in.runs(false) {
			events := raws(got)
			if !bytes.HasPrefix(whole.Stdout, got.Stdout) || !bytes.HasPrefix(whole.Stderr, got.Stderr) {
				return fmt.Sprintf("%s: %q and %q are no prefixes", name, got.Stdout, got.Stderr)
			}
			if len(events) > len(whole.Events) || !slices.Equal(events, whole.Events[:len(events)]) {
				return fmt.Sprintf("%s: %q is no prefix of %q", name, events, whole.Events)
			}
		}
		return ""
	})
}

// TestLaw_FailureLatch: evidence of a failure that was kept is never taken back, whatever
// is written behind it and whatever bound is met there.
func TestLaw_FailureLatch(t *testing.T) {
	forAll(t, inputs(), func(in input) string {
		first := in
		first.maxEvents, first.timeAt, first.code = 0, -1, 0
		first.maxBytes = first.size() + 1
		half := first
		half.tokens = append(slices.Clone(in.tokens[:len(in.tokens)/2]), token{text: "\n"})
		half.maxBytes = half.size() + 1
		evidence := half.reference().Failed
		if !evidence {
			return ""
		}
		rest := append(slices.Clone(half.tokens), in.tokens[len(in.tokens)/2:]...)
		for _, after := range []input{
			{tokens: rest, maxBytes: first.size() + 2, timeAt: -1},
			{tokens: rest, maxBytes: first.size() + 2, timeAt: -1, code: 3},
			{tokens: rest, maxBytes: half.size(), timeAt: -1},
			{tokens: rest, maxBytes: first.size() + 2, timeAt: half.size()},
		} {
			after.seed = in.seed
			for name, got := range after.runs(false) {
				o, failed := got.Outcome.(pipeline.Failed)
				if !failed || o.Evidence == pipeline.BadExit {
					return fmt.Sprintf("%v: %s: %v", after, name, got.Outcome)
				}
			}
		}
		return ""
	})
}

// TestLaw_LedgerBalance: bytes in = kept + cut + dropped, for each stage of every run, and
// what one stage kept is what the next was given.
func TestLaw_LedgerBalance(t *testing.T) {
	forAll(t, inputs(), func(in input) string {
		for name, got := range in.runs(false) {
			for _, r := range got.Reports {
				if l := r.Ledger; !l.Balanced() || min(l.In, l.Kept, l.Cut, l.Dropped) < 0 {
					return fmt.Sprintf("%s: %s: %+v", name, r.Stage, l)
				}
			}
			cap, capture, lines, decoder := got.Reports[0].Ledger, got.Reports[1].Ledger, got.Reports[2].Ledger, got.Reports[3].Ledger
			switch {
			case capture.In != cap.Kept:
				return fmt.Sprintf("%s: the capture was given %d of %d bytes", name, capture.In, cap.Kept)
			case capture.Kept != int64(len(got.Stdout)+len(got.Stderr)):
				return fmt.Sprintf("%s: the capture kept %d bytes of %d", name, capture.Kept, len(got.Stdout)+len(got.Stderr))
			case decoder.In != lines.Kept:
				return fmt.Sprintf("%s: the decoder was given %d of %d bytes", name, decoder.In, lines.Kept)
			}
			for _, r := range got.Reports[4:] {
				if r.Ledger.In != r.Ledger.Kept {
					return fmt.Sprintf("%s: %s: %+v", name, r.Stage, r.Ledger)
				}
			}
		}
		return ""
	})
}
