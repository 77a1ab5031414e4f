package mcp

import (
	"io"
	"sync"
)

// An outlet is where frames go, each in one Write and one after the other. A reply and
// the progress before it are checked and written under one lock, so that none comes after
// the other. It is safe for concurrent use.
type outlet struct {
	w io.Writer
	// broken is told of each frame that could not be written whole: the client reads no
	// more. It is called under the lock.
	broken func()

	mu sync.Mutex
}

// put writes a frame, unless may, if not nil, says no.
func (o *outlet) put(frame []byte, may func() bool) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if may != nil && !may() {
		return nil
	}
	n, err := o.w.Write(frame)
	if err == nil && n < len(frame) {
		err = io.ErrShortWrite
	}
	if err != nil {
		o.broken()
	}
	return err
}
