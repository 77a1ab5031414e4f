package mcp

import (
	"errors"
	"log/slog"
	"sync"
)

const (
	// DefaultMaxCommands is how many commands the sessions of a process run at once.
	DefaultMaxCommands = 4
	// MaxMaxCommands is the largest bound on commands at once. Each may hold 8 MiB of
	// output, and two more while its result is built.
	MaxMaxCommands = 1024
)

// ErrMaxCommands is the error of [NewShared] for a bound out of range.
var ErrMaxCommands = errors.New("the bound on commands at once is out of range: give 1 to 1024, or 0 for 4")

// SharedOptions are the settings of a [Shared].
type SharedOptions struct {
	// MaxCommands is how many commands run at once, over all sessions: from the start of
	// each until nothing of its group is left. A call past it is refused as busy, and
	// does not wait. 0 means [DefaultMaxCommands].
	MaxCommands int
	// NoAudit turns the audit log off.
	NoAudit bool
	// Observe, if not nil, is told of every call of a tool that is known, once, when it
	// is over: after its reply, and where a command was started when nothing of that is
	// left. It is called by several goroutines at once, and must not wait: the end of a
	// session waits for it.
	Observe func(CallRecord)
	// Log is told where the audit log cannot be written, once for each file; nil
	// discards it.
	Log *slog.Logger
}

// A Shared is what the sessions of one process have in common: the bound on commands at
// once, the audit log and who is told of calls. It holds no file and no goroutine, so
// nothing closes it. It is safe for concurrent use.
type Shared struct {
	max     int
	seats   chan struct{}
	observe func(CallRecord)
	audit   *auditLog // nil for none
}

// NewShared returns what sessions share. The error is [ErrMaxCommands].
func NewShared(o SharedOptions) (*Shared, error) {
	switch {
	case o.MaxCommands == 0:
		o.MaxCommands = DefaultMaxCommands
	case o.MaxCommands < 0, o.MaxCommands > MaxMaxCommands:
		return nil, ErrMaxCommands
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	s := &Shared{max: o.MaxCommands, seats: make(chan struct{}, o.MaxCommands), observe: o.Observe}
	if !o.NoAudit {
		s.audit = newAuditLog(o.Log)
	}
	return s, nil
}

// admit takes a seat for one command, if there is one, and returns what gives it back.
// Nobody waits for a seat: a caller who is told can decide, one who waits cannot.
func (s *Shared) admit() (leave func(), ok bool) {
	select {
	case s.seats <- struct{}{}:
		return sync.OnceFunc(func() { <-s.seats }), true
	default:
		return nil, false
	}
}

// told passes the record of a finished call on.
func (s *Shared) told(home string, r CallRecord) {
	if s.audit != nil && r.Spawned {
		s.audit.append(home, r)
	}
	if s.observe != nil {
		s.observe(r)
	}
}
