package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/tailrace/tailrace/internal/measure"
)

// A session is one with a server process, that reads replies and looks at none.
type session struct {
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout *bufio.Reader
	last   int
}

var errReply = errors.New("the server answered with an error")

// serve starts a server whose backend is a command without arguments of its own.
func (b *bench) serve(backend string) (*session, error) {
	dir, err := os.MkdirTemp(b.dir, "project")
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(dir, "tailrace.yaml"), []byte("version: 1\nsources: {}\n"), 0o600); err != nil {
		return nil, err
	}
	s := &session{cmd: exec.Command(b.binary, "mcp", "serve", "--max-commands", "16")}
	s.cmd.Dir, s.cmd.Stderr = dir, os.Stderr
	s.cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "HACK_HOME=" + dir, "HACK_MCP_COMMAND=" + backend}
	if s.stdin, err = s.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	s.stdout = bufio.NewReaderSize(out, 1<<20)
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	_, err = io.WriteString(s.stdin, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"goals","version":"1"}}}`+"\n")
	if err == nil {
		_, err = s.reply()
	}
	if err == nil {
		_, err = io.WriteString(s.stdin, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n")
	}
	return s, err
}

// reply reads a line and returns its length. It looks at the start alone.
func (s *session) reply() (size int, err error) {
	var head []byte
	for {
		part, err := s.stdout.ReadSlice('\n')
		if head == nil {
			head = bytes.Clone(part[:min(len(part), 200)])
		}
		size += len(part)
		if err == nil {
			break
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return size, err
		}
	}
	if !bytes.Contains(head, []byte(`"result"`)) {
		return size, errReply
	}
	return size, nil
}

// calls makes n calls at once and waits for all replies.
func (s *session) calls(n int) error {
	for range n {
		s.last++
		if _, err := fmt.Fprintf(s.stdin, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"hack.project.logs.snapshot","arguments":{}}}`+"\n", s.last); err != nil {
			return err
		}
	}
	for range n {
		size, err := s.reply()
		if err == nil && size < 8<<20 {
			err = errReply
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// peak is the most memory that the server has had, in MiB, and what it had before.
func (s *session) memory(field string) (float64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	_, rest, ok := strings.Cut(string(status), field+":")
	fields := strings.Fields(rest)
	if !ok || len(fields) == 0 {
		return 0, errors.New("the system does not tell the memory of a process")
	}
	kib, err := strconv.ParseFloat(fields[0], 64)
	return kib / 1024, err
}

func (s *session) end() error {
	s.stdin.Close()
	done := time.AfterFunc(10*time.Second, func() { s.cmd.Process.Kill() })
	defer done.Stop()
	return s.cmd.Wait()
}

// server are the rows of the server process: time, memory, calls at once.
func (b *bench) server(ctx context.Context) (rows []row, err error) {
	// The arguments of a log command would be those of cat.
	backend := filepath.Join(b.dir, "backend")
	if err := os.WriteFile(backend, []byte("#!/bin/sh\nexec cat '"+b.files["c1"]+"'\n"), 0o700); err != nil {
		return nil, err
	}
	for n, most := range map[int]float64{1: 32, 4: 96} {
		s, err := b.serve(backend)
		if err != nil {
			return nil, err
		}
		rest, err := s.memory("VmRSS")
		if err == nil {
			err = s.calls(n)
		}
		if err != nil {
			return nil, err
		}
		peak, err := s.memory("VmHWM")
		if err := errors.Join(err, s.end()); err != nil {
			return nil, err
		}
		rows = append(rows, row{What: fmt.Sprintf("peak memory of the server, calls at once: %d", n), Value: peak, Unit: "MiB", Most: most,
			Note: fmt.Sprintf("(%.0f before the first call)", rest)})
	}
	s, err := b.serve(backend)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.end()) }()
	buf := make([]byte, 256<<10)
	ways := []measure.Way{{Name: "drain", Run: func(context.Context) error { return drain(buf, backend) }}}
	atOnce := []int{1, 2, 4, 8}
	for _, n := range atOnce {
		ways = append(ways, measure.Way{Name: fmt.Sprint(n), Run: func(context.Context) error { return s.calls(n) }})
	}
	least, err := b.interleave(ctx, ways)
	if err != nil {
		return nil, err
	}
	r := times("tool call, until the client has the last byte / drain, c1", least["1"]/least["drain"], 2.5, 0)
	rows = append(rows, r)
	for _, n := range atOnce[1:] {
		rows = append(rows, times(fmt.Sprintf("%d calls at once / %d after each other", n, n), least[fmt.Sprint(n)]/least["1"]/float64(n), 0, 0))
	}
	return rows, nil
}
