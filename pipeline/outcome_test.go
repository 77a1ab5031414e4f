package pipeline_test

import (
	"errors"
	"testing"

	"github.com/tailrace/tailrace/pipeline"
)

func TestDecide(t *testing.T) {
	events := pipeline.Cutoff{Bound: pipeline.EventsBound, Limit: 3}
	for _, c := range []struct {
		name string
		cut  pipeline.Cutoff
		seen pipeline.Evidence
		exit pipeline.Exit
		want pipeline.Outcome
	}{
		{"O1 complete", pipeline.Cutoff{}, 0, pipeline.Exit{}, pipeline.Complete{}},
		{"O1 cutoff", events, 0, pipeline.Exit{End: pipeline.EndConsumer, Code: 143}, events},
		{"O2 evidence", pipeline.Cutoff{}, pipeline.ErrorEvent, pipeline.Exit{}, pipeline.Failed{Evidence: pipeline.ErrorEvent}},
		{"O2 exit", pipeline.Cutoff{}, 0, pipeline.Exit{Code: 1}, pipeline.Failed{Evidence: pipeline.BadExit}},
		{"O2 read error", pipeline.Cutoff{}, 0, pipeline.Exit{Err: errors.New("x")}, pipeline.Failed{Evidence: pipeline.BadExit}},
		{"O2 evidence before a bound", events, pipeline.EndReason, pipeline.Exit{End: pipeline.EndConsumer}, pipeline.Failed{Evidence: pipeline.EndReason}},
		{"O3 exit in answer to the stop", pipeline.Cutoff{}, 0, pipeline.Exit{End: pipeline.EndContext, Code: 1}, pipeline.Cutoff{Bound: pipeline.InterruptBound}},
		{"O2 exit before a bound that the end completed", events, 0, pipeline.Exit{Code: 1}, pipeline.Failed{Evidence: pipeline.BadExit}},
		{"E8 a bound at the very end", events, 0, pipeline.Exit{}, events},
		{"O3 a signal in answer to the stop", events, 0, pipeline.Exit{End: pipeline.EndConsumer, Code: 137, Err: errors.New("x")}, events},
		{"O4 evidence in the prefix that was kept", pipeline.Cutoff{Bound: pipeline.BytesBound, Limit: 9}, pipeline.ErrorEvent, pipeline.Exit{End: pipeline.EndConsumer}, pipeline.Failed{Evidence: pipeline.ErrorEvent}},
		{"O2 evidence before the exit", pipeline.Cutoff{}, pipeline.ErrorEvent, pipeline.Exit{Code: 1}, pipeline.Failed{Evidence: pipeline.ErrorEvent}},
		{"O1 a line that stops without a bound", pipeline.Cutoff{}, 0, pipeline.Exit{End: pipeline.EndConsumer}, pipeline.Cutoff{Bound: pipeline.InterruptBound}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := pipeline.Decide(c.cut, c.seen, c.exit); got != c.want {
				t.Errorf("%v, want %v", got, c.want)
			}
		})
	}
}

func TestTexts(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{pipeline.Complete{}.String(), "complete"},
		{pipeline.Cutoff{Bound: pipeline.TimeBound, Limit: 5000}.String(), "cut off at time 5000"},
		{pipeline.Failed{Evidence: pipeline.ErrorEvent}.String(), "failed: error event"},
		{pipeline.Stdout.String() + pipeline.Stderr.String(), "stdoutstderr"},
		{pipeline.Failed{Evidence: pipeline.EndReason}.String(), "failed: end reason"},
		{pipeline.Failed{Evidence: pipeline.BadExit}.String(), "failed: exit status"},
		{pipeline.NoEvidence.String() + pipeline.EventsBound.String(), "noneevents"},
		{pipeline.BytesBound.String() + pipeline.NoBound.String() + pipeline.InterruptBound.String(), "bytesnoneinterrupt"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}
