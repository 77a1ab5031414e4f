package procgroup

import (
	"bytes"
	"io"
	"os"
	"strconv"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// Wait waits until the leader has exited and returns its exit code. The leader stays a
// zombie until Release, so that the number of its group cannot be given to another.
func (g *Group) Wait() (int, error) {
	var info unix.Siginfo
	for {
		err := unix.Waitid(unix.P_PID, g.pid, &info, unix.WEXITED|unix.WNOWAIT, nil)
		if err == nil {
			break
		}
		if err != unix.EINTR {
			return 0, err
		}
	}
	// The unix package has no accessor for si_status. After three ints, aligned to a
	// word, it follows the process and user ids.
	const word = unsafe.Sizeof(uintptr(0))
	const offset = (3*4+word-1)/word*word + 2*4
	return exitCode(info.Code, *(*int32)(unsafe.Add(unsafe.Pointer(&info), offset))), nil
}

// Alive says whether a process of the group is alive. A zombie is not: nothing can end
// it but its parent. Where that cannot be seen, it says true.
//
// A group that forks while it is looked at can hide a process, so Alive serves to wait
// for a group, and never to prove that nothing is left.
func (g *Group) Alive() bool {
	var buf [512]byte
	// Most looks come while a member lives on, and then one file is enough.
	if pid := g.member.Load(); pid != 0 && g.has(strconv.Itoa(int(pid)), buf[:]) {
		return true
	}
	dir, err := os.Open("/proc")
	if err != nil {
		return true
	}
	defer dir.Close()
	for {
		names, err := dir.Readdirnames(256)
		for _, name := range names {
			if name[0] < '1' || name[0] > '9' || !g.has(name, buf[:]) {
				continue
			}
			pid, _ := strconv.Atoi(name)
			g.member.Store(int32(pid))
			return true
		}
		if err != nil {
			return err != io.EOF
		}
	}
}

// has says whether a process is alive and in the group.
func (g *Group) has(pid string, buf []byte) bool {
	state, pgrp := stat(pid, buf)
	return pgrp == g.pid && state != 'Z' && state != 'X'
}

// stat reads the state and the process group of a process; the group is 0 where it is gone.
func stat(pid string, buf []byte) (state byte, pgrp int) {
	fd, err := syscall.Open("/proc/"+pid+"/stat", syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return 0, 0
	}
	n, err := syscall.Read(fd, buf)
	syscall.Close(fd)
	if err != nil || n <= 0 {
		return 0, 0
	}
	// The name in parentheses may hold anything, parentheses included.
	i := bytes.LastIndexByte(buf[:n], ')')
	fields := bytes.Fields(buf[i+1 : n])
	if i < 0 || len(fields) < 3 {
		return 0, 0
	}
	pgrp, _ = strconv.Atoi(string(fields[2]))
	return fields[0][0], pgrp
}
