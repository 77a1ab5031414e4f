//go:build unix

package procgroup

import (
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/tailrace/tailrace/internal/guard"
)

// A Group is a started process and all that it starts, unless one leaves the group. Its
// methods are safe for concurrent use.
type Group struct {
	pid     int
	guarded bool
	member  atomic.Int32 // a process that was last seen alive in the group; 0 for none

	mu       sync.Mutex
	released bool
}

// Start starts the leader of a new group. Where the system has a parent-death signal,
// that hangs on the thread that calls Start: the caller locks its goroutine to its
// thread until Wait has returned. Errors are plain error numbers, without a path.
//
// A guard process learns of the group right after. Where none can be started, Guarded
// says so, and the parent-death signal still covers the leader.
func Start(s Spec) (*Group, error) {
	// Before the fork, so that the time between the two is that of one write.
	_ = guard.Ready()
	pid, err := forkExec(s)
	if err != nil {
		return nil, err
	}
	return &Group{pid: pid, guarded: guard.Add(pid) == nil}, nil
}

// forkExec starts a file that may have been written a moment ago: a process that another
// goroutine forked meanwhile holds it open for writing until its own exec, and the
// system refuses to run it for that long.
func forkExec(s Spec) (pid int, err error) {
	for wait := time.Millisecond; wait < 100*time.Millisecond; wait *= 3 {
		pid, err = syscall.ForkExec(s.Path, s.Args, &syscall.ProcAttr{
			Dir:   s.Dir,
			Env:   s.Env,
			Files: []uintptr{s.Files[0].Fd(), s.Files[1].Fd(), s.Files[2].Fd()},
			Sys:   attributes(),
		})
		if err != syscall.ETXTBSY {
			break
		}
		time.Sleep(wait)
	}
	return pid, err
}

// Guarded says whether the guard process knows the group, so that all of it ends with
// this process, however that ends.
func (g *Group) Guarded() bool { return g.guarded }

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

// Keep says that the group is to stay after Release. On Unix it stays unless it is killed.
func (g *Group) Keep() {}

// Exists says whether any process, alive or not, is in the group. It is cheaper than
// Alive, and means something after Release only: before, the leader itself is in it.
func (g *Group) Exists() bool { return syscall.Kill(-g.pid, 0) != syscall.ESRCH }
