// Package guard keeps a small process beside this one that ends process groups which
// would otherwise outlive it.
//
// The guard is this executable, started once more under another name. It learns each
// group over a pipe. When the pipe closes, because this process ended in whatever way,
// it sends SIGKILL to the groups that are left, and exits. A parent-death signal cannot
// do that: it reaches the direct child only.
//
// The executable becomes a guard in an init function of this package, and only where
// argv[0] and a variable of the environment both ask for it, so a program that imports
// the package has nothing to call and cannot become one by accident.
package guard

import (
	"errors"
	"os"
	"strconv"
	"sync"
)

// ErrUnavailable is returned where no guard could be started. The groups are then
// covered by the parent-death signal of their leaders only.
var ErrUnavailable = errors.New("the process guard could not be started; children of children may outlive a killed server")

const (
	name     = "tailrace-guard"
	variable = "TAILRACE_GUARD"
)

// guard is the guard of this process.
var guard struct {
	sync.Mutex
	pipe   *os.File
	proc   *os.Process
	groups map[int]struct{}
}

// Add tells the guard of a process group, and starts the guard where none runs.
func Add(pgid int) error {
	guard.Lock()
	defer guard.Unlock()
	if guard.groups == nil {
		guard.groups = map[int]struct{}{}
	}
	guard.groups[pgid] = struct{}{}
	if guard.pipe != nil && tell('+', pgid) == nil {
		return nil
	}
	return restart()
}

// Remove tells the guard that a group needs no guard any more. It must be called while
// the number of the group cannot have been given to another one.
func Remove(pgid int) {
	guard.Lock()
	defer guard.Unlock()
	delete(guard.groups, pgid)
	if guard.pipe != nil && tell('-', pgid) != nil {
		stop()
	}
}

// Close ends the guard, without harm to any group. The next Add starts another.
func Close() {
	guard.Lock()
	defer guard.Unlock()
	if guard.pipe != nil {
		for pgid := range guard.groups {
			tell('-', pgid)
		}
	}
	stop()
}

func tell(what byte, pgid int) error {
	_, err := guard.pipe.Write(append(strconv.AppendInt([]byte{what}, int64(pgid), 10), '\n'))
	return err
}

// stop closes the pipe, upon which the guard exits, and waits for that.
func stop() {
	if guard.pipe != nil {
		guard.pipe.Close()
		guard.pipe = nil
	}
	if guard.proc != nil {
		guard.proc.Wait()
		guard.proc = nil
	}
}

// restart starts a guard that knows all groups.
func restart() error {
	stop()
	proc, pipe, err := start()
	if err != nil {
		return ErrUnavailable
	}
	guard.proc, guard.pipe = proc, pipe
	for pgid := range guard.groups {
		if tell('+', pgid) != nil {
			stop()
			return ErrUnavailable
		}
	}
	return nil
}
