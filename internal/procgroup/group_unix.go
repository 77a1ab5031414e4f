//go:build unix

package procgroup

import (
	"sync"
	"syscall"

	"github.com/tailrace/tailrace/internal/guard"
)

// A Group is a started process and all that it starts, unless one leaves the group. Its
// methods are safe for concurrent use.
type Group struct {
	pid int

	mu       sync.Mutex
	released bool
}

// Start starts the leader of a new group. Where the system has a parent-death signal,
// that hangs on the thread that calls Start: the caller locks its goroutine to its
// thread until Wait has returned. Errors are plain error numbers, without a path.
func Start(s Spec) (*Group, error) {
	pid, err := syscall.ForkExec(s.Path, s.Args, &syscall.ProcAttr{
		Dir:   s.Dir,
		Env:   s.Env,
		Files: []uintptr{s.Files[0].Fd(), s.Files[1].Fd(), s.Files[2].Fd()},
		Sys:   attributes(),
	})
	if err != nil {
		return nil, err
	}
	// Without a guard the parent-death signal still covers the leader.
	_ = guard.Add(pid)
	return &Group{pid: pid}, nil
}

// Pid returns the process id of the leader, which is the number of the group.
func (g *Group) Pid() int { return g.pid }

// Terminate asks the group to end: SIGTERM, and SIGCONT so that a stopped process gets it.
func (g *Group) Terminate() {
	g.signal(syscall.SIGTERM)
	g.signal(syscall.SIGCONT)
}

// Kill ends the group.
func (g *Group) Kill() { g.signal(syscall.SIGKILL) }

// signal signals the group. After Release the number may belong to others.
func (g *Group) signal(sig syscall.Signal) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.released {
		syscall.Kill(-g.pid, sig)
	}
}

// Release gives the number of the group back. No signal is sent through the group from
// then on. It must follow a return of Wait.
func (g *Group) Release() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.released {
		return
	}
	g.released = true
	guard.Remove(g.pid)
	g.reap()
}

// Exists says whether any process, alive or not, is in the group. It is cheaper than
// Alive, and means something after Release only: before, the leader itself is in it.
func (g *Group) Exists() bool { return syscall.Kill(-g.pid, 0) != syscall.ESRCH }
