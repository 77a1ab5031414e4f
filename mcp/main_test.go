package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// stubVariable names the backend that the test binary is to be, when it is started again
// as one.
const stubVariable = "TAILRACE_MCP_STUB"

func TestMain(m *testing.M) {
	if kind, ok := os.LookupEnv(stubVariable); ok {
		os.Exit(stub(kind))
	}
	goleak.VerifyTestMain(m)
}

// stub is the backend command of the tests. Its kind may have a number behind a colon.
func stub(kind string) int {
	kind, arg, _ := strings.Cut(kind, ":")
	n, _ := strconv.Atoi(arg)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	event := func(format string, args ...any) {
		fmt.Fprintf(out, format+"\n", args...)
	}
	switch kind {
	case "argv":
		list, _ := json.Marshal(os.Args[1:])
		event(`{"type":"log","argv":%s}`, list)
	case "environment":
		list, _ := json.Marshal(os.Environ())
		cwd, _ := os.Getwd()
		where, _ := json.Marshal(cwd)
		event(`{"type":"log","env":%s,"cwd":%s}`, list, where)
	case "logs": // n events, then the end
		event(`{"type":"start"}`)
		for i := range n {
			event(`{"type":"log","n":%d}`, i)
		}
		event(`{"type":"end","reason":"eof"}`)
	case "large": // n events of 1,000 bytes, with much to escape in the text view
		for i := range n {
			event(`{"type":"log","n":"%06d","m":"%s"}`, i, strings.Repeat(`<\"&>`, 194))
		}
	case "fail":
		event(`{"type":"log","n":0}`)
		fmt.Fprintln(os.Stderr, "secret diagnostics")
		return 3
	case "hang": // one event, then silence, with no ear for signals
		signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
		event(`{"type":"log","pid":%d}`, os.Getpid())
		out.Flush()
		time.Sleep(time.Minute)
	case "polite": // the same, but it ends when it is told to
		event(`{"type":"log","pid":%d}`, os.Getpid())
		out.Flush()
		time.Sleep(time.Minute)
	case "still": // nothing, and it ends when it is told to
		time.Sleep(time.Minute)
	case "sample": // what the sample of a tool has
		out.Flush()
		return sampleOutput(arg)
	case "serve": // the server itself, with the kind behind the colon as its backend
		return serveStub(arg)
	case "print": // what the variable holds, on both streams
		fmt.Fprint(out, os.Getenv(stubVariable+"_TEXT"))
		fmt.Fprint(os.Stderr, os.Getenv(stubVariable+"_TEXT"))
		return n
	case "flood": // n MiB on stdout
		for range n << 10 {
			fmt.Fprintf(out, "%01023d\n", 0)
		}
	default:
		fmt.Fprintln(os.Stderr, "no such stub")
		return 99
	}
	return 0
}

// serveStub serves on the standard streams, in the working directory.
func serveStub(backend string) int {
	exe, err := os.Executable()
	if err != nil {
		return 98
	}
	cwd, err := os.Getwd()
	if err != nil {
		return 98
	}
	env := []string{"HACK_MCP_COMMAND=" + exe, stubVariable + "=" + backend, "HOME=" + cwd}
	if Serve(context.Background(), Options{Cwd: cwd, Env: env, Stdin: os.Stdin, Stdout: os.Stdout}) != nil {
		return 97
	}
	return 0
}
