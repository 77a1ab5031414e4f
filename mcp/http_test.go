package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tailrace/tailrace/pipeline"
)

// until waits for a condition.
func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(deadline); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited for %s", what)
		}
	}
}

// A result over HTTP is that over a stream, byte by byte.
func TestHTTP_SameResults(t *testing.T) {
	outputs := largeOutputs()
	for _, name := range []string{"9 MiB of events", "8 MiB on both"} {
		t.Run(name, func(t *testing.T) {
			play := outputs[name]
			s := start(t, "argv", playing(play.stdout, play.stderr))
			w := openWeb(t, "argv", nil, playing(play.stdout, play.stderr))
			id := w.greet()
			for _, tool := range []string{SnapshotTool, "hack.project.exec"} {
				args := `{}`
				if tool == "hack.project.exec" {
					args = `{"service":"web","cmd":["x"]}`
				}
				got, want := w.call(id, "1", tool, args), s.call("1", tool, args)
				if len(got.raw) > pipeline.ResultLimit {
					t.Errorf("B2: %d bytes", len(got.raw))
				}
				// Where a result is cut depends on the digits of its duration.
				near := max(len(got.raw), len(want.raw))-min(len(got.raw), len(want.raw)) < 64
				same := bytes.Equal(durationRE.ReplaceAll(got.raw, nil), durationRE.ReplaceAll(want.raw, nil))
				if cut := want.Structured.OutputTruncated != nil; !near || !same && !cut || (got.Structured.OutputTruncated != nil) != cut {
					t.Errorf("B2: %s: %d bytes over HTTP, %d over a stream", tool, len(got.raw), len(want.raw))
				}
				s.forget()
			}
		})
	}
}

// Progress comes before the reply, in the stream of its own call.
func TestS8_HTTPProgress(t *testing.T) {
	w := openWeb(t, "polite", nil, func(s *server) { s.every = 20 * time.Millisecond })
	id := w.greet()
	_, body := w.post(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"`+TailTool+`","arguments":{"maxMs":300},"_meta":{"progressToken":"p"}}}`, sessionHeader, id)
	all := eventsOf(t, body)
	if len(all) < 2 || all[len(all)-1].Method != "" {
		t.Fatalf("S8: %s", body)
	}
	for _, f := range all[:len(all)-1] {
		if f.Method != "notifications/progress" || !bytes.Contains(f.Params, []byte(`"progressToken":"p"`)) {
			t.Errorf("S8: %s", f.raw)
		}
	}
}

// Sessions have their own calls: the same id in two of them is two calls, and the end of
// one leaves the other alone.
func TestHTTP_SessionsDoNotMix(t *testing.T) {
	p := &pids{}
	w := openWeb(t, "hang", nil, watchChildren(p))
	one, two := w.greet(), w.greet()
	var calls sync.WaitGroup
	calls.Go(func() {
		r := w.request(t.Context(), http.MethodPost, HTTPPath, strings.NewReader(callMessage("1", TailTool, `{"maxMs":60000}`)), sessionHeader, one)
		resp, err := w.client.Do(r)
		if err == nil {
			resp.Body.Close()
		}
	})
	victim := p.next(t)
	calls.Go(func() {
		if r := w.call(two, "1", TailTool, `{"maxEvents":1}`); !*r.Structured.OK || r.data(t).Count != 1 {
			t.Errorf("S6: %s", r.raw)
		}
	})
	other := p.next(t)
	if resp, text := w.do(w.request(t.Context(), http.MethodDelete, HTTPPath, nil, sessionHeader, one)); resp.StatusCode != http.StatusNoContent {
		t.Errorf("DELETE: %s %s", resp.Status, text)
	}
	gone(t, victim)
	calls.Wait()
	gone(t, other)
	if resp, _ := w.post(callMessage("2", TailTool, `{}`), sessionHeader, one); resp.StatusCode != http.StatusNotFound {
		t.Errorf("a session that is over answers with %s", resp.Status)
	}
	if resp, _ := w.post(`{"jsonrpc":"2.0","id":3,"method":"ping"}`, sessionHeader, two); resp.StatusCode != http.StatusOK {
		t.Errorf("the other answers with %s", resp.Status)
	}
}

// A call ends when its client says so, when it hangs up, and when the server ends; in each
// case nothing of it is left.
func TestS2_HTTPCallEnds(t *testing.T) {
	for _, how := range []string{"cancelled", "hung up", "the server ends"} {
		t.Run(how, func(t *testing.T) {
			p := &pids{}
			w := openWeb(t, "hang", nil, watchChildren(p))
			id := w.greet()
			ctx, hangUp := context.WithCancel(t.Context())
			defer hangUp()
			answered := make(chan error, 1)
			go func() {
				resp, err := w.client.Do(w.request(ctx, http.MethodPost, HTTPPath, strings.NewReader(callMessage("1", TailTool, `{"maxMs":60000}`)), sessionHeader, id))
				if err == nil {
					var body bytes.Buffer
					_, err = body.ReadFrom(resp.Body)
					resp.Body.Close()
					if bytes.Contains(body.Bytes(), []byte("data:")) {
						err = errors.New("S2: a reply")
					}
				}
				answered <- err
			}()
			pid := p.next(t)
			switch how {
			case "cancelled":
				if resp, _ := w.post(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`, sessionHeader, id); resp.StatusCode != http.StatusAccepted {
					t.Errorf("cancel: %s", resp.Status)
				}
				if err := <-answered; err != nil {
					t.Errorf("S2: the response of a cancelled call: %v", err)
				}
			case "hung up":
				hangUp()
				if err := <-answered; !errors.Is(err, context.Canceled) {
					t.Errorf("S2: %v", err)
				}
			default:
				w.end()
				if err := <-answered; err != nil && strings.HasPrefix(err.Error(), "S2") {
					t.Error(err)
				}
			}
			gone(t, pid)
			if how != "the server ends" {
				if resp, _ := w.post(`{"jsonrpc":"2.0","id":1,"method":"ping"}`, sessionHeader, id); resp.StatusCode != http.StatusOK {
					t.Errorf("the session answers with %s", resp.Status)
				}
			}
		})
	}
}

