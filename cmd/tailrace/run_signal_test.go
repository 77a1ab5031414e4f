//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tailrace/tailrace/pipeline"
	"github.com/tailrace/tailrace/pipeline/source"
)

// wantExit waits for a program and wants it to have ended with a code.
func wantExit(t *testing.T, cmd *process, codes ...int) {
	t.Helper()
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || !slices.Contains(codes, exit.ExitCode()) {
		t.Errorf("got %v, want exit code %d", err, codes)
	}
}

func kill(t *testing.T, cmd *process, sig syscall.Signal) {
	t.Helper()
	if err := cmd.Process.Signal(sig); err != nil {
		t.Fatal(err)
	}
}

// waitFor polls until there is a file.
func waitFor(t *testing.T, path string) string {
	t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		if data, err := os.ReadFile(path); err == nil && strings.HasSuffix(string(data), "\n") {
			return strings.TrimSpace(string(data))
		}
		if time.Now().After(deadline) {
			t.Fatal("the file does not come")
		}
	}
}

// The first signal stops the command and reports what was collected until then.
func TestS2_SignalStopsARunAndReports(t *testing.T) {
	for sig, code := range map[syscall.Signal]int{syscall.SIGINT: 130, syscall.SIGTERM: 143, syscall.SIGHUP: 129} {
		t.Run(sig.String(), func(t *testing.T) {
			ready := filepath.Join(t.TempDir(), "ready")
			cmd, out := start(t, t.TempDir(), "run", "-o", "ndjson", "--", "sh", "-c",
				`echo '{"type":"log","n":1}'; echo $$ > "$0"; exec sleep 60`, ready)
			if line := readLine(t, out); line != `{"type":"log","n":1}` {
				t.Errorf("got %q", line)
			}
			pid := waitFor(t, ready)
			kill(t, cmd, sig)
			if rest, err := io.ReadAll(out); err != nil || len(rest) != 0 {
				t.Errorf("got %q, %v", rest, err)
			}
			wantExit(t, cmd, code)
			wantGone(t, pid)
		})
	}
}

func TestO8_InterruptedRunSaysSo(t *testing.T) {
	ready := filepath.Join(t.TempDir(), "ready")
	cmd, out := start(t, t.TempDir(), "run", "-o", "json", "--fail-on-cut", "--", "sh", "-c",
		// All but what a pipe and a few reads hold has been read when the file is there.
		`echo '{"type":"log","n":1}'; yes | head -c 2000000; echo part | tr -d '\n'; echo $$ > "$0"; exec sleep 60`, ready)
	waitFor(t, ready)
	kill(t, cmd, syscall.SIGINT)
	var got struct {
		OK     bool
		Stdout string
		Data   struct {
			Count      int
			Cutoff     struct{ Bound string }
			StopReason string `json:"stop_reason"`
		}
	}
	if err := json.NewDecoder(out).Decode(&got); err != nil {
		t.Fatal(err)
	}
	if !got.OK || got.Data.Count != 1 || got.Data.Cutoff.Bound != "interrupt" || got.Data.StopReason != "interrupted" ||
		!strings.HasPrefix(got.Stdout, "{\"type\":\"log\",\"n\":1}\ny\ny\n") {
		t.Errorf("got %+v, with %d bytes", got.Data, len(got.Stdout))
	}
	wantExit(t, cmd, 130)
}

// stubborn ignores what asks it to end, with a child in its group. It prints both ids.
const stubborn = `trap "" INT TERM HUP; sleep 60 & echo $!; echo $$; while :; do sleep 60; done`

// The second signal kills the group at once; the first one alone would take the grace.
func TestS2_SecondSignalKills(t *testing.T) {
	cmd, out := start(t, t.TempDir(), "run", "-o", "text", "--", "sh", "-c", stubborn)
	child, leader := readLine(t, out), readLine(t, out)
	kill(t, cmd, syscall.SIGINT)
	kill(t, cmd, syscall.SIGTERM)
	wantExit(t, cmd, 130, 143) // Of two at once the system delivers either first.
	wantGone(t, leader)
	wantGone(t, child)
}

