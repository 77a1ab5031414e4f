package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

const (
	snapshotTool = "hack.project.logs.snapshot"
	tailTool     = "hack.project.logs.tail"

	captureLimit  = 8388608
	resultLimit   = 9961472
	textViewLimit = 262144
	clientBuffer  = 10485760
)

// A session is one stdio session with the server, driven by hand so that every byte can
// be looked at.
type session struct {
	t      *testing.T
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stderr *lockedBuffer
	marker string

	mu     sync.Mutex
	frames []frame
	news   chan struct{}
	done   chan struct{}
	nextID int
}

// A frame is one line that the server wrote.
type frame struct {
	raw []byte
	at  time.Time
	msg message
}

type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

// result is a tool result in both its channels.
type result struct {
	raw        []byte
	frame      []byte
	IsError    bool      `json:"isError"`
	Content    []content `json:"content"`
	Structured payload   `json:"structuredContent"`
}

type content struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

type payload struct {
	OK              bool    `json:"ok"`
	OutputTruncated *bool   `json:"outputTruncated"`
	Command         string  `json:"command"`
	ExitCode        int     `json:"exitCode"`
	Stdout          string  `json:"stdout"`
	Stderr          string  `json:"stderr"`
	Spawned         *bool   `json:"spawned"`
	Data            logData `json:"data"`
	Error           *struct {
		Code, Reason, Message string
	} `json:"error"`
}

type logData struct {
	Events     []json.RawMessage `json:"events"`
	Count      int               `json:"count"`
	Cutoff     *cutoff           `json:"cutoff"`
	StopReason string            `json:"stop_reason"`
	DurationMs *float64          `json:"duration_ms"`
	Limits     map[string]*int   `json:"limits"`
}

