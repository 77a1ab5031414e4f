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

func TestO8_TheStopReasonOfABound(t *testing.T) {
	for bound, want := range map[pipeline.Bound]pipeline.StopReason{
		pipeline.BytesBound:     pipeline.StopOutputLimit,
		pipeline.EventsBound:    pipeline.StopMaxEvents,
		pipeline.TimeBound:      pipeline.StopTimeout,
		pipeline.InterruptBound: pipeline.StopInterrupted,
	} {
		r := reporter{Cut: pipeline.Cutoff{Bound: bound, Limit: 1}}
		s := pipeline.Run(t.Context(), &ticking{}, pass, func(pipeline.Chunk) {}, pipeline.Options{Reporters: []pipeline.Reporter{r}})
		if s.Stop != want || s.Outcome != r.Cut {
			t.Errorf("%v: %v, %v", bound, s.Stop, s.Outcome)
		}
	}
}

func TestO9_TheBoundFurthestDownWasReachedFirst(t *testing.T) {
	bytes := reporter{Cut: pipeline.Cutoff{Bound: pipeline.BytesBound, Limit: 9}}
	events := reporter{Cut: pipeline.Cutoff{Bound: pipeline.EventsBound, Limit: 1}}
	s := pipeline.Run(context.Background(), &ticking{}, pass, func(pipeline.Chunk) {}, pipeline.Options{Reporters: []pipeline.Reporter{bytes, events}})
	if s.Cut != events.Cut || s.Stop != pipeline.StopMaxEvents {
		t.Errorf("%+v", s)
	}
}

// play is a scripted source: it yields its chunks and then ends with exit.
type play struct {
	chunks []string
	exit   pipeline.Exit
	pulled int
}

func (s *play) Chunks(context.Context) iter.Seq[pipeline.Chunk] {
	return func(yield func(pipeline.Chunk) bool) {
		for _, c := range s.chunks {
			s.pulled++
			if !yield(pipeline.Chunk{Data: []byte(c)}) {
				s.exit = pipeline.Exit{End: pipeline.EndConsumer, Code: 143}
				return
			}
		}
	}
}

func (s *play) Exit() pipeline.Exit { return s.exit }
func (s *play) Close() error        { return nil }

// limit is a stage that stops after n chunks and reports a bound, and evidence for each
// chunk that holds "bad" up to there.
type limit struct {
	n, seen int
	bad     bool
}

func (l *limit) Apply(in iter.Seq[pipeline.Chunk]) iter.Seq[string] {
	return func(yield func(string) bool) {
		for c := range in {
			l.seen++
			l.bad = l.bad || string(c.Data) == "bad"
			if !yield(string(c.Data)) || l.seen == l.n {
				return
			}
		}
	}
}

func (l *limit) Report() pipeline.Report {
	r := pipeline.Report{Stage: "limit"}
	if l.seen == l.n {
		r.Cut = pipeline.Cutoff{Bound: pipeline.EventsBound, Limit: int64(l.n)}
	}
	if l.bad {
		r.Evidence = pipeline.ErrorEvent
	}
	return r
}

func TestRun(t *testing.T) {
	events := pipeline.Cutoff{Bound: pipeline.EventsBound, Limit: 2}
	broken := errors.New("broken")
	for _, c := range []struct {
		name    string
		src     play
		n       int
		outcome pipeline.Outcome
		stop    pipeline.StopReason
		cut     pipeline.Cutoff
		sunk    int
	}{
		{"O1 complete", play{chunks: []string{"a", "b"}}, 9, pipeline.Complete{}, pipeline.StopEOF, pipeline.Cutoff{}, 2},
		{"O1 complete and empty", play{}, 9, pipeline.Complete{}, pipeline.StopEOF, pipeline.Cutoff{}, 0},
		{"O1 cutoff", play{chunks: []string{"a", "b", "c"}}, 2, events, pipeline.StopMaxEvents, events, 2},
		{"O2 evidence", play{chunks: []string{"a", "bad"}}, 9, pipeline.Failed{Evidence: pipeline.ErrorEvent}, pipeline.StopEOF, pipeline.Cutoff{}, 2},
		{"O2 exit", play{chunks: []string{"a"}, exit: pipeline.Exit{Code: 1}}, 9, pipeline.Failed{Evidence: pipeline.BadExit}, pipeline.StopEOF, pipeline.Cutoff{}, 1},
		{"O2 read error", play{chunks: []string{"a"}, exit: pipeline.Exit{Err: broken}}, 9, pipeline.Failed{Evidence: pipeline.BadExit}, pipeline.StopEOF, pipeline.Cutoff{}, 1},
		{"O3 evidence, then the bound", play{chunks: []string{"bad", "b", "c"}}, 2, pipeline.Failed{Evidence: pipeline.ErrorEvent}, pipeline.StopMaxEvents, events, 2},
		{"O5 the bound, then evidence", play{chunks: []string{"a", "b", "bad"}}, 2, events, pipeline.StopMaxEvents, events, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := &limit{n: c.n}
			sunk := 0
			s := pipeline.Run(t.Context(), &c.src, l.Apply, func(string) { sunk++ }, pipeline.Options{Reporters: []pipeline.Reporter{l}})
			if s.Outcome != c.outcome || s.Stop != c.stop || s.Cut != c.cut || sunk != c.sunk || s.Exit != c.src.exit {
				t.Errorf("%v, %v, %+v, %+v after %d; want %v, %v, %+v after %d", s.Outcome, s.Stop, s.Cut, s.Exit, sunk, c.outcome, c.stop, c.cut, c.sunk)
			}
			if c.src.pulled != c.sunk {
				t.Errorf("%d chunks were pulled for %d elements", c.src.pulled, c.sunk)
			}
			if len(s.Reports) != 1 || s.Reports[0] != l.Report() {
				t.Errorf("%+v", s.Reports)
			}
		})
	}
}

