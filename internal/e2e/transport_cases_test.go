package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestCaseI1_B3_CompleteOverMessageLimit(t *testing.T) {
	s := start(t, casePath(t, "i1-complete-over-message-limit.py"))
	r := s.call(snapshotTool, nil)
	r.wantComplete(t, 5000)
	if !deref(r.Structured.OutputTruncated) {
		t.Error("B4: outputTruncated is not true")
	}
	if len(r.Content[0].Text) > textViewLimit {
		t.Errorf("B3: the view has %d bytes", len(r.Content[0].Text))
	}
	note := r.Structured.Stderr
	if note == "" || !strings.HasSuffix(note, "\n") || strings.Count(note, "\n") != 1 {
		t.Errorf("B4: the note is %q", note)
	}
	if !strings.HasSuffix(r.view(t).Stderr, note) {
		t.Error("B4: the view has another note")
	}
	s.ping(5 * time.Second)
	s.call(tailTool, map[string]any{"maxEvents": 10, "maxMs": 60000}).wantCutoff(t, "events", 10)
}

func TestCaseI2_S5_StdinIsEmpty(t *testing.T) {
	s := start(t, casePath(t, "i2-reads-stdin.py"))
	id := s.begin(snapshotTool, nil)
	s.ping(5 * time.Second)
	r := s.finish(id, 10*time.Second)
	r.wantComplete(t, 1)
	if got := r.Structured.messages(t); !slices.Equal(got, []string{"stdin closed"}) {
		t.Errorf("S5: the child says %q", got)
	}
}

// A feed is a server whose stdin is written by one of the feeder scripts.
type feed struct {
	frames   []frame
	exitCode int
	ended    time.Time
	eof      time.Time
	marker   string
}

func runFeeder(t *testing.T, feeder, backend, args string, limit time.Duration) feed {
	t.Helper()
	f := feed{marker: newMarker()}
	env := environment(t, f.marker, "HACK_MCP_COMMAND="+casePath(t, backend), "TOOL="+tailTool, "ARGS="+args)
	server := exec.Command(binary, "mcp", "serve")
	server.Dir, server.Env = projectDir(t), env
	client := exec.Command(casePath(t, feeder))
	client.Env = append(slices.Clone(env[:len(env)-3]), env[len(env)-2:]...)
	client.Env = slices.DeleteFunc(client.Env, func(v string) bool { return strings.HasPrefix(v, "TAILRACE_E2E=") })
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	client.Stdout, server.Stdin = w, r
	out, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	if err := client.Start(); err != nil {
		t.Fatal(err)
	}
	r.Close()
	w.Close()
	eof := make(chan time.Time, 1)
	go func() { client.Wait(); eof <- time.Now() }()
	timer := time.AfterFunc(limit, func() { server.Process.Kill() })
	defer timer.Stop()
	br := bufio.NewReader(out)
	for {
		line, err := br.ReadBytes('\n')
		if len(line) > 0 {
			fr := frame{raw: line, at: time.Now()}
			if err := json.Unmarshal(line, &fr.msg); err != nil {
				t.Errorf("S9: not JSON on stdout: %v", err)
			}
			f.frames = append(f.frames, fr)
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	server.Wait()
	f.ended, f.exitCode = time.Now(), server.ProcessState.ExitCode()
	f.eof = <-eof
	return f
}

func (f feed) reply(id string) *frame {
	for i := range f.frames {
		if f.frames[i].msg.Method == "" && string(f.frames[i].msg.ID) == id {
			return &f.frames[i]
		}
	}
	return nil
}

func (f feed) gone(t *testing.T, limit time.Duration) {
	t.Helper()
	for deadline := time.Now().Add(limit); ; time.Sleep(20 * time.Millisecond) {
		left := marked(f.marker)
		if len(left) == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("S3: still alive: %v", left)
		}
	}
}

func TestCaseI3_S2_EOFMidCall(t *testing.T) {
	t.Parallel()
	f := runFeeder(t, "i3-eof-midcall.py", "b1-ignores-term.py", `{"maxMs":30000}`, 30*time.Second)
	if d := f.ended.Sub(f.eof); d > 1900*time.Millisecond {
		t.Errorf("S2: the server ended %v after stdin end", d)
	}
	if f.exitCode != 0 {
		t.Errorf("S2: exit code %d", f.exitCode)
	}
	f.gone(t, 2*time.Second)
}

func TestCaseI4_S2_CancelMidCall(t *testing.T) {
	t.Parallel()
	f := runFeeder(t, "i4-cancel-midcall.py", "b1-ignores-term.py", `{"maxMs":5000}`, 40*time.Second)
	if f.reply("1") != nil {
		t.Error("S2: a reply to the cancelled request")
	}
	ping, third := f.reply("2"), f.reply("3")
	if ping == nil || third == nil {
		t.Fatal("no reply to the ping or to the third call")
	}
	r := checkResult(t, *third)
	r.wantCutoff(t, "time", 5000)
	if n := r.Structured.numbers(t, "n"); len(n) == 0 || n[0] != 0 {
		t.Errorf("S1: the third call starts with %v", n)
	}
	f.gone(t, 3*time.Second)
}

func TestCaseI5_S7_PingDuringCall(t *testing.T) {
	t.Parallel()
	f := runFeeder(t, "i5-ping-during-call.py", "g2-slow-then-hangs.py", `{"maxMs":3000}`, 30*time.Second)
	one, ping, list, four := f.reply("1"), f.reply("2"), f.reply("3"), f.reply("4")
	if one == nil || ping == nil || list == nil || four == nil {
		t.Fatal("S7: a reply is missing")
	}
	if !ping.at.Before(one.at) || !list.at.Before(one.at) || one.at.Sub(ping.at) < 2*time.Second {
		t.Error("S7: ping or tools/list waited for the call")
	}
	for _, fr := range []*frame{one, four} {
		checkResult(t, *fr).wantCutoff(t, "time", 3000)
	}
	if d := four.at.Sub(one.at).Abs(); d > 2*time.Second {
		t.Errorf("S7: the calls did not run side by side (%v apart)", d)
	}
	f.gone(t, 3*time.Second)
}

func TestCaseI6_S8_ProgressToken(t *testing.T) {
	t.Parallel()
	f := runFeeder(t, "i6-progress-token.py", "g2-slow-then-hangs.py", `{"maxMs":20000}`, 60*time.Second)
	one := f.reply("1")
	if one == nil {
		t.Fatal("no reply to call 1")
	}
	last, lastAt := -1.0, time.Time{}
	n := 0
	for i := range f.frames {
		fr := &f.frames[i]
		if fr.msg.Method != "notifications/progress" {
			continue
		}
		n++
		var p struct {
			ProgressToken any     `json:"progressToken"`
			Progress      float64 `json:"progress"`
		}
		if err := json.Unmarshal(fr.msg.Params, &p); err != nil {
			t.Fatal(err)
		}
		if p.ProgressToken != "p" {
			t.Errorf("S8: progress for token %v", p.ProgressToken)
		}
		if p.Progress <= last {
			t.Errorf("S8: progress falls from %v to %v", last, p.Progress)
		}
		if !lastAt.IsZero() && fr.at.Sub(lastAt) > 5500*time.Millisecond {
			t.Errorf("S8: %v between two", fr.at.Sub(lastAt))
		}
		if fr.at.After(one.at) {
			t.Error("S8: progress after the reply")
		}
		last, lastAt = p.Progress, fr.at
	}
	if n < 3 {
		t.Errorf("S8: %d progress notifications in 20 s", n)
	}
	f.gone(t, 3*time.Second)
}

func TestS2_SignalsEndWithZero(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP} {
		t.Run(sig.String(), func(t *testing.T) {
			s := start(t, casePath(t, "b1-ignores-term.py"))
			s.begin(tailTool, map[string]any{"maxMs": 30000})
			waitForChild(t, s)
			began := time.Now()
			if err := s.cmd.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			select {
			case <-s.done:
			case <-time.After(5 * time.Second):
				t.Fatal("the server did not end")
			}
			s.cmd.Wait()
			if code := s.cmd.ProcessState.ExitCode(); code != 0 {
				t.Errorf("S2: exit code %d", code)
			}
			if d := time.Since(began); d > 1900*time.Millisecond {
				t.Errorf("S2: ended after %v", d)
			}
			s.childrenGone(500 * time.Millisecond)
		})
	}
}

