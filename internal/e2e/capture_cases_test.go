package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func TestCaseA1_O10_GrandchildHoldsPipe(t *testing.T) {
	t.Parallel()
	s := start(t, casePath(t, "a1-grandchild-holds-pipe.sh"))
	began := time.Now()
	r := s.call(tailTool, map[string]any{"maxMs": 5000})
	took := time.Since(began)
	r.wantComplete(t, 1)
	if got := r.Structured.types(t); got["start"] != 1 || got["end"] != 1 {
		t.Errorf("events %v", got)
	}
	if r.Structured.Data.StopReason != "eof" {
		t.Errorf("O10: stop_reason %q", r.Structured.Data.StopReason)
	}
	if took > 3500*time.Millisecond {
		t.Errorf("O10: answered after %v, want about 1 s after the child's exit", took)
	}
	s.childrenGone(2 * time.Second)
}

func TestCaseA2_StderrFlood(t *testing.T) {
	s := start(t, casePath(t, "a2-stderr-flood.py"))
	r := s.call(snapshotTool, nil)
	r.wantComplete(t, 3)
	if n := len(r.Structured.Stderr); n != 300000 {
		t.Errorf("stderr has %d bytes, want 300000", n)
	}
}

func TestCaseA3_BurstThenExit(t *testing.T) {
	s := start(t, casePath(t, "a3-burst-then-exit.py"))
	for range 50 {
		r := s.call(tailTool, map[string]any{"maxEvents": 10000, "maxMs": 60000})
		r.wantComplete(t, 5000)
		for i, n := range r.Structured.numbers(t, "n") {
			if n != i {
				t.Fatalf("E4: log %d carries n=%d", i, n)
			}
		}
		if r.Structured.types(t)["end"] != 1 {
			t.Fatal("no end event")
		}
	}
}

func TestCaseB1_S2_IgnoresTerm(t *testing.T) {
	t.Parallel()
	s := start(t, casePath(t, "b1-ignores-term.py"))
	began := time.Now()
	r := s.call(tailTool, map[string]any{"maxEvents": 1000, "maxMs": 2000})
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("S2: answered after %v", took)
	}
	r.wantCutoff(t, "time", 2000)
	if n := r.Structured.types(t)["log"]; n < 1 || n > 5 {
		t.Errorf("%d logs in 2 s at 2 a second", n)
	}
	s.childrenGone(5 * time.Second)
}

func TestCaseB2_ManyGrandchildren(t *testing.T) {
	s := start(t, casePath(t, "b2-many-grandchildren.sh"))
	s.call(snapshotTool, nil).wantComplete(t, 1)
	fds := descriptors(t, s)
	for range 20 {
		s.call(snapshotTool, nil).wantComplete(t, 1)
	}
	s.childrenGone(3 * time.Second)
	for deadline := time.Now().Add(2 * time.Second); defunct(s.cmd.Process.Pid) != 0; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d defunct children", defunct(s.cmd.Process.Pid))
		}
	}
	// The pipes of a call are closed behind its reply.
	for deadline := time.Now().Add(5 * time.Second); descriptors(t, s) > fds; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d descriptors, %d before", descriptors(t, s), fds)
		}
	}
}

func TestCaseB3_O3_ReactsToStop(t *testing.T) {
	s := start(t, casePath(t, "b3-reacts-to-stop.py"))
	r := s.call(tailTool, map[string]any{"maxEvents": 5, "maxMs": 20000})
	r.wantCutoff(t, "events", 5)
	r.wantLogs(t, 5)
	if r.Structured.Data.StopReason != "max_events" {
		t.Errorf("O8: stop_reason %q", r.Structured.Data.StopReason)
	}
	if n := r.Structured.types(t)["error"]; n != 0 {
		t.Errorf("O3: %d events from after the stop", n)
	}
}