// signalSelf sends a signal to the test itself, in which catchSignals catches it.
func signalSelf(t *testing.T, sig syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(os.Getpid(), sig); err != nil {
		t.Fatal(err)
	}
}

func TestS2_SecondSignalShortensTheGrace(t *testing.T) {
	defer goleak.VerifyNone(t)
	child, err := source.Start(source.Command{Path: "sh", Args: []string{"-c", stubborn}, Grace: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	defer child.Close()
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	caught := catchSignals(cancel, func(int) {
		t.Error("the run did not end by itself")
		child.Shorten(0)
	})
	defer caught.release()
	caught.child.Store(child)
	lines := 0
	for c := range child.Chunks(ctx) {
		before := lines
		if lines += bytes.Count(c.Data, []byte{'\n'}); before < 2 && lines >= 2 {
			signalSelf(t, syscall.SIGTERM)
			<-ctx.Done()
			signalSelf(t, syscall.SIGINT)
		}
	}
	if exit := child.Exit(); exit.End != pipeline.EndContext || exit.Code != 128+int(syscall.SIGKILL) {
		t.Errorf("got %+v", exit)
	}
	if !errors.Is(context.Cause(ctx), pipeline.ErrInterrupted) || caught.code() != codeTerminated {
		t.Errorf("got %v and code %d", context.Cause(ctx), caught.code())
	}
}

// A run that does not end although its command was killed ends the program.
func TestS2_SecondSignalIsTheLastWord(t *testing.T) {
	defer goleak.VerifyNone(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	ended := make(chan int, 1)
	caught := catchSignals(cancel, func(code int) { ended <- code })
	defer caught.release()
	signalSelf(t, syscall.SIGINT)
	<-ctx.Done()
	signalSelf(t, syscall.SIGTERM)
	select {
	case code := <-ended:
		if code != codeInterrupted {
			t.Errorf("got exit code %d", code)
		}
	case <-time.After(patience):
		t.Error("the program goes on")
	}
}

// A run whose reader has stopped reading, without going away, can still be ended.
func TestS2_SecondSignalEndsAStalledRun(t *testing.T) {
	ready := filepath.Join(t.TempDir(), "ready")
	cmd, out := start(t, t.TempDir(), "run", "--max-bytes", "1GiB", "--", "sh", "-c", `echo $$ > "$0"; exec yes`, ready)
	pid := waitFor(t, ready)
	readLine(t, out)
	kill(t, cmd, syscall.SIGINT)
	kill(t, cmd, syscall.SIGTERM) // two of one kind may become one on the way
	wantExit(t, cmd, 130, 143)    // and of two kinds either may come first
	wantGone(t, pid)
}

func TestS2_ReaderThatGoesAwayEndsARun(t *testing.T) {
	for _, format := range []string{"text", "ndjson"} {
		t.Run(format, func(t *testing.T) {
			cmd, out := start(t, t.TempDir(), "run", "-o", format, "--", "sh", "-c", `echo "{\"pid\":$$}"; while echo '{}'; do :; done`)
			var first struct{ Pid json.Number }
			if err := json.Unmarshal([]byte(readLine(t, out)), &first); err != nil {
				t.Fatal(err)
			}
			if err := cmd.pipe.Close(); err != nil {
				t.Fatal(err)
			}
			wantExit(t, cmd, codeBrokenPipe)
			wantGone(t, first.Pid.String())
		})
	}
}

// A bound ends the whole group, also what the command left in the background.
func TestS3_BoundLeavesNoProcess(t *testing.T) {
	cmd, out := start(t, t.TempDir(), "run", "--lines", "--max-events", "2", "--", "sh", "-c", stubborn)
	child, leader := readLine(t, out), readLine(t, out)
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	wantGone(t, leader)
	wantGone(t, child)
}

// A demo that is interrupted takes its folder along.
func TestS2_InterruptedDemoCleansUp(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	cmd, out := start(t, dir, "demo")
	for !strings.Contains(readLine(t, out), "what it means") {
	}
	kill(t, cmd, syscall.SIGINT)
	if _, err := io.Copy(io.Discard, out); err != nil {
		t.Error(err)
	}
	wantExit(t, cmd, codeInterrupted)
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("left are %v, %v", left, err)
	}
}
