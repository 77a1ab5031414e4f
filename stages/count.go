package stages

import (
	"iter"

	"github.com/tailrace/tailrace/pipeline"
)

// An EventCounter stops a run at its MaxEvents-th event of type log: that one is passed
// on and is the last. Events of other kinds pass and do not count.
//
// The zero value counts and never stops. An EventCounter serves one run.
type EventCounter struct {
	// MaxEvents is the bound in events of type log. 0 means none.
	MaxEvents int

	logs  int
	bytes int64
	cut   bool
}

// Apply is the stage.
func (c *EventCounter) Apply(in iter.Seq[Event]) iter.Seq[Event] {
	return func(yield func(Event) bool) {
		for e := range in {
			c.bytes += int64(len(e.Raw))
			if e.Kind == KindLog {
				c.logs++
				c.cut = c.logs == c.MaxEvents
			}
			if !yield(e) || c.cut {
				return
			}
		}
	}
}

// Logs returns how many events of type log have passed.
func (c *EventCounter) Logs() int { return c.logs }

// Cut says whether the counter has stopped the run.
func (c *EventCounter) Cut() bool { return c.cut }

// Report says what passed, after the run.
func (c *EventCounter) Report() pipeline.Report {
	r := pipeline.Report{Stage: "event counter", Ledger: pipeline.Ledger{In: c.bytes, Kept: c.bytes}}
	if c.cut {
		r.Cut = pipeline.Cutoff{Bound: pipeline.EventsBound, Limit: int64(c.MaxEvents)}
	}
	return r
}