// A full table refuses a client, unless a session was idle for long.
func TestHTTP_FullTable(t *testing.T) {
	w := openWeb(t, "logs:3", func(o *HTTPOptions) { o.MaxSessions = 2 })
	one, two := w.greet(), w.greet()
	resp, text := w.post(initializeMessage)
	if resp.StatusCode != http.StatusServiceUnavailable || resp.Header.Get("Retry-After") == "" {
		t.Fatalf("a third session: %s %s", resp.Status, text)
	}
	w.server.sessions.mu.Lock()
	w.server.sessions.all[one].since = time.Now().Add(-giveWay)
	w.server.sessions.mu.Unlock()
	three := w.greet()
	for id, want := range map[string]int{one: http.StatusNotFound, two: http.StatusOK, three: http.StatusOK} {
		if resp, _ := w.post(`{"jsonrpc":"2.0","id":1,"method":"ping"}`, sessionHeader, id); resp.StatusCode != want {
			t.Errorf("%s, want %d", resp.Status, want)
		}
	}
}

// A session without a request ends after its idle time; one with a stream does not.
func TestHTTP_IdleSession(t *testing.T) {
	w := openWeb(t, "logs:3", func(o *HTTPOptions) { o.SessionIdle = 50 * time.Millisecond }, waits(5*time.Millisecond, bodyTime))
	quiet, listening := w.greet(), w.greet()
	resp, err := w.client.Do(w.request(t.Context(), http.MethodGet, HTTPPath, nil, "Accept", "text/event-stream", sessionHeader, listening))
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatal(resp, err)
	}
	defer resp.Body.Close()
	until(t, "the end of the idle session", func() bool { return w.server.sessions.count() <= 1 })
	for stream := bufio.NewScanner(resp.Body); stream.Text() != ": waiting"; {
		if !stream.Scan() {
			t.Fatalf("the stream ends: %v", stream.Err())
		}
	}
	if r, _ := w.post(`{"jsonrpc":"2.0","id":1,"method":"ping"}`, sessionHeader, quiet); r.StatusCode != http.StatusNotFound {
		t.Errorf("the idle session answers with %s", r.Status)
	}
	if r, _ := w.post(`{"jsonrpc":"2.0","id":1,"method":"ping"}`, sessionHeader, listening); r.StatusCode != http.StatusOK {
		t.Errorf("the one with a stream answers with %s", r.Status)
	}
}

