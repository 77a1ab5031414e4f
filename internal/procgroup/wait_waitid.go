//go:build linux || darwin

package procgroup

import "syscall"

// cldExited is the si_code of a child that exited; the others are signals.
const cldExited = 1

// exitCode is the exit code by si_code and si_status, 128 + n for signal n.
func exitCode(code, status int32) int {
	if code != cldExited {
		return 128 + int(status)
	}
	return int(status)
}

// reap takes the leader's status, upon which its number is free. The leader has exited.
func (g *Group) reap() {
	for {
		if _, err := syscall.Wait4(g.pid, nil, 0, nil); err != syscall.EINTR {
			return
		}
	}
}
