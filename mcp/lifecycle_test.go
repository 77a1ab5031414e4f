//go:build unix

package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tailrace/tailrace/pipeline"
)

// pids notes the processes that a server starts.
type pids struct {
	mu   sync.Mutex
	list []int
	news chan int
}

// watchChildren makes the server tell of the first event of each child, which holds its
// process id.
func watchChildren(p *pids) func(*server) {
	p.news = make(chan int, 16)
	return func(s *server) {
		run := s.start
		s.start = func(c command) (child, *refusal) {
			ch, refused := run(c)
			if refused != nil {
				return nil, refused
			}
			return &watchedChild{child: ch, pids: p}, nil
		}
	}
}

type watchedChild struct {
	child
	pids *pids
}

func (w *watchedChild) Chunks(ctx context.Context) iter.Seq[pipeline.Chunk] {
	return func(yield func(pipeline.Chunk) bool) {
		for c := range w.child.Chunks(ctx) {
			var e struct{ PID int }
			if json.Unmarshal(bytes.TrimSpace(c.Data), &e) == nil && e.PID != 0 {
				w.pids.mu.Lock()
				w.pids.list = append(w.pids.list, e.PID)
				w.pids.mu.Unlock()
				w.pids.news <- e.PID
			}
			if !yield(c) {
				return
			}
		}
	}
}

// next waits for the next child to be up.
func (p *pids) next(t *testing.T) int {
	t.Helper()
	select {
	case pid := <-p.news:
		return pid
	case <-time.After(deadline):
		t.Fatal("no child came up")
		return 0
	}
}

// gone checks that a process ends.
func gone(t *testing.T, pid int) {
	t.Helper()
	for end := time.Now().Add(deadline); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			return
		}
	}
	t.Errorf("S2: process %d is alive", pid)
}

func TestS2_CancelledCallGetsNoReply(t *testing.T) {
	p := &pids{}
	s := start(t, "hang", watchChildren(p))
	s.ask("1", TailTool, `{"maxMs":60000}`)
	pid := p.next(t)
	s.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"secret"}}`)
	// The id is free at once, and the call that has it now is another one.
	s.send(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	if r := s.reply("1"); string(r.Result) != "{}" {
		t.Errorf("S2: the reply to a reused id is %s", r.raw)
	}
	gone(t, pid)
	s.ping("2")
	if n := len(s.find(func(r reply) bool { return string(r.ID) == "1" })); n != 1 {
		t.Errorf("S2: %d replies to id 1", n)
	}
	if *s.call("3", TailTool, `{"maxMs":100}`).data(t).StopReason != "timeout" {
		t.Error("B10: the session is not usable")
	}
}

func TestS2_CancelByAnotherSpelling(t *testing.T) {
	p := &pids{}
	s := start(t, "polite", watchChildren(p))
	s.ask(`"\u0061"`, TailTool, `{"maxMs":60000}`)
	pid := p.next(t)
	s.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"a"}}`)
	gone(t, pid)
	s.ping("2")
	s.silent(`"\u0061"`)
}

func TestB10_IDInUse(t *testing.T) {
	p := &pids{}
	s := start(t, "polite", watchChildren(p))
	s.ask("1", TailTool, `{"maxMs":1000}`)
	p.next(t)
	s.send(`{"jsonrpc":"2.0","id":1.0,"method":"ping"}`)
	if r := s.reply("null"); r.Error == nil || r.Error.Code != -32600 {
		t.Errorf("an id in use: %s", r.raw)
	}
	if *s.result("1").data(t).StopReason != "timeout" {
		t.Error("the running call was disturbed")
	}
}

func TestS2_SessionEnds(t *testing.T) {
	for name, end := range map[string]func(*session){
		"stdin end":   func(s *session) { s.in.Close() },
		"context":     func(s *session) { s.cancel() },
		"broken pipe": func(s *session) { s.out.Close(); fmt.Fprintln(s.in, `{"jsonrpc":"2.0","id":9,"method":"ping"}`) },
	} {
		for _, stub := range []string{"hang", "polite"} {
			t.Run(name+"/"+stub, func(t *testing.T) {
				p := &pids{}
				s := start(t, stub, watchChildren(p))
				s.ask("1", TailTool, `{"maxMs":60000}`)
				s.ask("2", SnapshotTool, `{}`)
				one, two := p.next(t), p.next(t)
				end(s)
				if took := s.end(); took > 1900*time.Millisecond {
					t.Errorf("S2: Serve returned after %v", took)
				}
				for _, pid := range []int{one, two} {
					if !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
						t.Errorf("S3: process %d outlived the server", pid)
					}
				}
				s.silent("1")
				s.silent("2")
			})
		}
	}
}

func TestS2_RepliesBeforeTheEnd(t *testing.T) {
	// A client that writes everything and closes gets what is no tool result.
	s := open(t, "argv")
	s.send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}` + "\n" +
		`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n" + `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`)
	s.in.Close()
	s.end()
	<-s.eof
	s.reply("1")
	s.reply("2")
}

