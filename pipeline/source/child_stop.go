package source

import (
	"errors"
	"time"
)

var (
	// ErrStatus is wrapped by the error of a child whose exit status was not to be had,
	// because something else in this process waits for all children.
	ErrStatus = errors.New("the exit status of the command is not known; let nothing else wait for the children of this process")
	// ErrLeft is returned by [Child.Close] where a process of the group was killed and
	// did not go. The system ends it once it returns from the kernel.
	ErrLeft = errors.New("a process of the command was killed and is not gone yet; it waits in the kernel, often for a device or a remote file system")
)

const (
	// pollGroup is how often the group is looked at while members remain, at the most:
	// the first looks come sooner, since most groups go at once.
	pollGroup = 25 * time.Millisecond
	// exitPatience is how long a stop waits for the exit status of a killed leader. It
	// is there at once, unless the leader sleeps uninterruptibly.
	exitPatience = 100 * time.Millisecond
)

// killPatience is how long killed processes may take to go. One in an uninterruptible
// sleep would hold up everything for as long as it sleeps.
var killPatience = 2 * time.Second

// stop begins the stop of the group, and waits for the leader's exit or for the kill.
func (c *Child) stop() {
	c.mu.Lock()
	if c.stopped.IsZero() && !c.ended {
		c.stopped = time.Now()
		close(c.dropping)
		c.group.Terminate()
		c.timer = time.AfterFunc(c.grace, c.kill)
	}
	c.mu.Unlock()
	select {
	case <-c.exited:
	case <-c.killed:
		t := time.NewTimer(exitPatience)
		defer t.Stop()
		select {
		case <-c.exited:
		case <-t.C:
		}
	}
}

// kill runs when the grace is over, or a second time where Shorten met the first.
func (c *Child) kill() {
	c.group.Kill()
	c.mu.Lock()
	defer c.mu.Unlock()
	select {
	case <-c.killed:
	default:
		close(c.killed)
	}
}

// Shorten lowers the grace of a stop that is under way or to come: the group is killed
// no later than d after the stop began. It never lengthens it.
func (c *Child) Shorten(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if d >= c.grace {
		return
	}
	c.grace = d
	if c.timer != nil && c.timer.Stop() {
		c.timer = time.AfterFunc(max(0, d-time.Since(c.stopped)), c.kill)
	}
}

// leaderGone waits for the leader's exit. It returns false where a killed leader does
// not go.
func (c *Child) leaderGone() bool {
	select {
	case <-c.exited:
		return true
	case <-c.killed:
	}
	t := time.NewTimer(killPatience)
	defer t.Stop()
	select {
	case <-c.exited:
		return true
	case <-t.C:
		return c.hasExited()
	}
}

// endGroup ends what is left of the group once its leader has exited and the sequence is
// over. It returns false where something killed does not go.
func (c *Child) endGroup() bool {
	c.mu.Lock()
	stopped := !c.stopped.IsZero()
	c.mu.Unlock()
	switch {
	case stopped:
		c.awaitGone(c.killed) // the grace
		c.mu.Lock()
		c.timer.Stop()
		c.mu.Unlock()
	case c.keepGroup:
		c.group.Keep()
		return true
	}
	// Looking at a group that forks is not atomic, killing it is. Nothing is signalled
	// from here on, so its number may be given back, and one call tells that the group
	// is empty, as it nearly always is.
	c.group.Kill()
	c.group.Release()
	return !c.group.Exists() || c.awaitGone(nil)
}

// awaitGone waits until nothing of the group is alive: until stop is closed or, where
// stop is nil, for killPatience. It returns whether nothing is.
func (c *Child) awaitGone(stop <-chan struct{}) bool {
	var patience <-chan time.Time
	if stop == nil {
		t := time.NewTimer(killPatience)
		defer t.Stop()
		patience = t.C
	}
	wait := time.Millisecond
	tick := time.NewTimer(wait)
	defer tick.Stop()
	for c.group.Alive() {
		select {
		case <-tick.C:
			wait = min(2*wait, pollGroup)
			tick.Reset(wait)
		case <-stop:
			return false
		case <-patience:
			return false
		}
	}
	return true
}
