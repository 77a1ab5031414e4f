package pipeline

import (
	"context"
	"iter"
)

// A Source yields the bytes of one run. Package source has the ones that come with this
// module.
type Source interface {
	// Chunks yields what the source writes until it ends, until ctx is done, or until
	// the consumer stops. It can be ranged over once. When ctx ended the sequence, the
	// last chunk has Cut set. When the loop is over, the source has been told to stop
	// and its status is known; what it still wrote has been thrown away.
	Chunks(ctx context.Context) iter.Seq[Chunk]
	// Exit returns how the source ended. It is valid once the loop over Chunks is over.
	Exit() Exit
	// Close ends what is left of the source and gives its buffers back. The data of
	// its chunks is invalid from then on. It may be called at any time, more than once.
	Close() error
}

// An End says what ended the sequence of a source.
type End uint8

const (
	// EndSource: the source ended by itself. It is the zero value.
	EndSource End = iota
	// EndConsumer: the consumer stopped asking.
	EndConsumer
	// EndContext: the context was done.
	EndContext
)

// Exit is how a source ended.
type Exit struct {
	// End is what ended the sequence.
	End End
	// Code is the exit code of a process, 128 + n for one that signal n ended, 0 for a
	// source that is no process and ended well.
	Code int
	// Err is why a source could not be read to its end; nil otherwise. It wraps no
	// content of the source.
	Err error
}

// Failed says whether a source that ended by itself did so badly.
func (e Exit) Failed() bool { return e.End == EndSource && (e.Code != 0 || e.Err != nil) }
