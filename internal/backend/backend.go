// Package backend has what the places that logs are kept in have in common, where these
// know more of a line than its bytes: a journal, a cluster, a server of logs.
//
// A backend turns what it reads into records in batches, and says what went wrong with a
// typed error whose text tells what to do and repeats nothing of the log, of the caller's
// input or of a secret.
package backend

import (
	"context"
	"iter"

	"github.com/tailrace/tailrace/internal/logline"
)

// A Source is a log of a backend.
type Source interface {
	// Batches yields what the backend has until it ends, until ctx is done, or until the
	// consumer stops. It can be ranged over once, by one goroutine. A batch and its lines
	// are valid until the next one is asked for. What is at hand comes at once: no batch
	// waits to become larger. Nothing of a source that was ended by ctx is a failure.
	Batches(ctx context.Context) iter.Seq[[]Item]
	// Err says why the source could not be read to its end: nil, or an *[Error]. It is valid
	// once the loop over Batches is over.
	Err() error
	// Close gives back what the source holds. It may be called more than once, and from any
	// goroutine once the loop is over.
	Close() error
}

// An Item is a record of the log or, where Notice is set, something to tell about it.
type Item struct {
	Record logline.Record
	Notice *Notice
}

// A Notice tells of something that happened to the log, without ending it.
type Notice struct {
	// Dropped is how many entries are known to be missing. A notice that has it becomes a
	// `dropped` event; one that has not becomes an `error` event.
	Dropped int
	// Message says what happened and what to do. It holds nothing of the log.
	Message string
}

// A Code says what kind of failure an [Error] is.
type Code string

// The codes of errors, as they stand in error events.
const (
	// CodeToolMissing: the program that reads the log is not installed.
	CodeToolMissing Code = "E_TOOL_MISSING"
	// CodeUnreachable: the server, cluster or journal cannot be reached, or is not ready.
	CodeUnreachable Code = "E_BACKEND_UNREACHABLE"
	// CodeDenied: it can be reached, and refuses to show this log to this user.
	CodeDenied Code = "E_PERMISSION"
	// CodeNotFound: there is no such log there.
	CodeNotFound Code = "E_LOG_NOT_FOUND"
	// CodeNoDocker: the Docker engine does not answer.
	CodeNoDocker Code = "E_DOCKER_UNAVAILABLE"
	// CodeUsage: what was asked for makes no sense there.
	CodeUsage Code = "E_USAGE"
	// CodeFailed: it failed in another way, or answered what cannot be understood.
	CodeFailed Code = "E_BACKEND_FAILED"
)

// An Error is why a log could not be read.
type Error struct {
	Code Code
	// Problem says what is wrong and what to do, in one line.
	Problem string
	// Exit is the exit code of the program that reads the log, 0 where there is none.
	Exit int
}

// Error returns the problem.
func (e *Error) Error() string { return e.Problem }
