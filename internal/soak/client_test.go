//go:build linux

package soak

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"sync"
	"time"
)

// patience bounds every wait. No call of the soak takes that long.
const patience = 60 * time.Second

// A server is one session with a server process. Its methods are safe for concurrent use.
type server struct {
	cmd    *exec.Cmd
	marker string
	stdin  io.WriteCloser
	stdout io.ReadCloser
	ended  chan struct{}

	writing sync.Mutex
	mu      sync.Mutex
	last    int
	waiting map[string]chan reply
	wrong   []error
}

// A reply is what came for a request.
type reply struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Error  *struct {
		Code int `json:"code"`
	} `json:"error"`
	Result struct {
		IsError bool `json:"isError"`
		Content []struct {
			Text string `json:"text"`
		} `json:"content"`
		Structured *payload `json:"structuredContent"`
	} `json:"result"`
	size int
}

type payload struct {
	OK        bool            `json:"ok"`
	Truncated bool            `json:"outputTruncated"`
	ExitCode  int             `json:"exitCode"`
	Stdout    string          `json:"stdout"`
	Stderr    string          `json:"stderr"`
	Spawned   *bool           `json:"spawned"`
	Data      json.RawMessage `json:"data"`
	Error     *struct {
		Code   string `json:"code"`
		Reason string `json:"reason"`
	} `json:"error"`
}

var errGone = errors.New("the server is gone")

// begin starts a server process and shakes hands.
func begin(dir string, env []string, marker string) (*server, error) {
	s := &server{
		// Commands that are deaf to a stop keep their seats for a while.
		cmd: exec.Command(binary, "mcp", "serve", "--max-commands", "64"), marker: marker,
		ended: make(chan struct{}), waiting: map[string]chan reply{},
	}
	s.cmd.Dir, s.cmd.Env = dir, append(env, markerVariable+"="+marker)
	var err error
	if s.stdin, err = s.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if s.stdout, err = s.cmd.StdoutPipe(); err != nil {
		return nil, err
	}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	go s.read()
	id, answer := s.ask("initialize", map[string]any{
		"protocolVersion": "2025-06-18", "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "soak", "version": "1"},
	})
	if _, err := s.wait(id, answer); err != nil {
		return nil, err
	}
	s.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return s, nil
}

func (s *server) read() {
	defer func() {
		s.cmd.Wait()
		close(s.ended)
	}()
	lines := bufio.NewReaderSize(s.stdout, 64<<10)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var r reply
		if err := json.Unmarshal(line, &r); err != nil {
			s.complain(fmt.Errorf("S9: a line that is no frame: %w", err))
			continue
		}
		if r.size = len(line); r.size > 10<<20 {
			s.complain(fmt.Errorf("B2: a frame of %d bytes", r.size))
		}
		if r.Method != "" {
			continue
		}
		s.mu.Lock()
		answer := s.waiting[string(r.ID)]
		delete(s.waiting, string(r.ID))
		s.mu.Unlock()
		if answer == nil {
			s.complain(fmt.Errorf("S2: a reply that nobody waits for, to %s", r.ID))
			continue
		}
		answer <- r
	}
}

// complain notes what is wrong with the session as a whole.
func (s *server) complain(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wrong = append(s.wrong, err)
}

func (s *server) complaints() []error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.wrong
}

func (s *server) send(line string) {
	s.writing.Lock()
	defer s.writing.Unlock()
	io.WriteString(s.stdin, line+"\n") // A server that is gone is noticed by its reply.
}

func (s *server) ask(method string, params map[string]any) (id string, answer chan reply) {
	answer = make(chan reply, 1)
	s.mu.Lock()
	s.last++
	id = strconv.Itoa(s.last)
	s.waiting[id] = answer
	s.mu.Unlock()
	text, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": json.RawMessage(id), "method": method, "params": params})
	s.send(string(text))
	return id, answer
}

func (s *server) wait(id string, answer chan reply) (reply, error) {
	t := time.NewTimer(patience)
	defer t.Stop()
	select {
	case r := <-answer:
		return r, nil
	case <-s.ended:
		select {
		case r := <-answer:
			return r, nil
		default:
		}
		return reply{}, errGone
	case <-t.C:
		return reply{}, fmt.Errorf("no reply to %s within %v", id, patience)
	}
}

// call starts a call of a tool.
func (s *server) call(tool string, args map[string]any, progress bool) (id string, answer chan reply) {
	params := map[string]any{"name": tool, "arguments": args}
	if progress {
		params["_meta"] = map[string]any{"progressToken": "p"}
	}
	return s.ask("tools/call", params)
}

// cancel cancels a call. A reply to it from now on is wrong, but for one that was on its
// way: the caller looks at its channel.
func (s *server) cancel(id string) {
	s.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `}}`)
}

// forget says that nobody waits for a reply any more.
func (s *server) forget(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.waiting, id)
}

// kill ends the process, whatever it does.
func (s *server) kill() {
	s.cmd.Process.Kill()
	<-s.ended
}
