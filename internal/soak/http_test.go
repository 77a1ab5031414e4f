//go:build linux

package soak

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

const httpToken = "token-of-the-soak-0123456789"

// A site is a server over HTTP and what talks to it. Its methods are safe for concurrent
// use.
type site struct {
	cmd    *exec.Cmd
	marker string
	url    string
	client *http.Client

	mu sync.Mutex
	// left are the sessions that their clients left open.
	left []string
}

// beginSite starts a server.
func beginSite(dir string, env []string, marker string) (*site, error) {
	token := filepath.Join(dir, "token")
	if err := os.WriteFile(token, []byte(httpToken), 0o600); err != nil {
		return nil, err
	}
	w := &site{
		cmd:    exec.Command(binary, "mcp", "serve", "--http", "127.0.0.1:0", "--token-file", token, "--max-commands", "64", "--max-sessions", "1024"),
		marker: marker, client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: workers}},
	}
	w.cmd.Dir, w.cmd.Env = dir, append(env, markerVariable+"="+marker)
	stderr, err := w.cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := w.cmd.Start(); err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(stderr)
	if !lines.Scan() {
		return nil, errGone
	}
	_, w.url, _ = strings.Cut(lines.Text(), " at ")
	w.url = strings.TrimSuffix(w.url, "/mcp")
	go func() { _, _ = io.Copy(io.Discard, stderr) }() // until the server ends
	return w, nil
}

// do sends a request and returns the response with its body.
func (w *site) do(ctx context.Context, method, path, session, body string) (*http.Response, []byte, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, w.url+path, strings.NewReader(body))
	if err != nil {
		return nil, nil, err
	}
	r.Header.Set("Authorization", "Bearer "+httpToken)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if session != "" {
		r.Header.Set("Mcp-Session-Id", session)
	}
	resp, err := w.client.Do(r)
	if err != nil {
		return nil, nil, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return resp, text, err
}

