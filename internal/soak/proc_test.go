//go:build linux

package soak

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// markerVariable marks the processes that belong to a server.
const markerVariable = "TAILRACE_SOAK_MARKER"

// A usage is what a server process has in use.
type usage struct {
	RSS         int // bytes
	Descriptors int
	Threads     int
	Zombies     int
}

func (u usage) String() string {
	return fmt.Sprintf("%d MiB, %d descriptors, %d threads, %d zombies", u.RSS>>20, u.Descriptors, u.Threads, u.Zombies)
}

func usageOf(pid int) (u usage, err error) {
	dir := filepath.Join("/proc", strconv.Itoa(pid))
	fds, err := os.ReadDir(filepath.Join(dir, "fd"))
	if err != nil {
		return u, err
	}
	status, err := os.ReadFile(filepath.Join(dir, "status"))
	if err != nil {
		return u, err
	}
	u.Descriptors = len(fds)
	for _, line := range strings.Split(string(status), "\n") {
		fields := strings.Fields(line)
		if len(fields) < 2 {
			continue
		}
		n, _ := strconv.Atoi(fields[1])
		switch fields[0] {
		case "VmRSS:":
			u.RSS = n << 10
		case "Threads:":
			u.Threads = n
		}
	}
	for _, p := range processes() {
		if p.parent == pid && p.state == 'Z' {
			u.Zombies++
		}
	}
	return u, nil
}

type process struct {
	pid, parent int
	state       byte
}

func processes() (list []process) {
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			continue
		}
		fields := bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:])
		if len(fields) < 2 {
			continue
		}
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(f)))
		parent, _ := strconv.Atoi(string(fields[1]))
		list = append(list, process{pid, parent, fields[0][0]})
	}
	return list
}

// commandsOf lists the living processes that a server's calls have started.
func commandsOf(marker string) (pids []int) {
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, d := range dirs {
		env, err := os.ReadFile(filepath.Join(d, "environ"))
		if err != nil || !bytes.Contains(env, []byte(markerVariable+"="+marker+"\x00")) {
			continue
		}
		if exe, err := os.Readlink(filepath.Join(d, "exe")); err != nil || exe == binary {
			continue
		}
		pid, _ := strconv.Atoi(filepath.Base(d))
		pids = append(pids, pid)
	}
	return pids
}
