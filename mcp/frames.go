package mcp

import (
	"context"
	"sync"

	"github.com/tailrace/tailrace/stages"
)

const (
	// largeFrame is the size from which a frame counts as large, in bytes of its pieces.
	largeFrame = 256 << 10
	// maxFrames is how many large frames there are at once, from being built to being
	// written. Frames are written one after the other, so more would only wait.
	maxFrames = 2
)

// frames bounds the memory of the frames that are built, and keeps their buffers. It is
// safe for concurrent use.
type frames struct {
	slots chan struct{}
	pool  sync.Pool
}

func (f *frames) init() { f.slots = make(chan struct{}, maxFrames) }

// acquire waits until the frame of p may be built, or until ctx is done. The release of c
// gives the right back; the connection calls it when the frame has been written.
func (f *frames) acquire(ctx context.Context, p *stages.Payload, c *call) error {
	if p == nil || !large(p) {
		return nil
	}
	select {
	case f.slots <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	buffer, _ := f.pool.Get().(*[]byte)
	if buffer == nil {
		buffer = new([]byte)
	}
	c.frame = (*buffer)[:0]
	c.release = func() {
		*buffer = c.frame[:0]
		c.frame = nil
		f.pool.Put(buffer)
		<-f.slots
	}
	return nil
}

func large(p *stages.Payload) bool {
	n := len(p.Stdout) + len(p.Stderr) + len(p.Data) + len(p.Command)
	if p.Log != nil && p.Log.Events != nil {
		n += p.Log.Events.Size(p.Log.Events.Len())
	}
	return n > largeFrame
}
