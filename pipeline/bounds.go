package pipeline

import (
	"errors"
	"fmt"
	"time"
)

// The limits of the contract. Library, command and server share them.
const (
	// CaptureLimit is the default bound on the raw bytes of both streams together.
	CaptureLimit = 8 << 20
	// ResultLimit is the largest serialized tool result, in bytes.
	ResultLimit = 9961472
	// TextViewLimit is the largest text view of a result that was cut, in bytes.
	TextViewLimit = 256 << 10
	// StderrFloor is how many bytes of stderr are kept while events are dropped.
	StderrFloor = 16 << 10
	// FrameLimit is the largest frame that a client with the usual 10 MiB read buffer
	// takes in any case: the buffer less one 64 KiB read.
	FrameLimit = 10<<20 - 64<<10
	// SnapshotTime is the fixed time bound of a snapshot.
	SnapshotTime = 120 * time.Second
	// StopGrace is how long a stopped process group has between SIGTERM and SIGKILL.
	StopGrace = 2 * time.Second
	// DrainGrace is how long pipes are read after the child that owned them exited.
	DrainGrace = 1 * time.Second
	// MaxDepth is the deepest JSON nesting of an event. The outermost object is level 1.
	MaxDepth = 512
	// MaxCaptureBytes is the largest byte bound that can be asked for.
	MaxCaptureBytes = 1 << 30
)

// ErrBounds is wrapped by the error of [Bounds.Validate].
var ErrBounds = errors.New("bound out of range")

// Bounds says when a run is stopped. The zero value stops at [CaptureLimit] bytes and
// at nothing else. A Bounds is a plain value: copy it, compare it, share it.
type Bounds struct {
	// MaxBytes bounds the raw bytes of stdout and stderr together. Output of exactly
	// MaxBytes is complete. 0 means [CaptureLimit]; the range is 1 to [MaxCaptureBytes].
	MaxBytes int64
	// MaxEvents bounds the events of type log. 0 means no such bound.
	MaxEvents int
	// MaxTime bounds the time from the start of the run, in whole milliseconds.
	// 0 means no such bound.
	MaxTime time.Duration
}

// Validate returns an error that wraps [ErrBounds] and names the field that is out of
// range, or nil.
func (b Bounds) Validate() error {
	switch {
	case b.MaxBytes < 0 || b.MaxBytes > MaxCaptureBytes:
		return fmt.Errorf("%w: the byte bound takes 1 to %d bytes", ErrBounds, MaxCaptureBytes)
	case b.MaxEvents < 0:
		return fmt.Errorf("%w: the event bound takes a positive number of events", ErrBounds)
	case b.MaxTime < 0 || (b.MaxTime > 0 && b.MaxTime < time.Millisecond):
		return fmt.Errorf("%w: the time bound takes 1 ms or more", ErrBounds)
	}
	return nil
}

// Bytes returns MaxBytes with its default filled in.
func (b Bounds) Bytes() int64 {
	if b.MaxBytes == 0 {
		return CaptureLimit
	}
	return b.MaxBytes
}
