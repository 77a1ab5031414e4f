package mcp

import (
	"sync"
	"time"

	"github.com/tailrace/tailrace/pipeline"
)

// lastGrace is how long a child has between SIGTERM and SIGKILL when the server ends.
const lastGrace = time.Second

// A child is what the server runs: a source that can be told to hurry.
type child interface {
	pipeline.Source
	// Shorten lowers the time between SIGTERM and SIGKILL, of a running stop too.
	Shorten(grace time.Duration)
	// Done is closed when nothing of the child's group is left.
	Done() <-chan struct{}
	// Signalled says whether the child was told to end, and whether it took SIGKILL.
	Signalled() (stopped, killed bool)
}

// children are the children of a session, each from its start until nothing of its group
// is left. The zero value is empty. It is safe for concurrent use.
type children struct {
	mu      sync.Mutex
	live    map[child]struct{}
	hurried bool
	gone    chan struct{} // closed when the last one is gone; nil if nobody waits
}

// add takes in a child that was just started.
func (c *children) add(ch child) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.live == nil {
		c.live = map[child]struct{}{}
	}
	c.live[ch] = struct{}{}
	if c.hurried {
		ch.Shorten(lastGrace)
	}
}

// release closes a child behind the reply, and calls after when nothing of it is left.
// Close waits for the rest of the group, and a reply must not.
func (c *children) release(ch child, after func()) {
	go func() {
		_ = ch.Close() // A child that cannot be ended has no one left to tell.
		after()
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.live, ch)
		if len(c.live) == 0 && c.gone != nil {
			close(c.gone)
			c.gone = nil
		}
	}()
}

// hurry shortens the stop of all children, also of those to come.
func (c *children) hurry() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hurried = true
	for ch := range c.live {
		ch.Shorten(lastGrace)
	}
}

// wait waits until all children are gone, or until late says that it is too late.
func (c *children) wait(late <-chan time.Time) {
	c.mu.Lock()
	if len(c.live) == 0 {
		c.mu.Unlock()
		return
	}
	if c.gone == nil {
		c.gone = make(chan struct{})
	}
	gone := c.gone
	c.mu.Unlock()
	select {
	case <-gone:
	case <-late:
	}
}
