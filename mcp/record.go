package mcp

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"time"

	"github.com/tailrace/tailrace/pipeline"
	"github.com/tailrace/tailrace/stages"
)

// A CallOutcome is how a call of a tool ended.
type CallOutcome string

const (
	// CallComplete: the command ended by itself and well.
	CallComplete CallOutcome = "complete"
	// CallCutoff: a log collection was stopped at a bound, which is a success.
	CallCutoff CallOutcome = "cutoff"
	// CallFailed: the command or the backend failed, or was stopped at a bound that is no
	// success for its tool.
	CallFailed CallOutcome = "failed"
	// CallRefused: nothing was started.
	CallRefused CallOutcome = "refused"
	// CallCancelled: the client cancelled the call.
	CallCancelled CallOutcome = "cancelled"
	// CallInterrupted: the session ended in the call.
	CallInterrupted CallOutcome = "interrupted"
)

// A CallRecord is what is known of a finished call without any of its content: no
// argument, no output, no path and no value of the environment.
type CallRecord struct {
	// Began is when the call reached its tool.
	Began time.Time
	// Session is the id of the session.
	Session string
	// Tool is the name of the tool.
	Tool string
	// Project tells one project from another: 16 hexadecimal digits of the SHA-256 of the
	// path of its root. "" where the tool has no project, and where nothing was started.
	Project string
	// Outcome is how the call ended.
	Outcome CallOutcome
	// Reason is the reason of the error that the caller was told, such as busy; "" where
	// there is none.
	Reason string
	// Bound is what the command was stopped at; NoBound where it was not.
	Bound pipeline.Bound
	// Spawned says that a command was started.
	Spawned bool
	// ExitCode is the command's, 128 + n after signal n; 1 where nothing was started.
	ExitCode int
	// Duration is the time from Began until the result was made.
	Duration time.Duration
	// StdoutBytes and StderrBytes count what was collected, Events the events in it. They
	// are those before any cut of the result.
	StdoutBytes, StderrBytes int64
	Events                   int
	// Stopped says that the server stopped the command, Killed that it took SIGKILL.
	Stopped, Killed bool
	// ResultBytes is the size of the result on the wire, 0 where none was made. ResultCut
	// says that its structured content was cut to fit, ViewCut that its text view was.
	ResultBytes        int
	ResultCut, ViewCut bool
}

// ran notes how the run of the command ended.
func (r *CallRecord) ran(run pipeline.Summary) {
	r.Bound = run.Cut.Bound
	switch run.Stop {
	case pipeline.StopCancelled:
		r.Outcome = CallCancelled
	case pipeline.StopInterrupted:
		r.Outcome = CallInterrupted
	}
}

// ended notes that the call was over before its command was started.
func (r *CallRecord) ended(ctx context.Context) {
	r.Outcome = CallCancelled
	if errors.Is(context.Cause(ctx), pipeline.ErrInterrupted) {
		r.Outcome = CallInterrupted
	}
}

// judge notes the outcome that the payload tells. A panic leaves one that says nothing of
// a command that was started.
func (r *CallRecord) judge(p *stages.Payload) {
	r.Duration = time.Since(r.Began)
	if p == nil {
		p = internalError.payload()
	}
	r.ExitCode = p.ExitCode
	r.StdoutBytes, r.StderrBytes = max(r.StdoutBytes, int64(len(p.Stdout))), max(r.StderrBytes, int64(len(p.Stderr)))
	if !r.Spawned {
		r.StderrBytes = 0 // It is the message of the refusal.
	}
	if p.Log != nil && p.Log.Events != nil {
		r.Events = p.Log.Events.Len()
	}
	switch {
	case r.Outcome != "":
		return
	case p.OK && p.Log != nil && p.Log.Cutoff.Bound != pipeline.NoBound:
		r.Outcome = CallCutoff
	case p.OK:
		r.Outcome = CallComplete
	case r.Spawned:
		r.Outcome = CallFailed
	default:
		r.Outcome = CallRefused
	}
	if p.Error != nil {
		r.Reason = p.Error.Reason
	}
}

// newSessionID returns an id that tells a session from others in an audit log.
func newSessionID() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // It never fails.
	return hex.EncodeToString(b[:])
}
