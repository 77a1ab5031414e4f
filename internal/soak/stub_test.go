//go:build linux

package soak

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// stubVariable makes the test binary the backend command of a server.
const stubVariable = "TAILRACE_SOAK_STUB"

// stub is the backend. Its last argument that begins with "kind=" says what it does, with
// a number behind a second equals sign.
func stub(args []string) int {
	kind, n := "", 0
	for _, a := range args {
		if i := strings.Index(a, "kind="); i >= 0 {
			k, number, _ := strings.Cut(a[i+len("kind="):], "=")
			kind = k
			n, _ = strconv.Atoi(number)
		}
	}
	out := bufio.NewWriterSize(os.Stdout, 32<<10)
	defer out.Flush()
	logs := func(n int, message string) {
		for i := range n {
			fmt.Fprintf(out, `{"type":"log","n":%d,"m":"%s"}`+"\n", i, message)
		}
	}
	hang := func() int {
		out.Flush()
		time.Sleep(time.Minute)
		return 0
	}
	switch kind {
	case "good":
		logs(n, "é😀")
		fmt.Fprintln(out, `{"type":"end","reason":"eof"}`)
	case "large": // 7 MiB that escape to more than a result holds
		logs(7<<10, strings.Repeat(`\"\\é`, 166))
	case "bytes": // over the capture
		logs(10<<10, strings.Repeat("x", 1000))
	case "flood":
		for {
			logs(1000, "flood")
		}
	case "stderr":
		logs(n, "")
		fmt.Fprint(os.Stderr, strings.Repeat("e", 300000))
	case "fail":
		logs(3, "")
		return n
	case "killed":
		logs(2, "")
		out.Flush()
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
		return hang()
	case "error":
		logs(1, "")
		fmt.Fprintln(out, `{"type":"error","message":"broken"}`)
	case "reason":
		logs(1, "")
		fmt.Fprintln(out, `{"type":"end","reason":"lost"}`)
	case "partial": // the last line has no end, and ends in a code point
		logs(n, "")
		fmt.Fprint(out, "{\"type\":\"log\",\"m\":\"\xf0\x9f\x98")
	case "hang":
		logs(1, "")
		return hang()
	case "deaf":
		signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
		logs(1, "")
		return hang()
	case "stopped":
		logs(1, "")
		out.Flush()
		syscall.Kill(os.Getpid(), syscall.SIGSTOP)
		return hang()
	case "family": // deaf descendants that hold the pipes
		for range 2 {
			cmd := exec.Command("/proc/self/exe", "kind=deaf")
			cmd.Stdout, cmd.Stderr = nil, os.Stderr
			if cmd.Start() != nil {
				return 99
			}
		}
		logs(n, "")
	case "answer": // speaks up when it is told to end
		told := make(chan os.Signal, 1)
		signal.Notify(told, syscall.SIGTERM)
		logs(2, "")
		out.Flush()
		<-told
		fmt.Fprintln(out, `{"type":"error"}`)
		return 143
	case "data":
		fmt.Fprintf(out, `{"projects":[%d]}`, n)
	default:
		fmt.Fprintln(os.Stderr, "no such kind")
		return 98
	}
	return 0
}