func TestS2_StuckClient(t *testing.T) {
	// A client that reads nothing: the reply fills the pipe and waits. Serve ends in time
	// all the same.
	ctx, cancel := context.WithCancel(context.Background())
	in, stuck := io.Pipe()
	w := &stuckWriter{blocked: make(chan struct{}), free: make(chan struct{})}
	served := make(chan error, 1)
	go func() { served <- Serve(ctx, Options{Stdin: in, Stdout: w}) }()
	go fmt.Fprintln(stuck, `{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	<-w.blocked
	began := time.Now()
	cancel()
	if err := <-served; err != nil {
		t.Error(err)
	}
	if took := time.Since(began); took > 1900*time.Millisecond {
		t.Errorf("S2: Serve returned after %v", took)
	}
	close(w.free)
	stuck.Close()
}

type stuckWriter struct {
	once          sync.Once
	blocked, free chan struct{}
}

func (w *stuckWriter) Write(p []byte) (int, error) {
	w.once.Do(func() { close(w.blocked) })
	<-w.free
	return len(p), nil
}

func TestServe_NeedsStreams(t *testing.T) {
	if err := Serve(context.Background(), Options{}); !errors.Is(err, ErrOptions) {
		t.Errorf("got %v", err)
	}
}

func TestS7_CallsRunSideBySide(t *testing.T) {
	p := &pids{}
	s := start(t, "polite", watchChildren(p))
	s.ask("1", TailTool, `{"maxMs":60000}`)
	s.ask("2", TailTool, `{"maxMs":60000}`)
	p.next(t)
	p.next(t)
	s.ping("3")
	s.send(`{"jsonrpc":"2.0","id":4,"method":"tools/list"}`)
	s.reply("4")
	s.call("5", SnapshotTool, `{"tail":0}`).refused(t, "E_USAGE", "invalid_arguments")
	s.silent("1")
	s.silent("2")
}

func TestS8_Progress(t *testing.T) {
	s := start(t, "polite", func(s *server) { s.every = 20 * time.Millisecond })
	s.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + TailTool + `","arguments":{"maxMs":500},"_meta":{"progressToken":12345678901234567890}}}`)
	s.ask("2", TailTool, `{"maxMs":500}`)
	s.send(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"` + TailTool + `","arguments":{"maxMs":500},"_meta":{"progressToken":{"secret":1}}}}`)
	for _, id := range []string{"1", "2", "3"} {
		s.result(id)
	}
	s.ping("4")
	last, n, answered := -1.0, 0, false
	for _, r := range s.find(func(reply) bool { return true }) {
		answered = answered || string(r.ID) == "1"
		if r.Method == "" {
			continue
		}
		n++
		var p struct {
			ProgressToken   json.RawMessage
			Progress, Total float64
			Message         string
		}
		if err := json.Unmarshal(r.Params, &p); err != nil || r.Method != "notifications/progress" {
			t.Fatalf("%s: %v", r.raw, err)
		}
		if string(p.ProgressToken) != "12345678901234567890" || p.Progress <= last || p.Total != 500 || p.Progress >= p.Total {
			t.Errorf("S8: %s after %v", r.raw, last)
		}
		if answered {
			t.Error("S8: progress after the reply")
		}
		last = p.Progress
	}
	if n < 5 {
		t.Errorf("S8: %d notifications", n)
	}
}

func TestS8_ProgressOnTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var seen []time.Duration
		stop := watch(progressEvery, func(d time.Duration) { seen = append(seen, d) })
		time.Sleep(11 * time.Second)
		stop()
		time.Sleep(time.Minute)
		if want := []time.Duration{2e9, 4e9, 6e9, 8e9, 10e9}; fmt.Sprint(seen) != fmt.Sprint(want) {
			t.Errorf("S8: progress at %v, want %v", seen, want)
		}
	})
}

func TestS8_ProgressFrame(t *testing.T) {
	m := &meter{}
	m.options().OnEvent(zeroEvent)
	m.options().OnChunk(pipeline.Chunk{Data: []byte("abc")})
	got := string(progressFrame(json.RawMessage(`"a\u0062"`), 2*time.Second, 120*time.Second, m))
	want := `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"a\u0062","progress":2000,"total":120000,"message":"1 events, 3 bytes"}}` + "\n"
	if got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestS2_NoDescriptorsLeft(t *testing.T) {
	s := start(t, "logs:1")
	count := func() int {
		list, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(list)
	}
	s.call("1", SnapshotTool, `{}`)
	settled := func() int {
		n := count()
		for end := time.Now().Add(time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
			n = min(n, count())
		}
		return n
	}
	before := settled()
	for i := range 20 {
		s.call(fmt.Sprint(i+2), SnapshotTool, `{}`)
	}
	if after := settled(); after > before {
		t.Errorf("S2: %d descriptors, %d before", after, before)
	}
}

func TestS9_LogHoldsNoInput(t *testing.T) {
	s := start(t, "fail")
	s.call("1", SnapshotTool, `{"query":"secret"}`)
	s.call("2", SnapshotTool, `{"secret":1}`)
	if log := s.log.String(); !strings.Contains(log, "call ended") || !strings.Contains(log, "call refused") {
		t.Errorf("the log lacks the calls:\n%s", log)
	}
}
