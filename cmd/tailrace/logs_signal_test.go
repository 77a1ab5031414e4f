//go:build unix

package main

import (
	"bufio"
	"errors"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

const patience = 20 * time.Second

// A process is the program, started, and the end of its stdout that a test reads.
type process struct {
	*exec.Cmd
	pipe io.Closer
}

// command is the program with arguments, in a folder: the one that scripts run, since
// what starts its own executable again must find the program and not the tests.
func command(t *testing.T, dir string, args ...string) *exec.Cmd {
	t.Helper()
	self, err := exec.LookPath("tailrace")
	if err != nil {
		t.Fatal(err)
	}
	// A SIGHUP that is ignored, as below nohup, would be ignored by the program too.
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	t.Cleanup(func() { signal.Stop(hangups) })
	return &exec.Cmd{
		Path: self, Args: append([]string{self}, args...), Dir: dir,
		Env: []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + os.Getenv("TMPDIR"), "GORACE=" + raceEnd},
	}
}

// start starts the program, as a process of its own. It is killed where a test takes too
// long.
func start(t *testing.T, dir string, args ...string) (*process, *bufio.Reader) {
	t.Helper()
	cmd := command(t, dir, args...)
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(patience, func() { _ = cmd.Process.Kill() })
	t.Cleanup(func() { timer.Stop(); _ = stdout.Close() })
	return &process{cmd, stdout}, bufio.NewReader(stdout)
}

// startIn starts the program in a folder that is a project with this tailrace.yaml.
func startIn(t *testing.T, root, yaml string, args ...string) (*process, *bufio.Reader) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(root, "tailrace.yaml"), []byte(yaml), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := command(t, root, "init", "--name", "p").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return start(t, root, args...)
}

// startLogs starts the logs command on a source that runs a shell script.
func startLogs(t *testing.T, script string, args ...string) (*process, *bufio.Reader) {
	t.Helper()
	yaml := "version: 1\nsources:\n  job: {command: [sh, -c, '" + script + "']}\n"
	return startIn(t, t.TempDir(), yaml, append([]string{"logs"}, args...)...)
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
				cmd, out := startLogs(t, script)
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
	cmd, out := startLogs(t, "echo ready; exec sleep 60", "--json")
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
	cmd, out := startLogs(t, "echo $$; while echo line; do :; done")
	pid := readLine(t, out)
	if err := cmd.pipe.Close(); err != nil {
		t.Fatal(err)
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 128+int(syscall.SIGPIPE) {
		t.Errorf("got %v, want exit code %d", err, 128+int(syscall.SIGPIPE))
	}
	wantGone(t, pid)
}
