package source

// Done returns a channel that is closed when nothing of the child's group is left, or
// when what is left could not be ended. Close returns after that.
func (c *Child) Done() <-chan struct{} { return c.done }

// Signalled says what the child was sent so far: stopped that its group was told to end,
// killed that it took SIGKILL. What ends the rest of a group after its leader's own end
// counts as neither.
func (c *Child) Signalled() (stopped, killed bool) {
	select {
	case <-c.killed:
		killed = true
	default:
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.stopped.IsZero(), killed
}
