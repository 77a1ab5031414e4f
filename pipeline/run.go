package pipeline

import (
	"context"
	"errors"
	"time"
)

// ErrInterrupted is the cause to cancel the context of a run with when the process
// itself is being ended. Any other cause reads as a cancelled call.
var ErrInterrupted = errors.New("interrupted")

// errTime is the cause of a context that the time bound ended.
var errTime = errors.New("time bound reached")

// A Report is what one stage learned in a run.
type Report struct {
	// Stage is the name of the stage.
	Stage string
	// Cut is the bound that the stage stopped the run at; its Bound is NoBound if it did not.
	Cut Cutoff
	// Evidence is what the stage saw of a failure.
	Evidence Evidence
	// Ledger says where the bytes went.
	Ledger Ledger
}

// A Ledger accounts for the bytes that a stage was given: In = Kept + Cut + Dropped.
type Ledger struct {
	// In counts the bytes that came in.
	In int64
	// Kept counts the bytes that were passed on.
	Kept int64
	// Cut counts the bytes that a bound or a stop took away.
	Cut int64
	// Dropped counts the bytes that are no part of the output by the nature of the
	// stage: line ends, lines that are no events, white space around them.
	Dropped int64
}

// Balanced says whether the ledger adds up.
func (l Ledger) Balanced() bool { return l.In == l.Kept+l.Cut+l.Dropped }

// A Reporter is a stage that learned something. Its report is read after the run.
type Reporter interface {
	Report() Report
}

// Options are the settings of [Run]. The zero value sets no time bound and asks no stage.
type Options struct {
	// MaxTime is the time bound. 0 means none.
	MaxTime time.Duration
	// Reporters are the stages of the line, in its order.
	Reporters []Reporter
}

// A Summary is what is known after a run.
type Summary struct {
	// Outcome is how the run ended.
	Outcome Outcome
	// Stop is why collection stopped.
	Stop StopReason
	// Cut is the bound that stopped the run, also where evidence made the outcome a
	// failure; its Bound is NoBound where nothing did.
	Cut Cutoff
	// Exit is how the source ended.
	Exit Exit
	// Elapsed is how long the run took.
	Elapsed time.Duration
	// Reports are those of the stages, in their order.
	Reports []Report
}

// Run drives src through stage, hands each element to sink, and says how it ended. It
// returns when the loop over the source is over; it does not close the source. A done
// ctx ends the run as interrupted or cancelled, by its cause.
func Run[T any](ctx context.Context, src Source, stage Stage[Chunk, T], sink func(T), o Options) Summary {
	started := time.Now()
	if o.MaxTime > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, o.MaxTime, errTime)
		defer cancel()
	}
	for v := range stage(src.Chunks(ctx)) {
		sink(v)
	}
	s := Summary{Exit: src.Exit(), Stop: StopEOF}
	var seen Evidence
	for _, r := range o.Reporters {
		report := r.Report()
		s.Reports = append(s.Reports, report)
		if report.Cut.Bound != NoBound {
			// A stage further down stopped inside what the ones before it let through, so
			// its bound was reached first, however the bytes were split into chunks.
			s.Cut = report.Cut
		}
		if seen == NoEvidence {
			seen = report.Evidence
		}
	}
	switch {
	case s.Cut.Bound != NoBound:
		s.Stop = stopReason(s.Cut.Bound)
	case s.Exit.End == EndContext:
		s.Cut, s.Stop = contextCut(context.Cause(ctx), o.MaxTime)
	case s.Exit.End == EndConsumer:
		// The line stopped without a bound of its own, so its end is not that of the source.
		s.Stop = StopInterrupted
	}
	s.Outcome = Decide(s.Cut, seen, s.Exit)
	s.Elapsed = time.Since(started)
	return s
}

// Decide makes the one outcome of a run from what is known of it: the bound that
// stopped it, the evidence that was read before the stop, and how the source ended.
// Evidence comes first, since it was written before anybody stopped the source. So does
// the exit status of a source that ended by itself, even where its last line, which only
// the end completed, was the last that a bound allowed.
func Decide(cut Cutoff, seen Evidence, exit Exit) Outcome {
	switch {
	case seen != NoEvidence:
		return Failed{Evidence: seen}
	case exit.Failed():
		return Failed{Evidence: BadExit}
	case cut.Bound != NoBound:
		return cut
	case exit.End != EndSource:
		// The consumer of the line stopped by itself; no stage named a bound for it.
		return Cutoff{Bound: InterruptBound}
	}
	return Complete{}
}

func contextCut(cause error, maxTime time.Duration) (Cutoff, StopReason) {
	switch {
	case errors.Is(cause, errTime):
		return Cutoff{Bound: TimeBound, Limit: maxTime.Milliseconds()}, StopTimeout
	case errors.Is(cause, ErrInterrupted):
		return Cutoff{Bound: InterruptBound}, StopInterrupted
	}
	return Cutoff{Bound: InterruptBound}, StopCancelled
}

func stopReason(b Bound) StopReason {
	switch b {
	case BytesBound:
		return StopOutputLimit
	case EventsBound:
		return StopMaxEvents
	case TimeBound:
		return StopTimeout
	case InterruptBound:
		return StopInterrupted
	}
	return StopEOF
}
