package e2e

import (
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// stub writes a shell script that serves as a backend.
func stub(t *testing.T, script string) string {
	t.Helper()
	path := t.TempDir() + "/stub"
	write(t, path, "#!/bin/sh\n"+script+"\n", 0o755)
	return path
}

// The server is stopped in a call and goes on. Within the bound of the call nothing is
// different; past it the call ends by its own bound; and a session that ended meanwhile
// ends as it does otherwise.
func TestFault_ServerStopped(t *testing.T) {
	t.Parallel()
	pause := func(s *session, d time.Duration) {
		if err := s.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		time.Sleep(d)
		if err := s.cmd.Process.Signal(syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("within the bound", func(t *testing.T) {
		s := start(t, stub(t, `i=0; while [ $i -lt 20 ]; do echo "{\"type\":\"log\",\"n\":$i}"; i=$((i+1)); sleep 0.05; done`))
		id := s.begin(tailTool, map[string]any{"maxMs": 60000})
		waitForChild(t, s)
		pause(s, 1500*time.Millisecond)
		s.finish(id, 20*time.Second).wantComplete(t, 20)
	})
	t.Run("past the bound", func(t *testing.T) {
		s := start(t, stub(t, `while echo '{"type":"log"}'; do sleep 0.2; done`))
		id := s.begin(tailTool, map[string]any{"maxMs": 1000})
		waitForChild(t, s)
		pause(s, 1500*time.Millisecond)
		s.finish(id, 5*time.Second).wantCutoff(t, "time", 1000)
		s.ping(5 * time.Second)
	})
	t.Run("stdin ends meanwhile", func(t *testing.T) {
		s := start(t, casePath(t, "b1-ignores-term.py"))
		s.begin(tailTool, map[string]any{"maxMs": 60000})
		waitForChild(t, s)
		if err := s.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		s.stdin.Close()
		if err := s.cmd.Process.Signal(syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
		if code := s.end(2500 * time.Millisecond); code != 0 {
			t.Errorf("S2: exit code %d", code)
		}
		s.childrenGone(500 * time.Millisecond)
	})
}

// A server with few descriptors refuses the calls that it has none for, by their typed
// reason, and serves again when the others have ended.
func TestFault_ServerEMFILE(t *testing.T) {
	t.Parallel()
	s := start(t, stub(t, `echo '{"type":"log"}'; sleep 2`), "--max-commands=24")
	s.finish(s.begin(snapshotTool, nil), 20*time.Second).wantComplete(t, 1)
	open, err := os.ReadDir("/proc/" + strconv.Itoa(s.cmd.Process.Pid) + "/fd")
	if err != nil {
		t.Fatal(err)
	}
	// A start needs seven, and a call that runs holds two.
	low := unix.Rlimit{Cur: uint64(len(open) + 12), Max: uint64(len(open) + 12)}
	if err := unix.Prlimit(s.cmd.Process.Pid, unix.RLIMIT_NOFILE, &low, nil); err != nil {
		t.Fatal(err)
	}
	var ids []string
	for range 24 {
		ids = append(ids, s.begin(snapshotTool, nil))
	}
	refused := 0
	for _, id := range ids {
		r := s.finish(id, 20*time.Second)
		if r.Structured.OK {
			r.wantComplete(t, 1)
			continue
		}
		refused++
		r.wantRefused(t, "")
		if r.Structured.Error.Reason != "spawn_failed" {
			t.Errorf("O11: reason %s", r.Structured.Error.Reason)
		}
	}
	if refused == 0 || refused == len(ids) {
		t.Errorf("%d of %d calls were refused", refused, len(ids))
	}
	s.finish(s.begin(snapshotTool, nil), 20*time.Second).wantComplete(t, 1)
	if n := defunct(s.cmd.Process.Pid); n != 0 {
		t.Errorf("%d zombies", n)
	}
}

// stderr alone passes the capture limit.
func TestFault_StderrFlood(t *testing.T) {
	t.Parallel()
	s := start(t, stub(t, `echo '{"type":"log"}'; head -c 9000000 /dev/zero | tr '\0' e >&2; sleep 60`))
	r := s.finish(s.begin(snapshotTool, nil), 30*time.Second)
	r.wantCutoff(t, "bytes", captureLimit)
	if n := len(r.Structured.Stdout) + strings.Count(r.Structured.Stderr, "e"); n < captureLimit-3 || n > captureLimit+64 {
		t.Errorf("C1: %d bytes are kept", n)
	}
	if !deref(r.Structured.OutputTruncated) {
		t.Error("C5: outputTruncated is not true")
	}
}

// The command ends in the middle of a code point, and by a signal.
func TestFault_ExitInACodePoint(t *testing.T) {
	t.Parallel()
	s := start(t, stub(t, `echo '{"type":"log"}'; printf '\360\237\230'; printf 'x\342\202' >&2; kill -9 $$`))
	r := s.finish(s.begin(snapshotTool, nil), 10*time.Second)
	r.wantFailure(t, 137)
	r.wantLogs(t, 1)
	if !strings.HasSuffix(r.Structured.Stdout, "\ufffd") || r.Structured.Stderr != "x\ufffd" {
		t.Errorf("C4: %q %q", r.Structured.Stdout, r.Structured.Stderr)
	}
}

// The command stops itself, or a process that left its group holds its pipes and writes on.
func TestFault_ChildStopsOrLeavesAWriter(t *testing.T) {
	t.Parallel()
	t.Run("stops", func(t *testing.T) {
		s := start(t, stub(t, `echo '{"type":"log"}'; kill -STOP $$; sleep 60`))
		began := time.Now()
		s.call(tailTool, map[string]any{"maxMs": 500}).wantCutoff(t, "time", 500)
		if took := time.Since(began); took > 2500*time.Millisecond {
			t.Errorf("S2: the reply came after %v", took)
		}
		s.childrenGone(3 * time.Second)
	})
	t.Run("detached writer", func(t *testing.T) {
		s := start(t, stub(t, `setsid sh -c 'while echo "{\"type\":\"log\"}"; do sleep 0.05; done' & sleep 0.2; exit 0`))
		began := time.Now()
		r := s.call(snapshotTool, nil)
		if took := time.Since(began); took > 4*time.Second {
			t.Errorf("O10: the reply came after %v", took)
		}
		if r.wantComplete(t, r.Structured.types(t)["log"]); r.Structured.types(t)["log"] == 0 {
			t.Error("O10: nothing that the writer wrote in time is there")
		}
		s.childrenGone(3 * time.Second) // It met a closed pipe.
	})
}

// A call with every fault of its command at once does not disturb its neighbours.
func TestFault_SideBySide(t *testing.T) {
	t.Parallel()
	s := start(t, stub(t, `case "$*" in
*deaf*) trap '' TERM HUP INT; while echo '{"type":"log"}'; do sleep 0.05; done;;
*fail*) echo '{"type":"log"}'; exit 7;;
*flood*) exec yes '{"type":"log"}';;
*) echo '{"type":"log"}';;
esac`), "--max-commands=12")
	ids := map[string][]string{}
	for range 3 {
		for _, kind := range []string{"deaf", "fail", "flood", "good"} {
			ids[kind] = append(ids[kind], s.begin(tailTool, map[string]any{"maxMs": 1000, "maxEvents": 10000, "query": kind}))
		}
	}
	s.ping(5 * time.Second)
	for i := range 3 {
		s.finish(ids["deaf"][i], 20*time.Second).wantCutoff(t, "time", 1000)
		s.finish(ids["fail"][i], 20*time.Second).wantFailure(t, 7)
		s.finish(ids["flood"][i], 20*time.Second).wantCutoff(t, "events", 10000)
		s.finish(ids["good"][i], 20*time.Second).wantComplete(t, 1)
	}
	if code := s.end(1900 * time.Millisecond); code != 0 {
		t.Errorf("S2: exit code %d", code)
	}
}
