package mcp

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/tailrace/tailrace/internal/project"
	"github.com/tailrace/tailrace/pipeline"
	"github.com/tailrace/tailrace/stages"
)

// endGrace bounds the end of a server. The usual client sends SIGTERM 2 s after it closed
// the server's stdin.
const endGrace = 1600 * time.Millisecond

// ErrOptions is the error of [Serve] for options that lack a stream.
var ErrOptions = errors.New("a server needs stdin and stdout: set both in its options")

// protocolVersions are the versions that are spoken. Later ones have members added to a
// result behind the exit, where nothing bounds them any more.
var protocolVersions = []string{"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}

// Options are the settings of [Serve].
type Options struct {
	// Version is what the server says of itself; "" reads as "dev".
	Version string
	// Cwd is the working directory of the session: what relative paths are taken from,
	// where a project is looked for, and where commands run. "" means the process's own.
	Cwd string
	// Env is the environment of the session and of its commands, as "KEY=value" strings;
	// nil means the process's own. HACK_MCP_COMMAND, HACK_HOME, HACK_GLOBAL_CONFIG_PATH,
	// HOME and PATH in it are read. Both are captured when the session begins.
	Env []string
	// Stdin is where the client's messages come from, and Stdout where the frames go,
	// each in one Write. Both are required, stay open, and carry nothing else. A Stdin
	// without a working SetReadDeadline may be read until its end even after Serve
	// returned, since nothing else can wake up a read.
	//
	// Serve handles no signals. A program passes a context that SIGTERM, SIGINT and
	// SIGHUP cancel (signal.NotifyContext), and calls signal.Notify for SIGPIPE, so
	// that a client that is gone becomes a write error instead of the program's death.
	Stdin  io.Reader
	Stdout io.Writer
	// Log is the server's own log; nil discards it. It never holds output of the
	// backend or input of the caller.
	Log *slog.Logger
	// Tools chooses the tools that are offered; the zero value offers all.
	Tools Toolset
	// Session is the id of the session in the audit log and in records; "" makes one.
	Session string
	// Shared is what the session has in common with others of the process; nil means one
	// of its own with the defaults.
	Shared *Shared
}

// A server is one session: its connection, its tools, its children.
type server struct {
	id       string
	shared   *Shared
	project  project.Context
	log      *slog.Logger
	tools    map[string]*tool
	known    string // the names of the tools, for messages
	budget   stages.Budget
	frames   frames
	children children
	conn     *conn
	// guest says that the program goes on when the session is over.
	guest bool
	// session is done when the session is over; its cause is [pipeline.ErrInterrupted].
	session context.Context
	// start starts a command, and every is the time between two notifications of
	// progress. Tests have others.
	start func(command) (child, *refusal)
	every time.Duration
}

// Serve serves one client on two streams, until stdin ends, stdout breaks, or ctx is
// done. Then it stops what is running: its children have 1 s to end before they are
// killed. It returns nil, at the latest 1.9 s after the end of the session; the error is
// for options and setup only.
func Serve(ctx context.Context, o Options) error {
	if o.Stdin == nil || o.Stdout == nil {
		return ErrOptions
	}
	s, end, err := newServer(ctx, o)
	if err != nil {
		return err
	}
	return s.serve(ctx, end, o.Version)
}

// newServer returns a server whose session end ends.
func newServer(ctx context.Context, o Options) (s *server, end func(), err error) {
	if o.Env == nil {
		o.Env = os.Environ()
	}
	captured, err := project.NewContext(o.Cwd, o.Env)
	if err != nil {
		return nil, nil, err
	}
	s = &server{id: o.Session, shared: o.Shared, project: captured, log: o.Log, tools: map[string]*tool{}, start: startChild, every: progressEvery}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if s.id == "" {
		s.id = newSessionID()
	}
	if s.shared == nil {
		if s.shared, err = NewShared(SharedOptions{Log: s.log}); err != nil {
			return nil, nil, err
		}
	}
	chosen, err := o.Tools.of(tools())
	if err != nil {
		return nil, nil, err
	}
	for _, t := range chosen {
		s.tools[t.name] = t
		if s.known != "" {
			s.known += ", "
		}
		s.known += t.name
	}
	s.frames.init()
	// The cause tells an interrupted run from a cancelled one, so ctx is not the parent.
	session, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	s.session = session
	s.conn = newConn(o.Stdin, o.Stdout, func() {
		if !s.guest {
			s.children.hurry() // first, for a stop takes its grace as it begins
		}
		cancel(pipeline.ErrInterrupted)
	})
	return s, s.conn.end, nil
}

func (s *server) serve(ctx context.Context, end func(), version string) error {
	srv, err := s.protocol(version, nil)
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, end)()
	session, err := srv.Connect(context.WithoutCancel(ctx), s.conn, nil)
	if err != nil {
		return err
	}
	s.log.Info("session began")
	<-s.session.Done()
	s.finishSession(endGrace, func() { _ = session.Close() })
	return nil
}

