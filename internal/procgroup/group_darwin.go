package procgroup

import (
	"syscall"
	"unsafe"
)

// attributes has no parent-death signal, which the system lacks: the guard alone covers
// the leader, too.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// The values of waitid, which package syscall lacks.
const (
	pPID    = 1
	wExited = 0x04
	wNoWait = 0x20
)

// siginfo is the start of siginfo_t, with room for the rest of it.
type siginfo struct {
	signo, errno, code int32
	pid                int32
	uid                uint32
	status             int32
	_                  [104]byte
}

// Wait waits until the leader has exited and returns its exit code. The leader stays a
// zombie until Release, so that the number of its group cannot be given to another.
func (g *Group) Wait() (int, error) {
	var info siginfo
	for {
		_, _, errno := syscall.Syscall6(syscall.SYS_WAITID, pPID, uintptr(g.pid), uintptr(unsafe.Pointer(&info)), wExited|wNoWait, 0, 0)
		if errno == 0 {
			return exitCode(info.code, info.status), nil
		}
		if errno != syscall.EINTR {
			return 0, errno
		}
	}
}

// Alive says whether a process of the group is alive. Zombies do not take signals here.
func (g *Group) Alive() bool { return syscall.Kill(-g.pid, 0) == nil }
