package pipeline_test

import (
	"context"
	"errors"
	"iter"
	"testing"
	"testing/synctest"
	"time"

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
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := pipeline.Decide(c.cut, c.seen, c.exit); got != c.want {
				t.Errorf("%v, want %v", got, c.want)
			}
		})
	}
}

// ticking is a source that writes once a second for n seconds.
type ticking struct {
	n    int
	exit pipeline.Exit
}

func (s *ticking) Chunks(ctx context.Context) iter.Seq[pipeline.Chunk] {
	return func(yield func(pipeline.Chunk) bool) {
		for range s.n {
			select {
			case <-time.After(time.Second):
			case <-ctx.Done():
				s.exit.End = pipeline.EndContext
				yield(pipeline.Chunk{Cut: true})
				return
			}
			if !yield(pipeline.Chunk{Data: []byte("x")}) {
				s.exit.End = pipeline.EndConsumer
				return
			}
		}
	}
}

func (s *ticking) Exit() pipeline.Exit { return s.exit }
func (s *ticking) Close() error        { return nil }

func pass(in iter.Seq[pipeline.Chunk]) iter.Seq[pipeline.Chunk] { return in }

func TestO7O8_TimeBound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := 0
		s := pipeline.Run(t.Context(), &ticking{n: 100}, pass, func(pipeline.Chunk) { n++ }, pipeline.Options{MaxTime: 3500 * time.Millisecond})
		if s.Outcome != (pipeline.Cutoff{Bound: pipeline.TimeBound, Limit: 3500}) || s.Stop != pipeline.StopTimeout || n != 4 || s.Elapsed != 3500*time.Millisecond {
			t.Errorf("%+v after %d chunks", s, n)
		}
	})
}

func TestO8_StopReasons(t *testing.T) {
	for _, c := range []struct {
		name  string
		cause error
		want  pipeline.StopReason
	}{{"interrupted", pipeline.ErrInterrupted, pipeline.StopInterrupted}, {"cancelled", nil, pipeline.StopCancelled}} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				time.AfterFunc(1500*time.Millisecond, func() { cancel(c.cause) })
				s := pipeline.Run(ctx, &ticking{n: 100}, pass, func(pipeline.Chunk) {}, pipeline.Options{MaxTime: time.Hour})
				if s.Outcome != (pipeline.Cutoff{Bound: pipeline.InterruptBound}) || s.Stop != c.want {
					t.Errorf("%+v", s)
				}
			})
		})
	}
}

type reporter pipeline.Report

func (r reporter) Report() pipeline.Report { return pipeline.Report(r) }

func TestO9_TheBoundFurthestDownWasReachedFirst(t *testing.T) {
	bytes := reporter{Cut: pipeline.Cutoff{Bound: pipeline.BytesBound, Limit: 9}}
	events := reporter{Cut: pipeline.Cutoff{Bound: pipeline.EventsBound, Limit: 1}}
	s := pipeline.Run(context.Background(), &ticking{}, pass, func(pipeline.Chunk) {}, pipeline.Options{Reporters: []pipeline.Reporter{bytes, events}})
	if s.Cut != events.Cut || s.Stop != pipeline.StopMaxEvents {
		t.Errorf("%+v", s)
	}
}

func TestBounds(t *testing.T) {
	for _, b := range []pipeline.Bounds{{MaxBytes: -1}, {MaxBytes: pipeline.MaxCaptureBytes + 1}, {MaxEvents: -1}, {MaxTime: -1}, {MaxTime: time.Microsecond}} {
		if err := b.Validate(); !errors.Is(err, pipeline.ErrBounds) {
			t.Errorf("%+v: %v", b, err)
		}
	}
	if b := (pipeline.Bounds{}); b.Validate() != nil || b.Bytes() != pipeline.CaptureLimit {
		t.Errorf("the zero value: %v, %d bytes", b.Validate(), b.Bytes())
	}
}

func TestTexts(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{pipeline.Complete{}.String(), "complete"},
		{pipeline.Cutoff{Bound: pipeline.TimeBound, Limit: 5000}.String(), "cut off at time 5000"},
		{pipeline.Failed{Evidence: pipeline.ErrorEvent}.String(), "failed: error event"},
		{pipeline.Stdout.String() + pipeline.Stderr.String(), "stdoutstderr"},
		{pipeline.BytesBound.String() + pipeline.NoBound.String() + pipeline.InterruptBound.String(), "bytesnoneinterrupt"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}
