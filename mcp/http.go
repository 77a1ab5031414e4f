package mcp

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"errors"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// HTTPPath is the path of the MCP endpoint of [ServeHTTP].
	HTTPPath = "/mcp"
	// DefaultMaxSessions is how many sessions there are at once.
	DefaultMaxSessions = 32
	// MaxMaxSessions is the largest bound on sessions.
	MaxMaxSessions = 1024
	// DefaultSessionIdle is how long a session without a request is kept.
	DefaultSessionIdle = 30 * time.Minute
)

const (
	// maxBody is the longest body of a request, in bytes. The longest arguments that any
	// tool takes are far below.
	maxBody = 4 << 20
	// headerTime, bodyTime and writeTime bound the time of a header, of a body and of one
	// write; keepTime is how long a connection waits for its next request. None of them
	// runs while a call does.
	headerTime = 10 * time.Second
	bodyTime   = 30 * time.Second
	writeTime  = 2 * time.Minute
	keepTime   = 2 * time.Minute
	// aliveEvery is the time between two comments on a stream that has nothing to say.
	// Clients and proxies close what is silent for a minute or more.
	aliveEvery = 15 * time.Second
	// drainGrace bounds the end of the server.
	drainGrace = 1800 * time.Millisecond
)

// ErrHTTPOptions is the error of [ServeHTTP] for a setting out of range.
var ErrHTTPOptions = errors.New("the settings of the HTTP server are incomplete: give a token of at least 16 characters, 1 to 1024 sessions or 0 for 32, and an idle time of 0 or more")

// HTTPOptions are the settings of [ServeHTTP].
type HTTPOptions struct {
	// Version is what the server says of itself; "" reads as "dev".
	Version string
	// Cwd and Env are those of [Options], the same for all sessions. Each session
	// captures them when it begins.
	Cwd string
	Env []string
	// Log is the server's own log; nil discards it.
	Log *slog.Logger
	// Tools chooses the tools that are offered; the zero value offers all.
	Tools Toolset
	// Shared are the settings of what the sessions have in common. Its Observe is told
	// of calls beside the metrics.
	Shared SharedOptions
	// Token is the bearer token that every request but one to /healthz must carry:
	// 16 to 4,096 characters of those that RFC 6750 allows. Required.
	Token string
	// TLS, if not nil, makes it an HTTPS server.
	TLS *tls.Config
	// Hosts are the host names that requests may name, beside localhost and the address
	// that they came in by, without port. Origins are origins that may send requests
	// beside the server's own, as "https://name:port".
	Hosts, Origins []string
	// MaxSessions is how many sessions there are at once; 0 means [DefaultMaxSessions].
	// Where all are taken the one that was idle longest gives way, if for a minute at
	// least; else a new one is refused with 503.
	MaxSessions int
	// SessionIdle is how long a session without a request is kept; 0 means
	// [DefaultSessionIdle].
	SessionIdle time.Duration
}

// An httpServer is the server of [ServeHTTP]: a front that checks every request, and
// behind it the SDK's handler of streamable HTTP.
type httpServer struct {
	o        HTTPOptions
	log      *slog.Logger
	shared   *Shared
	metrics  *metrics
	sdk      http.Handler
	sessions *sessions
	token    [sha256.Size]byte
	hosts    map[string]bool
	origins  map[string]bool
	draining atomic.Bool
	// alive is the time between two comments, body the time of a body, and change changes
	// the server of each session before it serves. Tests have others.
	alive  time.Duration
	body   time.Duration
	change func(*server)
}

// ServeHTTP serves MCP clients over streamable HTTP on a listener, which it closes, until
// ctx is done. Then it takes no more requests and stops what is running: children have
// 1 s to end before they are killed. It returns nil at the latest 1.9 s after ctx was
// done; an error is for options and setup, or says that the listener broke.
//
// /mcp is the endpoint, /metrics holds metrics for Prometheus, and /healthz says 200 "ok",
// or 503 while the server ends. See [Listen] for listeners.
func ServeHTTP(ctx context.Context, ln net.Listener, o HTTPOptions) error {
	h, err := newHTTPServer(o)
	if err != nil {
		ln.Close()
		return err
	}
	return h.serve(ctx, ln)
}

func newHTTPServer(o HTTPOptions) (*httpServer, error) {
	if o.MaxSessions == 0 {
		o.MaxSessions = DefaultMaxSessions
	}
	if o.SessionIdle == 0 {
		o.SessionIdle = DefaultSessionIdle
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if !goodToken(o.Token) || o.MaxSessions < 0 || o.MaxSessions > MaxMaxSessions || o.SessionIdle < 0 {
		return nil, ErrHTTPOptions
	}
	h := &httpServer{o: o, log: o.Log, token: sha256.Sum256([]byte(o.Token)), alive: aliveEvery, body: bodyTime,
		hosts: setOf(o.Hosts), origins: setOf(o.Origins)}
	h.sessions = newSessions(o.MaxSessions, o.SessionIdle)
	h.metrics = newMetrics(h.sessions.count)
	told := o.Shared.Observe
	o.Shared.Observe = func(r CallRecord) {
		h.metrics.observe(r)
		if told != nil {
			told(r)
		}
	}
	if o.Shared.Log == nil {
		o.Shared.Log = o.Log
	}
	var err error
	if h.shared, err = NewShared(o.Shared); err != nil {
		return nil, err
	}
	h.metrics.watch(h.shared)
	h.sdk = sdk.NewStreamableHTTPHandler(protocolOf, &sdk.StreamableHTTPOptions{
		Logger: slog.New(fixedHandler{o.Log.Handler()}),
		// The front checks the host of every route.
		DisableLocalhostProtection: true,
		MaxRequestBodyBytes:        maxBody + maxID,
	})
	return h, nil
}

func (h *httpServer) serve(ctx context.Context, ln net.Listener) error {
	srv := &http.Server{
		Handler:           h,
		ReadHeaderTimeout: headerTime,
		IdleTimeout:       keepTime,
		MaxHeaderBytes:    64 << 10,
		TLSConfig:         h.o.TLS,
		// Its texts hold addresses and what was sent.
		ErrorLog: log.New(io.Discard, "", 0),
	}
	served := make(chan error, 1)
	go func() {
		if h.o.TLS != nil {
			served <- srv.ServeTLS(ln, "", "")
		} else {
			served <- srv.Serve(ln)
		}
	}()
	h.log.Info("server began")
	var err error
	select {
	case <-ctx.Done():
	case err = <-served:
		served <- nil
	}
	h.drain(srv)
	<-served
	h.log.Info("server ended")
	return err
}

// drain ends the server: no more requests, no more sessions, no child.
func (h *httpServer) drain(srv *http.Server) {
	late, cancel := context.WithTimeout(context.Background(), drainGrace)
	defer cancel()
	h.draining.Store(true)
	h.sessions.endAll()
	_ = srv.Shutdown(late) // What it leaves is closed below.
	h.sessions.wait(late)
	_ = srv.Close()
}

// Close ends a server that was never served, for tests of the handler.
func (h *httpServer) close() {
	late, cancel := context.WithTimeout(context.Background(), drainGrace)
	defer cancel()
	h.draining.Store(true)
	h.sessions.endAll()
	h.sessions.wait(late)
}
