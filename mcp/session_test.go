package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// deadline bounds every wait of the tests. It is never waited for in a test that passes.
const deadline = 2 * time.Minute

// A session is a server on real pipes, driven by hand.
type session struct {
	server *server
	t      *testing.T
	dir    string
	in     *os.File
	out    *os.File
	log    *lockedBuffer
	writes *countingWriter
	cancel context.CancelFunc
	served chan error

	mu     sync.Mutex
	frames []reply
	news   chan struct{}
	eof    chan struct{}
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// A countingWriter checks that each Write is one frame.
type countingWriter struct {
	w   io.Writer
	mu  sync.Mutex
	n   int
	bad int
}

func (c *countingWriter) Write(p []byte) (int, error) {
	c.mu.Lock()
	c.n++
	if len(p) == 0 || bytes.IndexByte(p, '\n') != len(p)-1 {
		c.bad++
	}
	c.mu.Unlock()
	return c.w.Write(p)
}

// reply is one frame of the server, decoded.
type reply struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int             `json:"code"`
		Message string          `json:"message"`
		Data    json.RawMessage `json:"data"`
	} `json:"error"`
	raw []byte
}

// result is a tool result.
type result struct {
	Content []struct {
		Type, Text string
	}
	Structured struct {
		OK              *bool           `json:"ok"`
		OutputTruncated *bool           `json:"outputTruncated"`
		Command         *string         `json:"command"`
		ExitCode        *int            `json:"exitCode"`
		Stdout          *string         `json:"stdout"`
		Stderr          *string         `json:"stderr"`
		Spawned         *bool           `json:"spawned"`
		Data            json.RawMessage `json:"data"`
		Error           *struct {
			Code, Reason, Message string
		} `json:"error"`
	} `json:"structuredContent"`
	IsError bool `json:"isError"`
	raw     []byte
}

type resultData struct {
	Events []json.RawMessage `json:"events"`
	Count  int               `json:"count"`
	Cutoff *struct {
		Bound string `json:"bound"`
		Limit int    `json:"limit"`
	} `json:"cutoff"`
	StopReason *string         `json:"stop_reason"`
	DurationMs *int            `json:"duration_ms"`
	Limits     map[string]*int `json:"limits"`
}

// open starts a server whose backend is a stub. Change may change it before it serves.
func open(t *testing.T, stub string, change ...func(*server)) *session {
	t.Helper()
	return openWith(t, stub, func(*Options) {}, change...)
}

