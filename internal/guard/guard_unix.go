//go:build unix

package guard

import (
	"bufio"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
)

func init() {
	if len(os.Args) == 1 && os.Args[0] == name && os.Getenv(variable) == "1" {
		watch()
		os.Exit(0)
	}
}

// start starts this executable as a guard. It holds nothing but its end of the pipe,
// and is no part of this session, so that no terminal and no group kill reaches it.
func start() (*os.Process, *os.File, error) {
	if !ownExecutable() {
		return nil, nil, ErrUnavailable
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	defer r.Close()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		w.Close()
		return nil, nil, err
	}
	defer null.Close()
	proc, err := os.StartProcess(executable(), []string{name}, &os.ProcAttr{
		Dir:   "/",
		Env:   []string{variable + "=1", "GOMAXPROCS=1"},
		Files: []*os.File{r, null, null},
		Sys:   &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		w.Close()
		return nil, nil, err
	}
	return proc, w, nil
}

// ownExecutable says whether the executable surely holds this package: in a plugin or a
// shared library it is somebody else's, which must not be started with our arguments.
func ownExecutable() bool {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return false
	}
	for _, s := range info.Settings {
		if s.Key == "-buildmode" {
			return s.Value == "exe" || s.Value == "pie"
		}
	}
	return true
}

func executable() string {
	if runtime.GOOS == "linux" {
		return "/proc/self/exe" // also where the file has been replaced
	}
	path, err := os.Executable()
	if err != nil {
		return os.Args[0]
	}
	return path
}

// release closes what was inherited beside the pipe, so that the guard keeps nobody
// waiting who waits for an end of file. What the runtime itself has opened stays.
func release() {
	for fd := 3; fd < 256; fd++ {
		target, err := os.Readlink("/proc/self/fd/" + strconv.Itoa(fd))
		if err == nil && !strings.HasPrefix(target, "anon_inode:") {
			syscall.Close(fd)
		}
	}
}

// watch is the guard. It returns when the pipe has closed and what was left is killed.
func watch() {
	signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGPIPE)
	release()
	groups := map[int]bool{}
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		line := lines.Text()
		if len(line) < 2 {
			continue
		}
		pgid, err := strconv.Atoi(line[1:])
		if err != nil || pgid <= 1 {
			continue
		}
		if line[0] == '+' {
			groups[pgid] = true
		} else {
			delete(groups, pgid)
		}
	}
	for pgid := range groups {
		syscall.Kill(-pgid, syscall.SIGKILL)
	}
}
