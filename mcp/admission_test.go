//go:build unix

package mcp

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/tailrace/tailrace/pipeline"
)

func shared(t *testing.T, o SharedOptions) *Shared {
	t.Helper()
	s, err := NewShared(o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// with makes a session one of those that share.
func with(s *Shared) func(*Options) { return func(o *Options) { o.Shared = s } }

// admitted calls until a seat is free.
func (s *session) admitted(id string) result {
	s.t.Helper()
	for end := time.Now().Add(deadline); ; time.Sleep(5 * time.Millisecond) {
		r := s.call(id, SnapshotTool, `{}`)
		s.forget()
		if e := r.Structured.Error; e == nil || e.Reason != "busy" {
			return r
		}
		if time.Now().After(end) {
			s.t.Fatal("O11: no seat becomes free")
		}
	}
}

func TestO11_Busy(t *testing.T) {
	both := shared(t, SharedOptions{MaxCommands: 1})
	p := &pids{}
	one, two := startWith(t, "polite", with(both), watchChildren(p)), startWith(t, "logs:1", with(both))
	one.ask("1", TailTool, `{"maxMs":60000}`)
	p.next(t)
	for _, s := range []*session{one, two} {
		message := s.call(`"b"`, SnapshotTool, `{}`).refused(t, "E_BUSY", "busy")
		if !strings.Contains(message, " 1 at once") || !strings.Contains(message, "then call again") {
			t.Errorf("O11: %q", message)
		}
		// What is wrong with a call is told in any case, and nobody else waits.
		s.call(`"c"`, SnapshotTool, `{"tail":0}`).refused(t, "E_USAGE", "invalid_arguments")
		s.ping(`"d"`)
	}
	one.silent("1") // It was not disturbed.
	one.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	if r := two.admitted("2"); !*r.Structured.OK {
		t.Errorf("O11: %.300s", r.raw)
	}
}

// A command that ignores its stop keeps its seat until it is killed, though its call is
// long over.
func TestO11_SeatUntilTheGroupHasEnded(t *testing.T) {
	p := &pids{}
	s := startWith(t, "hang", with(shared(t, SharedOptions{MaxCommands: 1})), watchChildren(p))
	s.ask("1", TailTool, `{"maxMs":60000}`)
	pid := p.next(t)
	s.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	s.call("2", SnapshotTool, `{}`).refused(t, "E_BUSY", "busy")
	gone(t, pid)
	s.ask("3", TailTool, `{"maxMs":1}`)
	for end := time.Now().Add(deadline); ; s.forget() {
		if e := s.result("3").Structured.Error; e == nil {
			break
		}
		if time.Now().After(end) {
			t.Fatal("O11: no seat becomes free")
		}
		s.forget()
		s.ask("3", TailTool, `{"maxMs":1}`)
	}
}

// A client that goes by its replies is never refused.
func TestO11_SeatIsFreeAtTheReply(t *testing.T) {
	s := startWith(t, "logs:1", with(shared(t, SharedOptions{MaxCommands: 1})))
	for i := range 40 {
		if r := s.call(fmt.Sprint(i), SnapshotTool, `{}`); !*r.Structured.OK {
			t.Fatalf("O11: call %d: %.300s", i, r.raw)
		}
	}
}

func TestO11_SeatsAreFreedOnEveryPath(t *testing.T) {
	for name, fail := range map[string]func() (child, *refusal){
		"spawn failure": func() (child, *refusal) { return nil, refusedSpawn("spawn_failed") },
		"panic at start": func() (child, *refusal) {
			panic("secret")
		},
		"panic in the run": func() (child, *refusal) { return &brokenChild{closed: make(chan struct{})}, nil },
		"a bad end":        func() (child, *refusal) { return &failingChild{}, nil },
	} {
		t.Run(name, func(t *testing.T) {
			both := shared(t, SharedOptions{MaxCommands: 1})
			s := startWith(t, "logs:1", with(both), func(s *server) {
				run, calls := s.start, 0
				s.start = func(c command) (child, *refusal) {
					if calls++; calls <= 3 {
						return fail()
					}
					return run(c)
				}
			})
			for i := range 3 {
				if r := s.admitted(fmt.Sprint(i)); *r.Structured.OK {
					t.Fatalf("not a failure: %.300s", r.raw)
				}
			}
			if r := s.admitted("4"); !*r.Structured.OK {
				t.Errorf("O11: %.300s", r.raw)
			}
			free(t, both)
		})
	}
	t.Run("end of the session", func(t *testing.T) {
		both := shared(t, SharedOptions{MaxCommands: 2})
		p := &pids{}
		s := startWith(t, "hang", with(both), watchChildren(p))
		s.ask("1", TailTool, `{"maxMs":60000}`)
		s.ask("2", SnapshotTool, `{}`)
		p.next(t)
		p.next(t)
		s.in.Close()
		s.end()
		free(t, both)
	})
}

// free checks that all seats are.
func free(t *testing.T, s *Shared) {
	t.Helper()
	for end := time.Now().Add(deadline); len(s.seats) > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("O11: %d seats are taken", len(s.seats))
		}
	}
}

// failingChild ends at once with an error.
type failingChild struct{}

func (failingChild) Chunks(context.Context) iter.Seq[pipeline.Chunk] {
	return func(func(pipeline.Chunk) bool) {}
}
func (failingChild) Exit() pipeline.Exit {
	return pipeline.Exit{Code: 1, Err: errors.New("broken"), End: pipeline.EndSource}
}
func (failingChild) Close() error                      { return errors.New("left") }
func (failingChild) Shorten(time.Duration)             {}
func (failingChild) Signalled() (stopped, killed bool) { return false, false }
func (failingChild) Done() <-chan struct{} {
	done := make(chan struct{})
	close(done)
	return done
}

func TestNewShared_Bounds(t *testing.T) {
	for n, want := range map[int]int{0: DefaultMaxCommands, 1: 1, MaxMaxCommands: MaxMaxCommands, -1: 0, MaxMaxCommands + 1: 0} {
		s, err := NewShared(SharedOptions{MaxCommands: n})
		if want == 0 {
			if !errors.Is(err, ErrMaxCommands) {
				t.Errorf("%d: %v", n, err)
			}
			continue
		}
		if err != nil || cap(s.seats) != want || s.max != want {
			t.Errorf("%d: %+v, %v", n, s, err)
		}
	}
}
