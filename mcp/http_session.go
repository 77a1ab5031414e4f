package mcp

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// sessionGrace bounds the end of a session of a server that goes on: a child has
	// 2 s between its two signals.
	sessionGrace = 2600 * time.Millisecond
	// giveWay is how long a session must have been idle to give way to a new one.
	giveWay = time.Minute
)

var (
	errSessionsFull = errors.New("all sessions are taken")
	errEnding       = errors.New("the server is ending")
)

// An httpSession is the session of one client over HTTP: a server of its own, with its
// own project context, calls and children.
type httpSession struct {
	id       string // the secret that names it
	server   *server
	end      func()
	protocol *sdk.Server
	// done is closed when it is over and nothing of it is left.
	done chan struct{}

	// uses, since and idle are guarded by the mutex of the table: how many requests are
	// open, when the last one ended, and what ends it after its idle time.
	uses  int
	since time.Time
	idle  *time.Timer
}

type sessionKey struct{}

// protocolOf returns the SDK's server of the session that a request belongs to.
func protocolOf(r *http.Request) *sdk.Server {
	if s, ok := r.Context().Value(sessionKey{}).(*httpSession); ok {
		return s.protocol
	}
	return nil
}

// sessions is the table of the sessions by id. It is safe for concurrent use.
type sessions struct {
	max  int
	idle time.Duration

	mu      sync.Mutex
	all     map[string]*httpSession
	opening int
	ended   bool
	running sync.WaitGroup
}

func newSessions(max int, idle time.Duration) *sessions {
	return &sessions{max: max, idle: idle, all: map[string]*httpSession{}}
}

// count returns how many sessions there are, without those that are ending.
func (t *sessions) count() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.living()
}

func (t *sessions) living() int {
	n := t.opening
	for _, s := range t.all {
		if !s.over() {
			n++
		}
	}
	return n
}

// over says whether the session is ending or has ended.
func (s *httpSession) over() bool { return s.server.session.Err() != nil }

// reserve takes a place in the table, at the cost of a session that is idle if need be.
func (t *sessions) reserve() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended {
		return errEnding
	}
	if t.living() >= t.max {
		var oldest *httpSession
		for _, s := range t.all {
			if !s.over() && s.uses == 0 && (oldest == nil || s.since.Before(oldest.since)) {
				oldest = s
			}
		}
		if oldest == nil || time.Since(oldest.since) < giveWay {
			return errSessionsFull
		}
		oldest.end()
	}
	t.opening++
	return nil
}

// open begins a session. The caller releases it.
func (h *httpServer) open() (*httpSession, error) {
	t := h.sessions
	if err := t.reserve(); err != nil {
		return nil, err
	}
	s, err := h.newSession()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.opening--
	switch {
	case err != nil:
		return nil, err
	case t.ended:
		return nil, errEnding // It has started nothing, so nothing is to be ended.
	}
	s.uses = 1
	t.all[s.id] = s
	t.running.Add(1)
	go func() {
		defer t.running.Done()
		t.run(s)
	}()
	s.server.log.Info("session began")
	return s, nil
}

func (h *httpServer) newSession() (*httpSession, error) {
	srv, end, err := newServer(context.Background(), Options{
		Cwd: h.o.Cwd, Env: h.o.Env, Log: h.log, Shared: h.shared, Tools: h.o.Tools,
	})
	if err != nil {
		return nil, err
	}
	srv.guest = true
	if h.change != nil {
		h.change(srv)
	}
	s := &httpSession{id: rand.Text() + rand.Text(), server: srv, end: end, done: make(chan struct{})}
	s.protocol, err = srv.protocol(h.o.Version, func() string { return s.id })
	return s, err
}

// run waits for the end of a session and cleans up behind it.
func (t *sessions) run(s *httpSession) {
	defer close(s.done)
	<-s.server.session.Done()
	s.server.finishSession(sessionGrace, func() {
		for session := range s.protocol.Sessions() {
			_ = session.Close() // It waits for the calls; their errors are theirs.
		}
	})
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.all, s.id)
	if s.idle != nil {
		s.idle.Stop()
	}
}

// begun says whether the client of a session has been welcomed.
func (s *httpSession) begun() bool {
	for session := range s.protocol.Sessions() {
		return session.InitializeParams() != nil
	}
	return false
}

// acquire returns the session of an id for one request, or nil. The caller releases it.
func (t *sessions) acquire(id string) *httpSession {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.all[id]
	if s == nil || s.over() {
		return nil
	}
	s.uses++
	if s.idle != nil {
		s.idle.Stop()
	}
	return s
}

// release ends the use of a session by a request.
func (t *sessions) release(s *httpSession) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s.uses--
	if s.uses > 0 || s.over() {
		return
	}
	s.since = time.Now()
	if s.idle == nil {
		s.idle = time.AfterFunc(t.idle, func() { t.expire(s) })
	} else {
		s.idle.Reset(t.idle)
	}
}

// expire ends a session whose idle time is over, unless a request came in meanwhile.
func (t *sessions) expire(s *httpSession) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if s.uses == 0 && time.Since(s.since) >= t.idle {
		s.end()
	}
}

// endAll ends all sessions, for the program ends. There will be no others.
func (t *sessions) endAll() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ended = true
	for _, s := range t.all {
		s.server.children.hurry() // first, for a stop takes its grace as it begins
		s.end()
	}
}

// wait waits until nothing of any session is left, or until ctx is done.
func (t *sessions) wait(ctx context.Context) {
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		t.running.Wait() // Each session's end is bounded.
	}()
	select {
	case <-gone:
	case <-ctx.Done():
	}
}