func waitForChild(t *testing.T, s *session) {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Second); len(s.children()) == 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("no child was started")
		}
	}
}

func TestS3_NothingOutlivesKilledServer(t *testing.T) {
	dir := t.TempDir()
	stub := dir + "/stub.sh"
	write(t, stub, "#!/bin/sh\ntrap '' TERM HUP INT\n( trap '' TERM HUP INT; while :; do sleep 1; done ) &\n"+
		"while :; do echo '{\"type\":\"log\"}'; sleep 0.2; done\n", 0o755)
	s := start(t, stub)
	s.begin(tailTool, map[string]any{"maxMs": 30000, "maxEvents": 10000})
	waitForChild(t, s)
	time.Sleep(300 * time.Millisecond)
	if len(s.children()) < 2 {
		t.Fatalf("the stub has %d processes", len(s.children()))
	}
	s.cmd.Process.Kill()
	<-s.done
	s.childrenGone(3 * time.Second)
}

func TestB10_BadInputLosesNothing(t *testing.T) {
	s := start(t, casePath(t, "g3-exact-limits.py"), "N=3")
	bad := []string{
		`not json`,
		`{"jsonrpc":"2.0","id":90,"method":`,
		`[{"jsonrpc":"2.0","id":91,"method":"ping"}]`,
		`{"jsonrpc":"2.0","id":92,"method":"ping","params":` + strings.Repeat("[", 2000) + strings.Repeat("]", 2000) + `}`,
		`{"jsonrpc":"2.0","id":"` + strings.Repeat("x", 1<<20) + `","method":"ping"}`,
		`{"jsonrpc":"2.0","id":93,"method":"ping","params":{"x":"` + strings.Repeat("y", 17<<20) + `"}}`,
		``,
		`"just a string"`,
		`{"jsonrpc":"2.0","id":94,"method":"no/such/secretmethod"}`,
		`{"jsonrpc":"2.0","id":95,"method":"tools/call","params":{"name":"secrettool","arguments":{}}}`,
		`{"jsonrpc":"2.0","id":96,"method":"tools/call","params":"secretparams"}`,
		"{\"jsonrpc\":\"2.0\",\"id\":97,\"method\":\"tools/call\",\"params\":{\"name\":\"" + snapshotTool + "\",\"arguments\":\"secretargs\"}}",
		"{\"jsonrpc\":\"2.0\",\"id\":98,\"method\":\"tools/call\",\"params\":{\"name\":\"" + snapshotTool + "\",\"arguments\":{\"secretname\":1}}}",
	}
	for _, line := range bad {
		s.send(line)
		s.ping(10 * time.Second)
	}
	s.call(snapshotTool, nil).wantComplete(t, 3)
	for _, f := range s.all(func(frame) bool { return true }) {
		if bytes.Contains(f.raw, []byte("secret")) {
			t.Errorf("S9: caller input in %.200s", f.raw)
		}
	}
	if strings.Contains(s.stderr.String(), "secret") {
		t.Error("S9: caller input in the server's log")
	}
}
