package stages

import "github.com/tailrace/tailrace/pipeline"

// The closed error of a failed backend (rule O6).
const (
	CodeUnexpected     = "E_UNEXPECTED"
	ReasonBackendError = "backend_error"
	backendMessage     = "The log backend reported a failure. Read stderr and the last events for its cause."
)

// PayloadOf returns the payload of a finished log collection. command is the command line
// for people. tail says that the call was a tail, whose result has a few fields more.
// limits are what was asked for. The payload shares the memory of c.
func PayloadOf(c *Collection, command string, tail bool, limits LogLimits) *Payload {
	p := &Payload{
		OK:              true,
		OutputTruncated: c.Truncated,
		Command:         command,
		ExitCode:        c.Exit.Code,
		Stdout:          c.Stdout,
		Stderr:          c.Stderr,
		Log: &LogData{
			Events:     &c.Events,
			Tail:       tail,
			StopReason: c.Stop,
			DurationMs: c.Elapsed.Milliseconds(),
			Limits:     limits,
		},
	}
	switch o := c.Outcome.(type) {
	case pipeline.Complete:
	case pipeline.Cutoff:
		p.Log.Cutoff = o
	default:
		p.OK = false
		p.Error = &PayloadError{Code: CodeUnexpected, Reason: ReasonBackendError, Message: backendMessage}
		if c.Exit.Err != nil && p.ExitCode == 0 {
			// A source that is no process has no code of its own for a failed read.
			p.ExitCode = 1
		}
	}
	return p
}