// open begins a session and returns its id.
func (w *site) open() (string, error) {
	resp, text, err := w.do(context.Background(), http.MethodPost, "/mcp", "",
		`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"soak","version":"1"}}}`)
	if err != nil {
		return "", err
	}
	id := resp.Header.Get("Mcp-Session-Id")
	if resp.StatusCode != http.StatusOK || id == "" {
		return "", fmt.Errorf("initialize: %s %.200s", resp.Status, text)
	}
	_, _, err = w.do(context.Background(), http.MethodPost, "/mcp", id, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return id, err
}

// call makes a call and returns its reply.
func (w *site) call(ctx context.Context, session string, id int, c call) (r reply, err error) {
	params, err := json.Marshal(map[string]any{"name": c.tool, "arguments": c.args})
	if err != nil {
		return r, err
	}
	resp, text, err := w.do(ctx, http.MethodPost, "/mcp", session, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":%s}`, id, params))
	if err != nil {
		return r, err
	}
	if resp.StatusCode != http.StatusOK {
		return r, fmt.Errorf("%s %.200s", resp.Status, text)
	}
	_, data, ok := bytes.Cut(text, []byte("data: "))
	if !ok {
		return r, errGone
	}
	return r, json.Unmarshal(data, &r)
}

var gauges = regexp.MustCompile(`(?m)^(go_goroutines|process_open_fds|process_resident_memory_bytes|tailrace_sessions|tailrace_commands) (\S+)$`)

// read returns the gauges of the server.
func (w *site) read() (map[string]float64, error) {
	w.client.CloseIdleConnections()
	_, text, err := w.do(context.Background(), http.MethodGet, "/metrics", "", "")
	if err != nil {
		return nil, err
	}
	values := map[string]float64{}
	for _, m := range gauges.FindAllSubmatch(text, -1) {
		v, err := strconv.ParseFloat(string(m[2]), 64)
		if err != nil {
			return nil, err
		}
		values[string(m[1])] = v
	}
	if len(values) != 5 {
		return nil, fmt.Errorf("the metrics lack some of what is measured: %v", values)
	}
	return values, nil
}

// TestSoak_HTTP is the same over HTTP: sessions come and go, calls are hung up on, and at
// rest the server has as many goroutines and descriptors as before.
func TestSoak_HTTP(t *testing.T) {
	s, duration := newSoak(t)
	marker := fmt.Sprintf("%d-http", os.Getpid())
	w, err := beginSite(s.dir, s.env, marker)
	if err != nil {
		t.Fatal(err)
	}
	defer w.cmd.Process.Kill()
	s.deadline = time.Now().Add(duration)
	rounds := roundsOf(duration)
	var all sync.WaitGroup
	for i := range workers {
		all.Go(func() {
			for r := s.random(200 + i); !s.over(); {
				s.rest.RLock()
				s.visit(w, r)
				s.rest.RUnlock()
			}
		})
	}
	var measured []map[string]float64
	for i := range rounds {
		time.Sleep(time.Until(s.deadline.Add(-duration * time.Duration(rounds-1-i) / time.Duration(rounds))))
		if s.failures.Load() >= 20 {
			break
		}
		measured = append(measured, s.measureSite(w))
	}
	all.Wait()
	if len(measured) == rounds {
		s.judgeSite(measured)
	}
	began := time.Now()
	w.cmd.Process.Signal(syscall.SIGTERM)
	if err := w.cmd.Wait(); err != nil || time.Since(began) > 4*time.Second {
		t.Errorf("S2: the server ends after %v with %v", time.Since(began), err)
	}
	s.gone(marker)
	t.Logf("%d calls, %d of them hung up on, in %d sessions", s.calls.Load(), s.cancelled.Load(), s.sessions.Load())
}

// visit is one session of a client: some calls, one or another hung up on, and an end that
// is polite, or none at all.
func (s *soak) visit(w *site, r *rand.Rand) {
	session, err := w.open()
	if err != nil {
		s.fail("a session does not begin: %v", err)
		return
	}
	s.sessions.Add(1)
	for id := 1; id <= 1+r.IntN(6); id++ {
		s.calls.Add(1)
		if r.IntN(5) == 0 {
			s.cancelled.Add(1)
			kind := []string{"hang", "deaf", "stopped", "flood"}[r.IntN(4)]
			ctx, hangUp := context.WithTimeout(context.Background(), time.Duration(r.IntN(100))*time.Millisecond)
			_, err := w.call(ctx, session, id, call{tool: tailTool, args: map[string]any{"query": "kind=" + kind, "maxEvents": 10000, "maxMs": 60000}})
			hangUp()
			if kind != "flood" && !errors.Is(err, context.DeadlineExceeded) {
				s.fail("S2: a call of kind %s that was hung up on: %v", kind, err)
			}
			continue
		}
		c := pick(r)
		got, err := w.call(context.Background(), session, id, c)
		if err == nil {
			err = c.want(got)
		}
		if err != nil {
			s.fail("%s %v: %v", c.tool, c.args, err)
		}
	}
	if r.IntN(2) == 0 {
		s.endSession(w, session)
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.left = append(w.left, session)
}

func (s *soak) endSession(w *site, session string) {
	if resp, text, err := w.do(context.Background(), http.MethodDelete, "/mcp", session, ""); err != nil || resp.StatusCode != http.StatusNoContent {
		s.fail("DELETE: %v %s", err, text)
	}
}

// measureSite brings the server to rest and reads its gauges.
func (s *soak) measureSite(w *site) map[string]float64 {
	s.rest.Lock()
	defer s.rest.Unlock()
	for _, session := range w.left {
		s.endSession(w, session)
	}
	w.left = nil
	s.gone(w.marker)
	var values map[string]float64
	least := map[string]float64{}
	for quiet, end := 0, time.Now().Add(patience); quiet < 5 && time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		var err error
		if values, err = w.read(); err != nil {
			s.fail("metrics: %v", err)
			return nil
		}
		if values["tailrace_sessions"] != 0 || values["tailrace_commands"] != 0 {
			continue
		}
		quiet++
		for name, v := range values {
			if old, has := least[name]; !has || v < old {
				least[name] = v
			}
		}
	}
	if len(least) == 0 {
		s.fail("stop-leaves-nothing: at rest there are %v", values)
	}
	s.t.Logf("after %d calls: %.0f goroutines, %.0f descriptors, %.0f MiB", s.calls.Load(),
		least["go_goroutines"], least["process_open_fds"], least["process_resident_memory_bytes"]/(1<<20))
	return least
}

// judgeSite compares the second half of the measures with the first.
func (s *soak) judgeSite(measured []map[string]float64) {
	most := func(list []map[string]float64, name string) (m float64) {
		for _, values := range list {
			m = max(m, values[name])
		}
		return m
	}
	half := len(measured) / 2
	for name, room := range map[string]float64{"go_goroutines": 3, "process_open_fds": 2, "process_resident_memory_bytes": 96 << 20} {
		if warm, late := most(measured[:half], name), most(measured[half:], name); late > warm+room {
			s.fail("stop-leaves-nothing: %s is %.0f after %.0f", name, late, warm)
		}
	}
}
