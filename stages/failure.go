package stages

import (
	"iter"

	"github.com/tailrace/tailrace/pipeline"
)

// A FailureDetector looks for evidence that the backend failed: an error event, or an
// end event with a reason other than eof or closed. Every event is passed on. The first
// evidence stays.
//
// The zero value is ready. A FailureDetector serves one run.
type FailureDetector struct {
	seen  pipeline.Evidence
	bytes int64
}

// Apply is the stage.
func (f *FailureDetector) Apply(in iter.Seq[Event]) iter.Seq[Event] {
	return func(yield func(Event) bool) {
		for e := range in {
			f.bytes += int64(len(e.Raw))
			if f.seen == pipeline.NoEvidence {
				switch {
				case e.Kind == KindError:
					f.seen = pipeline.ErrorEvent
				case e.Kind == KindEnd && e.Reason == ReasonOther:
					f.seen = pipeline.EndReason
				}
			}
			if !yield(e) {
				return
			}
		}
	}
}

// Evidence returns the first evidence that was seen.
func (f *FailureDetector) Evidence() pipeline.Evidence { return f.seen }

// Report says what was seen, after the run.
func (f *FailureDetector) Report() pipeline.Report {
	return pipeline.Report{Stage: "failure detector", Evidence: f.seen, Ledger: pipeline.Ledger{In: f.bytes, Kept: f.bytes}}
}