// openWith does the same with other options.
func openWith(t *testing.T, stub string, options func(*Options), change ...func(*server)) *session {
	t.Helper()
	s := &session{t: t, dir: t.TempDir(), log: &lockedBuffer{}, served: make(chan error, 1), news: make(chan struct{}, 1), eof: make(chan struct{})}
	if err := os.WriteFile(filepath.Join(s.dir, "tailrace.yaml"), []byte("version: 1\nsources: {}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	env := []string{"HACK_MCP_COMMAND=" + exe, stubVariable + "=" + stub, "HACK_HOME=" + t.TempDir(), "HOME=" + t.TempDir()}
	serverIn, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out, serverOut, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	s.in, s.out, s.writes = in, out, &countingWriter{w: serverOut}
	ctx, cancel := context.WithCancel(context.Background())
	s.cancel = cancel
	o := Options{
		Cwd: s.dir, Env: env, Stdin: serverIn, Stdout: s.writes,
		Log: slog.New(slog.NewTextHandler(s.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
	options(&o)
	srv, end, err := newServer(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	s.server = srv
	for _, f := range change {
		f(srv)
	}
	go func() {
		s.served <- srv.serve(ctx, end, "test")
		serverOut.Close()
	}()
	go s.read()
	t.Cleanup(func() {
		cancel()
		in.Close()
		s.end()
		<-srv.conn.readDone
		serverIn.Close()
		<-s.eof
		out.Close()
		if s.writes.bad > 0 {
			t.Errorf("%d of %d writes were not one frame", s.writes.bad, s.writes.n)
		}
		if strings.Contains(s.log.String(), "secret") {
			t.Errorf("S9: the log repeats input or output:\n%s", s.log)
		}
		if t.Failed() {
			t.Logf("server log:\n%s", s.log)
		}
	})
	return s
}

// start starts a server and shakes hands.
func start(t *testing.T, stub string, change ...func(*server)) *session {
	t.Helper()
	return open(t, stub, change...).greet()
}

// startWith does the same with other options.
func startWith(t *testing.T, stub string, options func(*Options), change ...func(*server)) *session {
	t.Helper()
	return openWith(t, stub, options, change...).greet()
}

// greet shakes hands.
func (s *session) greet() *session {
	t := s.t
	t.Helper()
	s.send(`{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`)
	if r := s.reply(`"init"`); r.Error != nil {
		t.Fatalf("initialize: %s", r.raw)
	}
	s.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return s
}

// end waits until Serve has returned, and returns how long that took.
func (s *session) end() time.Duration {
	s.t.Helper()
	began := time.Now()
	select {
	case err := <-s.served:
		if err != nil {
			s.t.Errorf("Serve: %v", err)
		}
		s.served <- nil
	case <-time.After(deadline):
		s.t.Fatal("Serve did not return")
	}
	return time.Since(began)
}

func (s *session) read() {
	defer close(s.eof)
	r := bufio.NewReaderSize(s.out, 1<<16)
	for {
		line, err := r.ReadBytes('\n')
		if err != nil {
			return
		}
		f := reply{raw: line}
		if err := json.Unmarshal(line, &f); err != nil {
			s.t.Errorf("S9: a line on stdout is no JSON: %.200q", line)
		}
		s.mu.Lock()
		s.frames = append(s.frames, f)
		s.mu.Unlock()
		select {
		case s.news <- struct{}{}:
		default:
		}
	}
}

func (s *session) send(line string) {
	s.t.Helper()
	if _, err := io.WriteString(s.in, line+"\n"); err != nil {
		s.t.Fatalf("writing to the server: %v", err)
	}
}

// find returns the frames so far that match.
func (s *session) find(match func(reply) bool) []reply {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []reply
	for _, f := range s.frames {
		if match(f) {
			out = append(out, f)
		}
	}
	return out
}

// wait returns the first frame that matches.
func (s *session) wait(what string, match func(reply) bool) reply {
	s.t.Helper()
	timeout := time.After(deadline)
	for {
		if f := s.find(match); len(f) > 0 {
			return f[0]
		}
		select {
		case <-s.news:
		case <-s.eof:
			if f := s.find(match); len(f) > 0 {
				return f[0]
			}
			s.t.Fatalf("the server ended before %s", what)
		case <-timeout:
			s.t.Fatalf("no %s", what)
		}
	}
}

// reply returns the response to the request with this id, as JSON.
func (s *session) reply(id string) reply {
	s.t.Helper()
	return s.wait("reply to "+id, func(r reply) bool { return r.Method == "" && string(r.ID) == id })
}

// silent checks that there is no reply to id, once everything before it must be there.
func (s *session) silent(id string) {
	s.t.Helper()
	if f := s.find(func(r reply) bool { return r.Method == "" && string(r.ID) == id }); len(f) > 0 {
		s.t.Errorf("S2: a reply to %s: %.200s", id, f[0].raw)
	}
}

// ask sends a tools/call with arguments as JSON.
func (s *session) ask(id, tool, args string) {
	s.t.Helper()
	s.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"%s","arguments":%s}}`, id, tool, args))
}

// ping sends a ping and waits for its answer, so that all before it has been read.
func (s *session) ping(id string) {
	s.t.Helper()
	s.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"ping"}`, id))
	if r := s.reply(id); string(r.Result) != "{}" {
		s.t.Fatalf("ping: %s", r.raw)
	}
}

// call makes a call and returns its result.
func (s *session) call(id, tool, args string) result {
	s.t.Helper()
	s.ask(id, tool, args)
	return s.result(id)
}

// result waits for the result of a call, and checks what holds for all of them.
func (s *session) result(id string) result {
	s.t.Helper()
	f := s.reply(id)
	if f.Error != nil {
		s.t.Fatalf("call %s: %s", id, f.raw)
	}
	r := result{raw: f.Result}
	if err := json.Unmarshal(f.Result, &r); err != nil {
		s.t.Fatal(err)
	}
	c := r.Structured
	if c.OK == nil || c.Command == nil || c.ExitCode == nil || c.Stdout == nil || c.Stderr == nil {
		s.t.Fatalf("a required member is missing in %.300s", f.Result)
	}
	if *c.OK == r.IsError {
		s.t.Errorf("O1: ok %v beside isError %v", *c.OK, r.IsError)
	}
	if len(r.Content) != 1 || r.Content[0].Type != "text" || r.Content[0].Text == "" {
		s.t.Errorf("content is not one text in %.300s", f.Result)
	}
	return r
}

func (r result) data(t *testing.T) resultData {
	t.Helper()
	var d resultData
	if err := json.Unmarshal(r.Structured.Data, &d); err != nil {
		t.Fatal(err)
	}
	if d.Count != len(d.Events) {
		t.Errorf("E7: count %d for %d events", d.Count, len(d.Events))
	}
	return d
}

// refused checks rule O11.
func (r result) refused(t *testing.T, code, reason string) string {
	t.Helper()
	c := r.Structured
	if *c.OK || !r.IsError || c.Spawned == nil || *c.Spawned || *c.Command != "" || *c.ExitCode != 1 || *c.Stdout != "" || c.Error == nil || c.Data != nil {
		t.Fatalf("O11: not a refusal: %.400s", r.raw)
	}
	if c.Error.Code != code || c.Error.Reason != reason {
		t.Errorf("O11: error is %s %s, want %s %s", c.Error.Code, c.Error.Reason, code, reason)
	}
	if *c.Stderr != c.Error.Message || c.Error.Message == "" {
		t.Errorf("O11: stderr %q beside message %q", *c.Stderr, c.Error.Message)
	}
	return c.Error.Message
}

// forget drops the frames so far, so that an id can be used again.
func (s *session) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.frames = nil
}
