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
// the package has nothing to call and cannot become one by accident. Only package
// initialization that comes earlier runs in the guard as well. Where the executable need
// not hold this package (plugins, shared libraries) no guard is started.
//
// A guard that dies is missed when the next group is added or removed; another one then
// learns all groups.
package guard

import (
	"errors"
	"os"
	"strconv"
	"sync"
	"time"
)

// ErrUnavailable is returned where no guard could be started. The groups are then
// covered by the parent-death signal of their leaders only.
var ErrUnavailable = errors.New("the process guard could not be started; children of children may outlive a killed server")

const (
	name     = "tailrace-guard"
	variable = "TAILRACE_GUARD"
	// patience bounds a write. A guard that does not read for so long is replaced.
	patience = time.Second
)

// guard is the guard of this process.
var guard struct {
	sync.Mutex
	pipe   *os.File
	proc   *os.Process
	groups map[int]struct{}
}

// Ready starts the guard where none runs, so that the next Add is one write.
func Ready() error {
	guard.Lock()
	defer guard.Unlock()
	return ensure([]byte("\n"))
}

// Add tells the guard of a process group, and starts the guard where none runs.
func Add(pgid int) error {
	guard.Lock()
	defer guard.Unlock()
	if guard.groups == nil {
		guard.groups = map[int]struct{}{}
	}
	guard.groups[pgid] = struct{}{}
	return ensure(line('+', pgid))
}

// Remove tells the guard that a group needs no guard any more. It must be called while
// the number of the group cannot have been given to another one.
func Remove(pgid int) {
	guard.Lock()
	defer guard.Unlock()
	delete(guard.groups, pgid)
	if guard.pipe == nil || tell(line('-', pgid)) {
		return
	}
	replace()
	if len(guard.groups) > 0 {
		_ = ensure(nil) // The next Add tells of a failure.
	}
}

// Pid returns the process id of the guard, 0 where none runs.
func Pid() int {
	guard.Lock()
	defer guard.Unlock()
	if guard.proc == nil {
		return 0
	}
	return guard.proc.Pid
}

// Close ends the guard, without harm to any group. The next Add starts another.
func Close() {
	guard.Lock()
	defer guard.Unlock()
	replace()
}

func line(what byte, pgid int) []byte {
	return append(strconv.AppendInt([]byte{what}, int64(pgid), 10), '\n')
}

// tell writes to the guard and says whether it took it.
func tell(text []byte) bool {
	// A pipe without deadlines is no reason to do without the guard.
	_ = guard.pipe.SetWriteDeadline(time.Now().Add(patience))
	_, err := guard.pipe.Write(text)
	return err == nil
}

// ensure tells text to the guard that runs, or starts one, which learns all groups.
func ensure(text []byte) error {
	if guard.pipe != nil && tell(text) {
		return nil
	}
	replace()
	proc, pipe, err := start()
	if err != nil {
		return ErrUnavailable
	}
	guard.proc, guard.pipe = proc, pipe
	for pgid := range guard.groups {
		if !tell(line('+', pgid)) {
			replace()
			return ErrUnavailable
		}
	}
	return nil
}

// replace ends the guard that runs. It is killed before its pipe closes: the groups that
// it knows are alive and stay so.
func replace() {
	if guard.proc != nil {
		_ = guard.proc.Kill()
		_, _ = guard.proc.Wait()
		guard.proc = nil
	}
	if guard.pipe != nil {
		guard.pipe.Close()
		guard.pipe = nil
	}
}
