package loki

import (
	"cmp"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
)

// A server follows the documented API of Loki: a range query with its limits and directions,
// a tail over a websocket, and the question whether it is ready.
type server struct {
	*httptest.Server
	// max is how many lines a query may ask for.
	max int
	// before, if it returns true, has answered a request in place of the server.
	before func(w http.ResponseWriter, r *http.Request) bool

	mu      sync.Mutex
	stored  []sample
	queries []url.Values
	tails   map[*tailed]bool
	seen    int // tails that were opened
}

type sample struct {
	ns     int64
	labels map[string]string
	line   string
}

type tailed struct {
	conn *websocket.Conn
	wake chan struct{}
	out  []tailMessage
}

type tailMessage struct {
	Streams []wireStream     `json:"streams"`
	Dropped []map[string]any `json:"dropped_entries,omitempty"`
}

type wireStream struct {
	Stream map[string]string `json:"stream"`
	Values [][]any           `json:"values"`
}

func newServer(t *testing.T) *server {
	t.Helper()
	s := &server{max: 5000, tails: map[*tailed]bool{}}
	s.Server = httptest.NewServer(s)
	t.Cleanup(func() { s.cut(); s.Close() })
	return s
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.before != nil && s.before(w, r) {
		return
	}
	switch r.URL.Path {
	case "/ready":
		_, _ = w.Write([]byte("ready\n"))
	case "/loki/api/v1/query_range":
		s.queryRange(w, r)
	case "/loki/api/v1/tail":
		s.tail(w, r)
	default:
		http.NotFound(w, r)
	}
}

// in returns what lies in a range, in the order that a query gives it.
func (s *server) in(from, to int64, limit int, backward bool) []sample {
	found := slices.DeleteFunc(slices.Clone(s.stored), func(x sample) bool { return x.ns < from || x.ns >= to })
	slices.SortStableFunc(found, func(a, b sample) int { return cmp.Compare(a.ns, b.ns) })
	if backward {
		slices.Reverse(found)
	}
	return found[:min(limit, len(found))]
}

func streamsOf(samples []sample) []wireStream {
	var streams []wireStream
	at := map[string]int{}
	for _, x := range samples {
		name := nameOf(x.labels)
		i, ok := at[name]
		if !ok {
			i = len(streams)
			at[name] = i
			streams = append(streams, wireStream{Stream: x.labels})
		}
		streams[i].Values = append(streams[i].Values, []any{strconv.FormatInt(x.ns, 10), x.line})
	}
	return streams
}

func (s *server) queryRange(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := r.URL.Query()
	s.queries = append(s.queries, q)
	from, _ := strconv.ParseInt(q.Get("start"), 10, 64)
	to, _ := strconv.ParseInt(q.Get("end"), 10, 64)
	limit, _ := strconv.Atoi(q.Get("limit"))
	if limit > s.max {
		http.Error(w, "max entries limit per query exceeded, limit > max_entries_limit", http.StatusBadRequest)
		return
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"status": "success", "data": map[string]any{
		"resultType": "streams", "result": streamsOf(s.in(from, to, limit, q.Get("direction") == "backward")),
	}})
}

func (s *server) tail(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	conn, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	defer conn.CloseNow()
	t := &tailed{conn: conn, wake: make(chan struct{}, 1)}
	s.mu.Lock()
	from, _ := strconv.ParseInt(q.Get("start"), 10, 64)
	limit, _ := strconv.Atoi(q.Get("limit"))
	if old := s.in(from, time.Now().Add(time.Hour).UnixNano(), limit, false); len(old) > 0 {
		t.out = append(t.out, tailMessage{Streams: streamsOf(old)})
		t.wake <- struct{}{}
	}
	s.tails[t] = true
	s.seen++
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(s.tails, t)
		s.mu.Unlock()
	}()
	ctx := conn.CloseRead(r.Context())
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.wake:
		}
		s.mu.Lock()
		out := t.out
		t.out = nil
		s.mu.Unlock()
		for _, m := range out {
			data, _ := json.Marshal(m)
			if conn.Write(ctx, websocket.MessageText, data) != nil {
				return
			}
		}
	}
}

// push stores lines and sends them to the tails, in one message.
func (s *server) push(samples ...sample) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stored = append(s.stored, samples...)
	s.send(tailMessage{Streams: streamsOf(samples)})
}

// send needs the lock.
func (s *server) send(m tailMessage) {
	for t := range s.tails {
		t.out = append(t.out, m)
		select {
		case t.wake <- struct{}{}:
		default:
		}
	}
}

// cut ends the connections of the tails without a word.
func (s *server) cut() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for t := range s.tails {
		_ = t.conn.CloseNow()
		delete(s.tails, t)
	}
}

// opened waits until so many tails have been opened.
func (s *server) opened(t *testing.T, n int) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
		s.mu.Lock()
		seen := s.seen
		s.mu.Unlock()
		if seen >= n {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d tails were opened, want %d", seen, n)
		}
	}
}
