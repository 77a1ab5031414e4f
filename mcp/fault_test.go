//go:build unix

package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// A faultyStream is one side of a session on which the n-th call fails, and all after it.
type faultyStream struct {
	f  *os.File
	mu sync.Mutex
	n  int
	// short makes a write take half before it fails.
	short bool
	hit   chan struct{}
}

var errFault = errors.New("the stream broke")

func (s *faultyStream) broken() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.n--
	if s.n == 0 {
		close(s.hit)
	}
	return s.n <= 0
}

func (s *faultyStream) Read(p []byte) (int, error) {
	if s.broken() {
		return 0, errFault
	}
	return s.f.Read(p[:min(len(p), 100)]) // so that there is an N-th read
}

func (s *faultyStream) Write(p []byte) (int, error) {
	if !s.broken() {
		return s.f.Write(p)
	}
	if s.short {
		n, _ := s.f.Write(p[:len(p)/2])
		return n, nil
	}
	return 0, errFault
}

func (s *faultyStream) SetReadDeadline(t time.Time) error { return s.f.SetReadDeadline(t) }

// faultySession runs a session of several requests, one of them a call that does not end
// by itself, on streams of which one breaks. It returns the whole frames that came.
func faultySession(t *testing.T, in, out *faultyStream, toServer, fromServer *os.File) (frames []json.RawMessage) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	env := []string{"HACK_MCP_COMMAND=" + exe, stubVariable + "=hang", "HOME=" + dir, "HACK_HOME=" + dir}
	if err := os.WriteFile(filepath.Join(dir, "tailrace.yaml"), []byte("version: 1\nsources: {}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() {
		served <- Serve(context.Background(), Options{Cwd: dir, Env: env, Stdin: in, Stdout: out})
		out.f.Close()
	}()
	requests := strings.Join([]string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"` + TailTool + `","arguments":{"maxMs":60000}}}`,
		`{"jsonrpc":"2.0","id":3,"method":"tools/list"}`,
		`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"` + SnapshotTool + `","arguments":{"tail":0}}}`,
		`not json`,
		`{"jsonrpc":"2.0","id":5,"method":"ping"}`,
		"",
	}, "\n")
	if _, err := toServer.WriteString(requests); err != nil { // It fits the pipe.
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		lines := bufio.NewReader(fromServer)
		for {
			line, err := lines.ReadBytes('\n')
			if err != nil {
				if len(line) > 0 && !out.short {
					t.Errorf("S9: a part of a frame: %.60s", line)
				}
				return
			}
			frames = append(frames, line)
		}
	}()
	select {
	case <-in.hit:
	case <-out.hit:
	case <-time.After(deadline):
		t.Fatal("nothing broke")
	}
	broke := time.Now()
	if err := <-served; err != nil {
		t.Error(err)
	}
	if took := time.Since(broke); took > 1900*time.Millisecond {
		t.Errorf("S2: Serve returned after %v", took)
	}
	for end := time.Now().Add(deadline); len(startedWith("HOME="+dir)) > 0; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Errorf("S3: alive: %v", startedWith("HOME="+dir))
			break
		}
	}
	toServer.Close()
	<-done
	fromServer.Close()
	in.f.Close()
	return frames
}

// startedWith lists the processes that have a variable in their environment.
func startedWith(variable string) (pids []string) {
	list, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, path := range list {
		if env, err := os.ReadFile(path); err == nil && strings.Contains(string(env), variable+"\x00") {
			pids = append(pids, path)
		}
	}
	return pids
}

func pipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	return r, w
}

// Every N-th read of stdin or write of stdout fails, in a session with a call that runs.
// Serve ends in its time, every frame before the fault is whole, the running call is not
// answered, and its command is gone.
func TestFault_Streams(t *testing.T) {
	const never = 1 << 30
	for _, c := range []struct {
		name        string
		read, write int
		short       bool
	}{
		{"read 1", 1, never, false}, {"read 2", 2, never, false}, {"read 3", 3, never, false}, {"read 4", 4, never, false},
		{"read 5", 5, never, false}, {"read 6", 6, never, false}, {"read 7", 7, never, false},
		{"write 1", never, 1, false}, {"write 2", never, 2, false}, {"write 3", never, 3, false},
		{"write 4", never, 4, false}, {"write 5", never, 5, false}, {"short write 3", never, 3, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			inR, inW := pipe(t)
			outR, outW := pipe(t)
			in := &faultyStream{f: inR, n: c.read, hit: make(chan struct{})}
			out := &faultyStream{f: outW, n: c.write, short: c.short, hit: make(chan struct{})}
			frames := faultySession(t, in, out, inW, outR)
			if c.write != never && len(frames) != c.write-1 {
				t.Errorf("%d frames came before the fault at %d", len(frames), c.write)
			}
			for _, f := range frames {
				var r reply
				if err := json.Unmarshal(f, &r); err != nil {
					t.Errorf("S9: %v", err)
				}
				if string(r.ID) == "2" {
					t.Error("S2: the interrupted call was answered")
				}
			}
		})
	}
}