// protocol returns the SDK's server with the tools of the session. NewID makes the id by
// which an HTTP client names the session; nil means none.
func (s *server) protocol(version string, newID func() string) (*sdk.Server, error) {
	if version == "" {
		version = "dev"
	}
	srv := sdk.NewServer(&sdk.Implementation{Name: "tailrace", Title: "tailrace", Version: version}, &sdk.ServerOptions{
		Instructions:              instructions(s.tools),
		Logger:                    slog.New(fixedHandler{s.log.Handler()}),
		Capabilities:              capabilities(),
		SupportedProtocolVersions: protocolVersions,
		GetSessionID:              newID,
	})
	for _, t := range s.tools {
		described, err := t.describe()
		if err != nil {
			return nil, err
		}
		srv.AddTool(described, s.handler(t))
	}
	srv.AddPrompt(prompt(), s.getPrompt)
	srv.AddReceivingMiddleware(s.exit)
	return srv, nil
}

// finishSession waits, at most for grace, until the SDK's session is closed and nothing of
// the children is left. Closing waits for the calls, whose errors are theirs.
func (s *server) finishSession(grace time.Duration, closeSession func()) {
	late := time.NewTimer(grace)
	defer late.Stop()
	s.conn.settle(settleGrace)
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		closeSession()
	}()
	select {
	case <-closed:
		s.children.wait(late.C)
	case <-late.C:
		s.conn.Close()
	}
	s.log.Info("session ended")
}

// merge returns a context of a call that is done when the session is, too, and when
// nobody waits for the reply any more. The call may be nil. The end of the session, which
// is also the end of the SDK's context, is always its cause where it came first.
func (s *server) merge(parent context.Context, c *call) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(parent))
	session := context.AfterFunc(s.session, func() { cancel(context.Cause(s.session)) })
	request := context.AfterFunc(parent, func() {
		if s.session.Err() != nil {
			cancel(context.Cause(s.session))
		}
		cancel(context.Cause(parent))
	})
	over := func() bool { return true }
	if c != nil && c.over != nil {
		over = context.AfterFunc(c.over, func() { cancel(context.Canceled) })
	}
	return ctx, func() {
		session()
		request()
		over()
		cancel(nil)
	}
}

// A fixedHandler passes on the SDK's warnings by their fixed text alone: their attributes
// repeat what the caller sent.
type fixedHandler struct{ to slog.Handler }

func (h fixedHandler) Enabled(ctx context.Context, l slog.Level) bool {
	return l >= slog.LevelWarn && h.to.Enabled(ctx, l)
}

func (h fixedHandler) Handle(ctx context.Context, r slog.Record) error {
	return h.to.Handle(ctx, slog.NewRecord(r.Time, r.Level, "sdk: "+r.Message, 0))
}

func (h fixedHandler) WithAttrs([]slog.Attr) slog.Handler { return h }

func (h fixedHandler) WithGroup(string) slog.Handler { return h }
