package pipeline

import "fmt"

// A Bound names what a run was stopped at.
type Bound uint8

const (
	// NoBound is the zero value: no bound was reached.
	NoBound Bound = iota
	// BytesBound is reached by the first byte over the byte bound.
	BytesBound
	// EventsBound is reached by the last event that the event bound allows.
	EventsBound
	// TimeBound is reached when the time is over.
	TimeBound
	// InterruptBound is reached when the caller ends the run early. A tool result never
	// carries it, since an interrupted call gets no reply; a command's report does.
	InterruptBound
)

// String returns the name of the bound as a result writes it.
func (b Bound) String() string {
	switch b {
	case BytesBound:
		return "bytes"
	case EventsBound:
		return "events"
	case TimeBound:
		return "time"
	case InterruptBound:
		return "interrupt"
	}
	return "none"
}

// Evidence says what shows that the backend failed.
type Evidence uint8

const (
	// NoEvidence is the zero value.
	NoEvidence Evidence = iota
	// ErrorEvent: the stream holds an event of type error.
	ErrorEvent
	// EndReason: the stream holds an event of type end with a reason other than eof or closed.
	EndReason
	// BadExit: the source ended by itself, and not well (a non-zero exit, a signal, a read error).
	BadExit
)

// String returns a short name for the evidence.
func (e Evidence) String() string {
	switch e {
	case ErrorEvent:
		return "error event"
	case EndReason:
		return "end reason"
	case BadExit:
		return "exit status"
	}
	return "none"
}

// An Outcome is how a run ended: [Complete], [Cutoff] or [Failed], and nothing else.
type Outcome interface {
	fmt.Stringer
	outcome()
}

// Complete is the outcome of a run whose source ended by itself and well.
type Complete struct{}

// Cutoff is the outcome of a run that was stopped at a bound. It is a success: what was
// collected is a valid prefix.
type Cutoff struct {
	// Bound is what was reached first.
	Bound Bound
	// Limit is its value: bytes, events or milliseconds; 0 for [InterruptBound].
	Limit int64
}

// Failed is the outcome of a run whose source failed, by evidence that was read before
// the run was stopped.
type Failed struct {
	// Evidence is the first that was seen.
	Evidence Evidence
}

func (Complete) outcome() {}
func (Cutoff) outcome()   {}
func (Failed) outcome()   {}

// String returns "complete".
func (Complete) String() string { return "complete" }

// String returns the bound and its limit.
func (c Cutoff) String() string { return fmt.Sprintf("cut off at %s %d", c.Bound, c.Limit) }

// String returns "failed" and the evidence.
func (f Failed) String() string { return "failed: " + f.Evidence.String() }

// A StopReason says why collection stopped. It is told beside the outcome and never
// changes when a result is cut later.
type StopReason string

// The stop reasons, as results write them.
const (
	StopEOF         StopReason = "eof"
	StopMaxEvents   StopReason = "max_events"
	StopTimeout     StopReason = "timeout"
	StopOutputLimit StopReason = "output_limit"
	StopCancelled   StopReason = "cancelled"
	StopInterrupted StopReason = "interrupted"
)
