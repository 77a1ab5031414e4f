package procgroup

import (
	"bytes"
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
	status := int(*childStatus(&info))
	if info.Code != cldExited {
		status += 128
	}
	return status, nil
}

// cldExited is the si_code of a child that exited; the others are signals.
const cldExited = 1

// childStatus is si_status of a child's siginfo: after three ints, aligned to a word, it
// follows the process and user ids. The unix package has no accessor for it.
func childStatus(info *unix.Siginfo) *int32 {
	const word = unsafe.Sizeof(uintptr(0))
	offset := (3*4+word-1)/word*word + 2*4
	return (*int32)(unsafe.Add(unsafe.Pointer(info), offset))
}

func (g *Group) reap() {
	for {
		if _, err := syscall.Wait4(g.pid, nil, 0, nil); err != syscall.EINTR {
			return
		}
	}
}

// Alive says whether a process of the group is alive. A zombie is not: nothing can end
// it but its parent.
func (g *Group) Alive() bool {
	dir, err := os.Open("/proc")
	if err != nil {
		return false
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	var buf [512]byte
	for _, name := range names {
		if name[0] < '0' || name[0] > '9' {
			continue
		}
		if state, pgrp := stat(name, buf[:]); pgrp == g.pid && state != 'Z' && state != 'X' {
			return true
		}
	}
	return false
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
