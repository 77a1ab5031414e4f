//go:build unix && !linux

package procgroup

import "syscall"

func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// Wait waits until the leader has exited and returns its exit code. The leader is reaped
// here; the number of the group stays taken as long as another process is in it.
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
