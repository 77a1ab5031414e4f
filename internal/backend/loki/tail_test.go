package loki

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/tailrace/tailrace/internal/backend"
)

// A tail is read in a goroutine of its own.
type tail struct {
	got    chan string
	cancel context.CancelFunc
	done   chan error
}

func startTail(t *testing.T, o Options) *tail {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	x := &tail{got: make(chan string, 10_000), cancel: cancel, done: make(chan error, 1)}
	o.Follow = true
	go func() {
		x.done <- read(t, ctx, o, func(item backend.Item) bool {
			if n := item.Notice; n != nil {
				x.got <- fmt.Sprintf("dropped %d", n.Dropped)
			} else {
				x.got <- string(item.Record.Line)
			}
			return true
		})
	}()
	t.Cleanup(func() { cancel() })
	return x
}

func (x *tail) want(t *testing.T, lines ...string) {
	t.Helper()
	for _, want := range lines {
		select {
		case got := <-x.got:
			if got != want {
				t.Fatalf("got %q, want %q", got, want)
			}
		case <-time.After(20 * time.Second):
			t.Fatalf("nothing came, want %q", want)
		}
	}
}

func (x *tail) stop(t *testing.T) {
	t.Helper()
	x.cancel()
	if err := <-x.done; err != nil {
		t.Errorf("a stop is a failure: %v", err)
	}
	for len(x.got) > 0 {
		t.Errorf("too much came: %q", <-x.got)
	}
}

func (s *server) clock(o Options) Options {
	o = s.options(o)
	o.now = func() time.Time { return at }
	return o
}

// A tail begins with the last lines, goes on with what comes, and survives connections that
// are cut, with nothing lost or repeated: not the lines at the time of the cut, not those
// that came meanwhile, not a late one.
func TestTail_Reconnects(t *testing.T) {
	s := newServer(t)
	ns := at.UnixNano()
	s.push(sample{ns - 30, web, "old 1"}, sample{ns - 20, db, "old 2"}, sample{ns - 10, web, "old 3"})
	x := startTail(t, s.clock(Options{Lines: 2}))
	x.want(t, "old 2", "old 3")
	s.opened(t, 1)
	s.push(sample{ns + 10, web, "a"}, sample{ns + 10, web, "b"})
	x.want(t, "a", "b")
	for round := range 20 {
		s.cut()
		base := ns + int64(round+2)*100
		// At the time of the cut, meanwhile, and, but for the first round, a little late.
		same, late := fmt.Sprintf("same %d", round), fmt.Sprintf("late %d", round)
		last := base - 100 + 10
		if round == 0 {
			last = ns + 10
		}
		s.push(sample{last, web, same})
		s.push(sample{last - 1, db, late})
		s.push(sample{base + 5, db, fmt.Sprintf("meanwhile %d", round)})
		got := []string{}
		for range 3 {
			select {
			case line := <-x.got:
				got = append(got, line)
			case <-time.After(20 * time.Second):
				t.Fatalf("round %d: only %q came", round, got)
			}
		}
		slices.Sort(got)
		if want := []string{late, fmt.Sprintf("meanwhile %d", round), same}; !slices.Equal(got, want) {
			t.Fatalf("round %d: got %q, want %q", round, got, want)
		}
		s.opened(t, round+2)
		s.push(sample{base + 10, web, fmt.Sprintf("live %d", round)})
		x.want(t, fmt.Sprintf("live %d", round))
	}
	x.stop(t)
}

// Under load and with cuts at any time, each line comes exactly once.
func TestTail_UnderLoad(t *testing.T) {
	s := newServer(t)
	o := s.clock(Options{Lines: 0})
	o.page = 7
	x := startTail(t, o)
	s.opened(t, 1)
	const n = 3000
	for i := range n {
		// Three lines at each time.
		s.push(sample{at.UnixNano() + 1 + int64(i/3)*1000, web, fmt.Sprint(i)})
		if i%50 == 49 {
			s.cut()
		}
	}
	seen := map[string]int{}
	for len(seen) < n {
		select {
		case line := <-x.got:
			seen[line]++
		case <-time.After(20 * time.Second):
			t.Fatalf("%d lines of %d came", len(seen), n)
		}
	}
	for line, times := range seen {
		if times != 1 {
			t.Errorf("line %s came %d times", line, times)
		}
	}
	x.stop(t)
}

func TestTail_Since(t *testing.T) {
	s := newServer(t)
	var want []string
	for i := range 100 {
		s.push(sample{at.UnixNano() - 1000 + int64(i/4), web, fmt.Sprint("old ", i)})
		want = append(want, fmt.Sprint("old ", i))
	}
	o := s.clock(Options{Lines: -1, Since: at.Add(-1000)})
	o.page = 6
	x := startTail(t, o)
	x.want(t, want...)
	s.opened(t, 1)
	s.push(sample{at.UnixNano() + 1, web, "new"})
	x.want(t, "new")
	x.stop(t)
}

// What Loki drops is told, and what is no message is passed over.
func TestTail_Dropped(t *testing.T) {
	s := newServer(t)
	x := startTail(t, s.clock(Options{}))
	s.opened(t, 1)
	s.mu.Lock()
	for c := range s.tails {
		_ = c.conn.Write(t.Context(), websocket.MessageText, []byte("[not a message"))
		_ = c.conn.Write(t.Context(), websocket.MessageText, []byte(`{"other":1}`))
	}
	s.send(tailMessage{Dropped: []map[string]any{{"labels": web, "timestamp": "1"}, {"labels": db, "timestamp": "2"}}})
	s.mu.Unlock()
	s.push(sample{at.UnixNano() + 1, web, "on"})
	x.want(t, "dropped 2", "on")
	x.stop(t)
}

// A connection that is dead without a word is found out by its pings.
func TestTail_Pings(t *testing.T) {
	s := newServer(t)
	ns := at.UnixNano()
	var dead atomic.Bool
	dead.Store(true)
	silent := make(chan struct{})
	s.before = func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/loki/api/v1/tail" || !dead.Load() {
			return false
		}
		conn, err := websocket.Accept(w, r, nil)
		if err == nil {
			dead.Store(false)
			<-silent // it reads nothing, so it answers no ping
			_ = conn.CloseNow()
		}
		return true
	}
	o := s.clock(Options{})
	o.pingEvery = 20 * time.Millisecond
	x := startTail(t, o)
	s.opened(t, 1)
	s.push(sample{ns + 1, web, "alive"})
	x.want(t, "alive")
	x.stop(t)
	close(silent)
}

// A server that stays away ends the tail after a while, one that refuses it ends it at once.
func TestTail_GivesUp(t *testing.T) {
	for name, want := range map[string]string{"gone": "does not take the connection", "refused": "refuses the credentials"} {
		s := newServer(t)
		var away atomic.Bool
		s.before = func(w http.ResponseWriter, r *http.Request) bool {
			if !away.Load() {
				return false
			}
			if name == "refused" {
				w.WriteHeader(http.StatusForbidden)
			} else {
				w.WriteHeader(http.StatusServiceUnavailable)
			}
			return true
		}
		o := s.clock(Options{})
		o.now = time.Now
		o.giveUp = 100 * time.Millisecond
		x := startTail(t, o)
		s.opened(t, 1)
		away.Store(true)
		s.cut()
		if err := <-x.done; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v", name, err)
		}
		x.cancel()
	}
}
