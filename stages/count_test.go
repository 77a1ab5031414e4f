package stages_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/tailrace/tailrace/pipeline"
	"github.com/tailrace/tailrace/stages"
)

// TestE6E8_EventCounter: only log events count, the last that the bound allows is passed
// on, and nothing is asked for behind it.
func TestE6E8_EventCounter(t *testing.T) {
	kinds := []stages.Kind{stages.KindStart, stages.KindLog, stages.KindHeartbeat, stages.KindOther, stages.KindLog, stages.KindError, stages.KindEnd, stages.KindLog}
	var in []stages.Event
	for _, k := range kinds {
		in = append(in, stages.Event{Raw: []byte("{}"), Kind: k})
	}
	for _, c := range []struct {
		max, passed, logs int
		cut               bool
	}{{0, 8, 3, false}, {1, 2, 1, true}, {2, 5, 2, true}, {3, 8, 3, true}, {4, 8, 3, false}} {
		pulled := 0
		counter := &stages.EventCounter{MaxEvents: c.max}
		got := slices.Collect(counter.Apply(counted(in, &pulled)))
		if len(got) != c.passed || pulled != c.passed || counter.Logs() != c.logs || counter.Cut() != c.cut {
			t.Errorf("at most %d: %d passed, %d asked for, %d logs, cut %v", c.max, len(got), pulled, counter.Logs(), counter.Cut())
		}
		balanced(t, counter, int64(2*c.passed))
		want := pipeline.Cutoff{}
		if c.cut {
			want = pipeline.Cutoff{Bound: pipeline.EventsBound, Limit: int64(c.max)}
		}
		if counter.Report().Cut != want {
			t.Errorf("at most %d: report %+v", c.max, counter.Report())
		}
	}
}

func ExampleEventCounter() {
	events := []stages.Event{{Kind: stages.KindStart}, {Kind: stages.KindLog}, {Kind: stages.KindLog}}
	c := &stages.EventCounter{MaxEvents: 1}
	fmt.Println(len(slices.Collect(c.Apply(slices.Values(events)))), c.Cut())
	// Output: 2 true
}
