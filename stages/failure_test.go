package stages_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/tailrace/tailrace/pipeline"
	"github.com/tailrace/tailrace/stages"
)

// TestO2_FailureDetector: what is evidence, and that the first stays.
func TestO2_FailureDetector(t *testing.T) {
	log := stages.Event{Raw: []byte("{}"), Kind: stages.KindLog, Reason: stages.ReasonOther}
	failed, bare := stages.Event{Kind: stages.KindError}, stages.Event{Kind: stages.KindEnd}
	clean, bad := stages.Event{Kind: stages.KindEnd, Reason: stages.ReasonClean}, stages.Event{Kind: stages.KindEnd, Reason: stages.ReasonOther}
	for _, c := range []struct {
		name string
		in   []stages.Event
		want pipeline.Evidence
	}{
		{"nothing", nil, pipeline.NoEvidence},
		{"a reason of another kind", []stages.Event{log}, pipeline.NoEvidence},
		{"an end without a reason", []stages.Event{log, bare}, pipeline.NoEvidence},
		{"a clean end", []stages.Event{log, clean}, pipeline.NoEvidence},
		{"an error", []stages.Event{log, failed, log}, pipeline.ErrorEvent},
		{"an end with another reason", []stages.Event{bad, log}, pipeline.EndReason},
		{"failure-latch", []stages.Event{bare, bad, failed, clean, log}, pipeline.EndReason},
		{"failure-latch, the other way", []stages.Event{failed, bad, clean}, pipeline.ErrorEvent},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := &stages.FailureDetector{}
			got := slices.Collect(f.Apply(slices.Values(c.in)))
			if len(got) != len(c.in) || f.Evidence() != c.want || f.Report().Evidence != c.want {
				t.Errorf("%d passed, evidence %v", len(got), f.Evidence())
			}
			var size int64
			for _, e := range c.in {
				size += int64(len(e.Raw))
			}
			balanced(t, f, size)
		})
	}
}

func ExampleFailureDetector() {
	f := &stages.FailureDetector{}
	for range f.Apply(slices.Values([]stages.Event{{Kind: stages.KindError}, {Kind: stages.KindLog}})) {
	}
	fmt.Println(f.Evidence())
	// Output: error event
}