// An initialize that fails leaves no session.
func TestHTTP_BadInitialize(t *testing.T) {
	w := openWeb(t, "logs:3", nil)
	resp, _ := w.post(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":[1]}`)
	if resp.Header.Get(sessionHeader) != "" {
		t.Errorf("%s with a session", resp.Status)
	}
	until(t, "the end of the session", func() bool { return w.server.sessions.count() == 0 })
}

// The commands of all sessions are bounded together.
func TestO11_HTTPBusy(t *testing.T) {
	p := &pids{}
	w := openWeb(t, "hang", func(o *HTTPOptions) { o.Shared.MaxCommands = 1 }, watchChildren(p))
	one, two := w.greet(), w.greet()
	ctx, hangUp := context.WithCancel(t.Context())
	defer hangUp()
	var call sync.WaitGroup
	call.Go(func() {
		if resp, err := w.client.Do(w.request(ctx, http.MethodPost, HTTPPath, strings.NewReader(callMessage("1", TailTool, `{"maxMs":60000}`)), sessionHeader, one)); err == nil {
			resp.Body.Close()
		}
	})
	pid := p.next(t)
	w.call(two, "1", TailTool, `{}`).refused(t, codeBusy, reasonBusy)
	hangUp()
	call.Wait()
	gone(t, pid)
	if text := w.metrics(); !strings.Contains(text, "tailrace_busy_total 1\n") {
		t.Errorf("metrics: %s", text)
	}
}

func (w *web) metrics() string {
	w.t.Helper()
	resp, text := w.do(w.request(w.t.Context(), http.MethodGet, "/metrics", nil))
	if resp.StatusCode != http.StatusOK {
		w.t.Fatalf("metrics: %s", resp.Status)
	}
	return text
}

// The metrics count calls by tool and outcome, and hold nothing of what was said.
func TestHTTP_Metrics(t *testing.T) {
	w := openWeb(t, "fail", func(o *HTTPOptions) { o.Env = append(o.Env, "SECRET=secret") })
	id := w.greet()
	w.call(id, "1", SnapshotTool, `{"service":"secret"}`)
	w.call(id, "2", TailTool, `{"secret":1}`)
	w.post(initializeMessage, "Authorization", "Bearer secret")
	until(t, "the metrics", func() bool {
		text := w.metrics()
		for _, want := range []string{
			`tailrace_calls_total{outcome="failed",tool="` + SnapshotTool + `"} 1`,
			`tailrace_calls_total{outcome="refused",tool="` + TailTool + `"} 1`,
			`tailrace_http_refused_total{status="401"} 1`,
			`tailrace_events_total 1`, `tailrace_sessions 1`, `tailrace_commands 0`, `tailrace_commands_max 4`,
			`tailrace_cuts_total{bound="bytes"} 0`, "go_goroutines ", "process_open_fds ",
		} {
			if !strings.Contains(text, want) {
				return false
			}
		}
		if strings.Contains(text, "secret") {
			t.Error("S9: the metrics repeat what was said")
		}
		return true
	})
}

func TestHTTP_Listen(t *testing.T) {
	for address, want := range map[string]error{
		"": ErrListenAddress, "127.0.0.1": ErrListenAddress, "127.0.0.1:": ErrListenAddress, "127.0.0.1:http": ErrListenAddress,
		"127.0.0.1:65536": ErrListenAddress, "127.0.0.1:+1": ErrListenAddress, "host.example:1": ErrListenAddress,
		"0.0.0.0:0": ErrListenOpen, ":0": ErrListenOpen, "[::]:0": ErrListenOpen, "192.0.2.1:0": ErrListenOpen,
		"127.0.0.1:0": nil, "localhost:0": nil,
	} {
		ln, err := Listen(address, false)
		if !errors.Is(err, want) || (err == nil) != (want == nil) {
			t.Errorf("%q: %v", address, err)
		}
		if err == nil {
			if !ln.Addr().(*net.TCPAddr).IP.IsLoopback() {
				t.Errorf("%q listens on %v", address, ln.Addr())
			}
			ln.Close()
		}
	}
	if _, err := Listen("192.0.2.1:0", true); !errors.Is(err, ErrListen) {
		t.Errorf("an address of nobody: %v", err)
	}
	for _, o := range []HTTPOptions{{}, {Token: "short"}, {Token: "with spaces in the token"}, {Token: testToken, MaxSessions: -1}, {Token: testToken, MaxSessions: MaxMaxSessions + 1}, {Token: testToken, SessionIdle: -1}} {
		if _, err := newHTTPServer(o); !errors.Is(err, ErrHTTPOptions) {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

// descriptors counts what the process has open.
func descriptors(t *testing.T) int {
	t.Helper()
	all, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(all)
}

// Many clients at once, some of whom go away: the server has what it had before.
func TestHTTP_LeavesNothing(t *testing.T) {
	w := openWeb(t, "logs:3", func(o *HTTPOptions) { o.Shared.MaxCommands = 32 })
	round := func() {
		var clients sync.WaitGroup
		for i := range 8 {
			clients.Go(func() {
				id := w.greet()
				for k := range 3 {
					if r := w.call(id, fmt.Sprint(k), SnapshotTool, `{}`); !*r.Structured.OK {
						t.Errorf("O1: %s", r.raw)
					}
				}
				if i%2 == 0 {
					w.do(w.request(t.Context(), http.MethodDelete, HTTPPath, nil, sessionHeader, id))
				}
			})
		}
		clients.Wait()
		w.server.sessions.mu.Lock()
		for _, s := range w.server.sessions.all {
			s.end()
		}
		w.server.sessions.mu.Unlock()
		until(t, "the end of the sessions", func() bool { return w.server.sessions.count() == 0 })
		w.client.CloseIdleConnections()
	}
	round()
	var files, goroutines int
	until(t, "quiet", func() bool {
		files, goroutines = descriptors(t), runtime.NumGoroutine()
		return true
	})
	for range 3 {
		round()
	}
	until(t, fmt.Sprintf("%d descriptors and %d goroutines", files, goroutines), func() bool {
		return descriptors(t) <= files && runtime.NumGoroutine() <= goroutines
	})
}

func TestReadToken(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) string {
		path := dir + "/" + name
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	good := write("good", " "+testToken+"\n", 0o600)
	if err := os.Symlink(good, dir+"/link"); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]error{
		good: nil, dir + "/none": ErrTokenMissing, dir: ErrTokenForm, dir + "/link": ErrTokenForm,
		write("open", testToken, 0o644): ErrTokenRights, write("short", "secret", 0o600): ErrTokenText,
		write("two", testToken+" "+testToken, 0o600): ErrTokenText, write("long", strings.Repeat("a", maxTokenFile+1), 0o600): ErrTokenText,
	} {
		token, err := ReadToken(path)
		if !errors.Is(err, want) || (err == nil) != (want == nil) || err == nil && token != testToken {
			t.Errorf("%s: %v", path, err)
		}
		if err != nil && (strings.Contains(err.Error(), dir) || strings.Contains(err.Error(), "secret")) {
			t.Errorf("S9: %v", err)
		}
	}
	tokens := []string{NewToken(), NewToken()}
	if !goodToken(tokens[0]) || slices.Contains(tokens[1:], tokens[0]) {
		t.Error(tokens)
	}
}

func TestHTTP_Lists(t *testing.T) {
	w := openWeb(t, "logs:3", func(o *HTTPOptions) { o.Tools.Names = []string{TailTool} })
	id := w.greet()
	_, body := w.post(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, sessionHeader, id)
	var list struct{ Tools []struct{ Name string } }
	if err := json.Unmarshal(eventsOf(t, body)[0].Result, &list); err != nil || len(list.Tools) != 1 || list.Tools[0].Name != TailTool {
		t.Errorf("%v %s", err, body)
	}
	_, body = w.post(`{"jsonrpc":"2.0","id":2,"method":"prompts/get","params":{"name":"hack-init"}}`, sessionHeader, id)
	if f := eventsOf(t, body)[0]; f.Error != nil || !bytes.Contains(f.Result, []byte("messages")) {
		t.Errorf("%.300s", f.raw)
	}
}
