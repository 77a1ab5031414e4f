//go:build unix

package main

import (
	"bufio"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

const patience = 20 * time.Second

// startLogs starts the logs command, as a process of its own, on a command of a
// registered project, and returns the lines that it writes.
func startLogs(t *testing.T, script string, args ...string) (*exec.Cmd, *bufio.Reader, io.Closer) {
	t.Helper()
	root := t.TempDir()
	env := []string{"HOME=" + root, "PATH=" + os.Getenv("PATH")}
	yaml := "version: 1\nsources:\n  job: {command: [sh, -c, '" + script + "']}\n"
	if err := os.WriteFile(filepath.Join(root, "tailrace.yaml"), []byte(yaml), 0o644); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	command := func(args ...string) *exec.Cmd {
		return &exec.Cmd{Path: self, Args: append([]string{"tailrace"}, args...), Env: env, Dir: root}
	}
	if out, err := command("init", "--name", "p").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	cmd := command(append([]string{"logs"}, args...)...)
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(patience, func() { _ = cmd.Process.Kill() })
	t.Cleanup(func() { timer.Stop() })
	return cmd, bufio.NewReader(stdout), stdout
}

func readLine(t *testing.T, r *bufio.Reader) string {
	t.Helper()
	line, err := r.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(line)
}

func wantGone(t *testing.T, pid string) {
	t.Helper()
	n, err := strconv.Atoi(pid)
	if err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(patience); !errors.Is(syscall.Kill(n, 0), syscall.ESRCH); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the command is still there")
		}
	}
}

// A signal ends the command and what it runs, be it one that ignores SIGTERM, before a
// server would lose its patience.
func TestS2_SignalsEndTheCommandOfASource(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		for name, script := range map[string]string{
			"gentle":   "echo $$; exec sleep 60",
			"stubborn": `trap "" TERM INT HUP; echo $$; while :; do sleep 60; done`,
		} {
			t.Run(sig.String()+" "+name, func(t *testing.T) {
				cmd, out, _ := startLogs(t, script)
				pid := readLine(t, out)
				if err := cmd.Process.Signal(sig); err != nil {
					t.Fatal(err)
				}
				if rest, err := io.ReadAll(out); err != nil || len(rest) != 0 {
					t.Errorf("got %q, %v", rest, err)
				}
				var exit *exec.ExitError
				if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 128+int(sig) {
					t.Errorf("got %v, want exit code %d", err, 128+int(sig))
				}
				wantGone(t, pid)
			})
		}
	}
}

func TestS2_StopIsToldAsClosed(t *testing.T) {
	cmd, out, _ := startLogs(t, "echo ready; exec sleep 60", "--json")
	for !strings.Contains(readLine(t, out), "ready") {
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	rest, err := io.ReadAll(out)
	if err != nil || !strings.HasSuffix(string(rest), `"reason":"closed"}`+"\n") {
		t.Errorf("got %q, %v", rest, err)
	}
	if err := cmd.Wait(); err == nil {
		t.Error("exit code 0")
	}
}

func TestS2_ReaderThatGoesAwayEndsTheCommandOfASource(t *testing.T) {
	cmd, out, pipe := startLogs(t, "echo $$; while echo line; do :; done")
	pid := readLine(t, out)
	if err := pipe.Close(); err != nil {
		t.Fatal(err)
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 128+int(syscall.SIGPIPE) {
		t.Errorf("got %v, want exit code %d", err, 128+int(syscall.SIGPIPE))
	}
	wantGone(t, pid)
}