type cutoff struct {
	Bound string `json:"bound"`
	Limit int    `json:"limit"`
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

// casePath returns the absolute path of a file in testdata/cases.
func casePath(t *testing.T, name string) string {
	t.Helper()
	p, err := filepath.Abs(filepath.Join("testdata", "cases", name))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// environment returns the variables of a server: a home of its own, a marker to find its
// children by, and what the caller adds.
func environment(t *testing.T, marker string, extra ...string) []string {
	t.Helper()
	env := []string{
		"PATH=" + os.Getenv("PATH"),
		"HOME=" + t.TempDir(),
		"HACK_HOME=" + t.TempDir(),
		"LANG=C.UTF-8",
		"TAILRACE_E2E=" + marker,
	}
	return append(env, extra...)
}

var markers struct {
	sync.Mutex
	n int
}

func newMarker() string {
	markers.Lock()
	defer markers.Unlock()
	markers.n++
	return fmt.Sprintf("%d-%d", os.Getpid(), markers.n)
}

// projectDir makes a folder that is a project by its tailrace.yaml.
func projectDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "tailrace.yaml"), []byte("version: 1\nsources: {}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// startRaw starts the server without a handshake. Extra are variables, and flags of the
// server.
func startRaw(t *testing.T, backend string, extra ...string) *session {
	t.Helper()
	s := &session{t: t, stderr: &lockedBuffer{}, news: make(chan struct{}, 1), done: make(chan struct{}), marker: newMarker()}
	s.cmd = exec.Command(binary, "mcp", "serve")
	s.cmd.Dir = projectDir(t)
	s.cmd.Env = environment(t, s.marker, "HACK_MCP_COMMAND="+backend)
	for _, e := range extra {
		if strings.HasPrefix(e, "--") {
			s.cmd.Args = append(s.cmd.Args, e)
		} else {
			s.cmd.Env = append(s.cmd.Env, e)
		}
	}
	s.cmd.Stderr = s.stderr
	stdin, err := s.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	s.stdin = stdin
	stdout, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go s.read(stdout)
	t.Cleanup(func() {
		s.stdin.Close()
		select {
		case <-s.done:
		case <-time.After(10 * time.Second):
			s.cmd.Process.Kill()
			<-s.done
			t.Error("the server did not end within 10 s of stdin end")
		}
		s.cmd.Wait()
		s.childrenGone(5 * time.Second)
		if t.Failed() {
			t.Logf("server log:\n%s", s.stderr.String())
		}
	})
	return s
}

// start starts the server with backend as its command, and shakes hands.
func start(t *testing.T, backend string, extra ...string) *session {
	t.Helper()
	s := startRaw(t, backend, extra...)
	s.send(`{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"e2e","version":"1"}}}`)
	s.reply(`"hello"`, 10*time.Second)
	s.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return s
}

func (s *session) read(r io.Reader) {
	defer close(s.done)
	br := bufio.NewReaderSize(r, 1<<16)
	for {
		line, err := br.ReadBytes('\n')
		if len(line) > 0 {
			f := frame{raw: line, at: time.Now()}
			if jerr := json.Unmarshal(line, &f.msg); jerr != nil {
				s.t.Errorf("S9: a line on stdout is no JSON: %v", jerr)
			}
			s.mu.Lock()
			s.frames = append(s.frames, f)
			s.mu.Unlock()
			select {
			case s.news <- struct{}{}:
			default:
			}
		}
		if err != nil {
			return
		}
	}
}

func (s *session) send(line string) {
	s.t.Helper()
	if _, err := io.WriteString(s.stdin, line+"\n"); err != nil {
		s.t.Fatalf("writing to the server: %v", err)
	}
}

// all returns the frames so far that match.
func (s *session) all(match func(frame) bool) []frame {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []frame
	for _, f := range s.frames {
		if match(f) {
			out = append(out, f)
		}
	}
	return out
}

// wait returns the first frame that matches, within limit.
func (s *session) wait(what string, limit time.Duration, match func(frame) bool) frame {
	s.t.Helper()
	timeout := time.After(limit)
	for {
		if f := s.all(match); len(f) > 0 {
			return f[0]
		}
		select {
		case <-s.news:
		case <-s.done:
			if f := s.all(match); len(f) > 0 {
				return f[0]
			}
			s.t.Fatalf("the server ended before %s", what)
		case <-timeout:
			s.t.Fatalf("no %s within %v", what, limit)
		}
	}
}

func replyTo(id string) func(frame) bool {
	return func(f frame) bool { return f.msg.Method == "" && string(f.msg.ID) == id }
}

// reply waits for the response to the request with this id (as JSON).
func (s *session) reply(id string, limit time.Duration) frame {
	s.t.Helper()
	return s.wait("reply to "+id, limit, replyTo(id))
}

// begin sends a tools/call and returns its id.
func (s *session) begin(tool string, args map[string]any) string {
	s.t.Helper()
	s.nextID++
	id := strconv.Itoa(s.nextID)
	if args == nil {
		args = map[string]any{}
	}
	params, err := json.Marshal(map[string]any{"name": tool, "arguments": args})
	if err != nil {
		s.t.Fatal(err)
	}
	s.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":%s}`, id, params))
	return id
}

// finish waits for the result of a call and checks what holds for every result.
func (s *session) finish(id string, limit time.Duration) result {
	s.t.Helper()
	f := s.reply(id, limit)
	if f.msg.Error != nil {
		s.t.Fatalf("call %s: protocol error %d %s", id, f.msg.Error.Code, f.msg.Error.Message)
	}
	return checkResult(s.t, f)
}

// call makes a call and returns its result.
func (s *session) call(tool string, args map[string]any) result {
	s.t.Helper()
	return s.finish(s.begin(tool, args), 2*time.Minute)
}

// ping checks that the session is usable.
func (s *session) ping(limit time.Duration) {
	s.t.Helper()
	s.nextID++
	id := strconv.Itoa(s.nextID)
	s.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"ping"}`, id))
	s.reply(id, limit)
}

// end closes stdin and returns the exit code.
func (s *session) end(limit time.Duration) int {
	s.t.Helper()
	s.stdin.Close()
	select {
	case <-s.done:
	case <-time.After(limit):
		s.t.Fatalf("S2: the server did not end within %v of stdin end", limit)
	}
	s.cmd.Wait()
	return s.cmd.ProcessState.ExitCode()
}

// children lists the live processes that the session started, without the server's own.
func (s *session) children() []string { return marked(s.marker) }

// childrenGone waits until nothing that the session started is alive.
func (s *session) childrenGone(limit time.Duration) {
	s.t.Helper()
	deadline := time.Now().Add(limit)
	for {
		left := s.children()
		if len(left) == 0 {
			return
		}
		if time.Now().After(deadline) {
			s.t.Errorf("S2: still alive after %v: %s", limit, strings.Join(left, "; "))
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// marked lists live processes with the marker in their environment, other than tailrace itself.
func marked(marker string) []string {
	var left []string
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, d := range dirs {
		env, err := os.ReadFile(filepath.Join(d, "environ"))
		if err != nil || !bytes.Contains(env, []byte("TAILRACE_E2E="+marker+"\x00")) {
			continue
		}
		if exe, err := os.Readlink(filepath.Join(d, "exe")); err != nil || exe == binary {
			continue
		}
		cmdline, _ := os.ReadFile(filepath.Join(d, "cmdline"))
		left = append(left, filepath.Base(d)+" "+strings.ReplaceAll(string(cmdline), "\x00", " "))
	}
	return left
}