// TestO1_ALineThatStopsByItself names no bound. It is a cutoff all the same, and no end of
// the source.
func TestO1_ALineThatStopsByItself(t *testing.T) {
	first := func(in iter.Seq[pipeline.Chunk]) iter.Seq[pipeline.Chunk] {
		return func(yield func(pipeline.Chunk) bool) {
			for c := range in {
				yield(c)
				return
			}
		}
	}
	s := pipeline.Run(t.Context(), &play{chunks: []string{"a", "b"}}, first, func(pipeline.Chunk) {}, pipeline.Options{})
	if s.Outcome != (pipeline.Cutoff{Bound: pipeline.InterruptBound}) || s.Stop != pipeline.StopInterrupted {
		t.Errorf("%v, %v", s.Outcome, s.Stop)
	}
}

// TestO9_ABoundBeforeTheTimeIsOver: the time is over while the run is ended, and the bound
// that came first is the one that is told.
func TestO9_ABoundBeforeTheTimeIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &limit{n: 2}
		slow := func(string) { time.Sleep(3 * time.Second) }
		s := pipeline.Run(t.Context(), &ticking{n: 100}, l.Apply, slow, pipeline.Options{MaxTime: 6 * time.Second, Reporters: []pipeline.Reporter{l}})
		if want := (pipeline.Cutoff{Bound: pipeline.EventsBound, Limit: 2}); s.Outcome != want || s.Stop != pipeline.StopMaxEvents {
			t.Errorf("%+v", s)
		}
	})
}

// TestO8_TheTimeOfTheCallerIsNoTimeBound: only the bound of the run reads as one.
func TestO8_TheTimeOfTheCallerIsNoTimeBound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
		defer cancel()
		s := pipeline.Run(ctx, &ticking{n: 100}, pass, func(pipeline.Chunk) {}, pipeline.Options{MaxTime: time.Hour})
		if s.Outcome != (pipeline.Cutoff{Bound: pipeline.InterruptBound}) || s.Stop != pipeline.StopCancelled {
			t.Errorf("%+v", s)
		}
	})
}

func TestO2_TheFirstEvidenceInTheLineIsTold(t *testing.T) {
	none := reporter{}
	bad := reporter{Evidence: pipeline.EndReason}
	worse := reporter{Evidence: pipeline.ErrorEvent}
	s := pipeline.Run(t.Context(), &play{}, pass, func(pipeline.Chunk) {}, pipeline.Options{Reporters: []pipeline.Reporter{none, bad, worse}})
	if s.Outcome != (pipeline.Failed{Evidence: pipeline.EndReason}) || len(s.Reports) != 3 {
		t.Errorf("%+v", s)
	}
}

func TestLedger(t *testing.T) {
	for _, c := range []struct {
		of   pipeline.Ledger
		want bool
	}{
		{pipeline.Ledger{}, true},
		{pipeline.Ledger{In: 6, Kept: 3, Cut: 2, Dropped: 1}, true},
		{pipeline.Ledger{In: 7, Kept: 3, Cut: 2, Dropped: 1}, false},
		{pipeline.Ledger{In: 5, Kept: 3, Cut: 2, Dropped: 1}, false},
	} {
		if c.of.Balanced() != c.want {
			t.Errorf("ledger-balance: %+v: %v", c.of, !c.want)
		}
	}
}