func TestCaseC1_E1_LongLines(t *testing.T) {
	s := start(t, casePath(t, "c1-long-lines.py"))
	r := s.call(snapshotTool, nil)
	r.wantComplete(t, 8)
	base := len(`{"type":"log","ts":"2026-01-02T03:04:05.000Z","entry":{"message":""}}` + "\n")
	for i, n := range []int{65535, 65536, 65537, 1 << 20, 3 << 20} {
		if got := len(r.Structured.messages(t)[i]); got != n-base {
			t.Errorf("E1: message %d has %d bytes, want %d", i, got, n-base)
		}
	}
	if len(r.Content[0].Text) > textViewLimit {
		t.Errorf("B3: the view has %d bytes", len(r.Content[0].Text))
	}
}

func TestCaseC2_C3_MultibyteOverCap(t *testing.T) {
	s := start(t, casePath(t, "c2-multibyte-over-cap.py"))
	r := s.call(snapshotTool, nil)
	r.wantCutoff(t, "bytes", captureLimit)
	if !deref(r.Structured.OutputTruncated) {
		t.Error("C5: outputTruncated is not true")
	}
	if n := len(r.Structured.Stdout); n > captureLimit {
		t.Errorf("C1: stdout has %d bytes", n)
	}
	if n := r.Structured.Data.Count; n != 2725 {
		t.Errorf("O4: %d events, want 2725", n)
	}
	for i, n := range r.Structured.numbers(t, "n") {
		if n != i {
			t.Fatalf("E4: log %d carries n=%d", i, n)
		}
	}
	if strings.ContainsRune(r.Structured.Stdout, utf8.RuneError) {
		t.Error("C3: a code point was split")
	}
}

// TestDoneEmoji is the promise of the front page: 9 MiB of emoji events.
func TestB2_NineMiBOfEmoji(t *testing.T) {
	dir := t.TempDir()
	stub := filepath.Join(dir, "stub.py")
	write(t, stub, "#!/usr/bin/env python3\nimport sys\n"+
		"line='{\"type\":\"log\",\"n\":%d,\"entry\":{\"message\":\"'+'\\U0001f680'*250+'\"}}\\n'\n"+
		"o=sys.stdout.buffer\n"+
		"try:\n n=i=0\n while n<9*1024*1024:\n  b=(line%i).encode(); o.write(b); n+=len(b); i+=1\n o.flush()\nexcept OSError: pass\n", 0o755)
	s := start(t, stub)
	for _, tool := range []string{snapshotTool, tailTool} {
		args := map[string]any{}
		if tool == tailTool {
			s.call(tool, map[string]any{"maxMs": 60000}).wantCutoff(t, "events", 200) // the fallback
			args = map[string]any{"maxEvents": 10000, "maxMs": 60000}
		}
		r := s.call(tool, args)
		r.wantCutoff(t, "bytes", captureLimit)
		var size, want int
		for i := 0; ; i++ {
			size += len(`{"type":"log","n":,"entry":{"message":""}}`+"\n") + len(strconv.Itoa(i)) + 1000
			if size > captureLimit {
				break
			}
			want++
		}
		if got := r.Structured.numbers(t, "n"); len(got) != want || !slices.IsSorted(got) {
			t.Errorf("%s: %d events, want %d", tool, len(got), want)
		}
		if v := r.view(t); v.Data.Cutoff == nil || *v.Data.Cutoff != (cutoff{"bytes", textViewLimit}) || len(r.Content[0].Text) > textViewLimit {
			t.Errorf("%s: B6: the view says %+v in %d bytes", tool, v.Data.Cutoff, len(r.Content[0].Text))
		}
	}
	s.ping(5 * time.Second)
}

func write(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

// descriptors counts the server's open descriptors.
func descriptors(t *testing.T, s *session) int {
	t.Helper()
	fds, err := os.ReadDir("/proc/" + strconv.Itoa(s.cmd.Process.Pid) + "/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(fds)
}

// defunct counts the zombies among a process's children.
func defunct(parent int) int {
	n := 0
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, f := range stats {
		b, err := os.ReadFile(f)
		if err != nil {
			continue
		}
		rest := string(b[strings.LastIndexByte(string(b), ')')+1:])
		fields := strings.Fields(rest)
		if len(fields) > 1 && fields[0] == "Z" && fields[1] == strconv.Itoa(parent) {
			n++
		}
	}
	return n
}

func mustJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
