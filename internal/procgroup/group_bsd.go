//go:build unix && !linux && !darwin

package procgroup

import "syscall"

func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// Wait waits until the leader has exited and returns its exit code. The leader is reaped
// here. The number of the group stays taken only as long as another process is in it, so
// that a signal at the end of a stop could meet another group: the systems without a
// waitid that leaves the leader as it is have this gap.
func (g *Group) Wait() (int, error) {
	var ws syscall.WaitStatus
	for {
		_, err := syscall.Wait4(g.pid, &ws, 0, nil)
		if err == nil {
			return exitCode(ws), nil
		}
		if err != syscall.EINTR {
			return 0, err
		}
	}
}

func (g *Group) reap() {}

// Alive says whether a process of the group is alive.
func (g *Group) Alive() bool { return syscall.Kill(-g.pid, 0) == nil }

// exitCode is the code of a wait status, 128 + n for signal n.
func exitCode(ws syscall.WaitStatus) int {
	if ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	return ws.ExitStatus()
}
