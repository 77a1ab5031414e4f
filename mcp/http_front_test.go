package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const testToken = "a-token-for-tests-0123456789"

// A web is a server over HTTP on loopback, driven by hand.
type web struct {
	t      *testing.T
	server *httpServer
	url    string
	log    *lockedBuffer
	client *http.Client
	cancel context.CancelFunc
	served chan error
}

// waits sets the times of a server: between two comments, and of a body.
func waits(alive, body time.Duration) func(*httpServer) {
	return func(h *httpServer) { h.alive, h.body = alive, body }
}

// openWeb starts a server whose backend is a stub. Change may change its options. What
// follows are functions that change the server, or those of its sessions.
func openWeb(t *testing.T, stub string, change func(*HTTPOptions), more ...any) *web {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "tailrace.yaml"), []byte("version: 1\nsources: {}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	w := &web{t: t, log: &lockedBuffer{}, client: &http.Client{Transport: &http.Transport{}}, served: make(chan error, 1)}
	o := HTTPOptions{
		Version: "test", Cwd: dir, Token: testToken,
		Env: []string{"HACK_MCP_COMMAND=" + exe, stubVariable + "=" + stub, "HACK_HOME=" + t.TempDir(), "HOME=" + t.TempDir()},
		Log: slog.New(slog.NewTextHandler(w.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
	if change != nil {
		change(&o)
	}
	if w.server, err = newHTTPServer(o); err != nil {
		t.Fatal(err)
	}
	var sessions []func(*server)
	for _, f := range more {
		switch f := f.(type) {
		case func(*httpServer):
			f(w.server)
		case func(*server):
			sessions = append(sessions, f)
		}
	}
	w.server.change = func(s *server) {
		for _, f := range sessions {
			f(s)
		}
	}
	ln, err := Listen("127.0.0.1:0", false)
	if err != nil {
		t.Fatal(err)
	}
	w.url = "http://" + ln.Addr().String()
	ctx, cancel := context.WithCancel(context.Background())
	w.cancel = cancel
	go func() { w.served <- w.server.serve(ctx, ln) }()
	t.Cleanup(func() {
		w.end()
		w.client.CloseIdleConnections()
		if log := w.log.String(); strings.Contains(log, "secret") || strings.Contains(log, testToken) {
			t.Errorf("S9: the log repeats input, output or the token:\n%s", log)
		}
		if t.Failed() {
			t.Logf("server log:\n%s", w.log)
		}
	})
	return w
}

// end ends the server and returns how long that took.
func (w *web) end() time.Duration {
	w.t.Helper()
	began := time.Now()
	w.cancel()
	select {
	case err := <-w.served:
		if err != nil {
			w.t.Errorf("ServeHTTP: %v", err)
		}
		w.served <- nil
	case <-time.After(deadline):
		w.t.Fatal("ServeHTTP did not return")
	}
	return time.Since(began)
}

// request makes a request with the token and the headers of a client. Headers are names
// and values; an empty value removes one.
func (w *web) request(ctx context.Context, method, path string, body io.Reader, headers ...string) *http.Request {
	w.t.Helper()
	r, err := http.NewRequestWithContext(ctx, method, w.url+path, body)
	if err != nil {
		w.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+testToken)
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
	}
	for i := 0; i < len(headers); i += 2 {
		switch name, value := headers[i], headers[i+1]; {
		case name == "Host":
			r.Host = value
		case value == "":
			r.Header.Del(name)
		default:
			r.Header.Add(name, value)
		}
	}
	return r
}

// do sends a request and returns the response with its whole body.
func (w *web) do(r *http.Request) (*http.Response, string) {
	w.t.Helper()
	resp, err := w.client.Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return resp, string(body)
}

// post sends a message and returns the response.
func (w *web) post(message string, headers ...string) (*http.Response, string) {
	w.t.Helper()
	return w.do(w.request(w.t.Context(), http.MethodPost, HTTPPath, strings.NewReader(message), headers...))
}

const initializeMessage = `{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`

// greet begins a session and returns its id.
func (w *web) greet() string {
	w.t.Helper()
	resp, body := w.post(initializeMessage)
	id := resp.Header.Get(sessionHeader)
	if resp.StatusCode != http.StatusOK || id == "" {
		w.t.Fatalf("initialize: %s %s", resp.Status, body)
	}
	if resp, body := w.post(`{"jsonrpc":"2.0","method":"notifications/initialized"}`, sessionHeader, id); resp.StatusCode != http.StatusAccepted {
		w.t.Fatalf("initialized: %s %s", resp.Status, body)
	}
	return id
}

func callMessage(id, tool, args string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"%s","arguments":%s}}`, id, tool, args)
}

// eventsOf are the data of the events of a stream.
func eventsOf(t *testing.T, stream string) (all []reply) {
	t.Helper()
	for event := range strings.SplitSeq(strings.TrimSuffix(stream, "\n\n"), "\n\n") {
		if strings.HasPrefix(event, ": ") || event == "" {
			continue
		}
		data, ok := strings.CutPrefix(event, "event: message\ndata: ")
		if !ok || strings.Contains(data, "\n") {
			t.Fatalf("not an event with one line of data: %.200q", event)
		}
		f := reply{raw: []byte(data)}
		if err := json.Unmarshal(f.raw, &f); err != nil {
			t.Fatal(err)
		}
		all = append(all, f)
	}
	return all
}

// call makes a call in a session and returns its result.
func (w *web) call(session, id, tool, args string) result {
	w.t.Helper()
	resp, body := w.post(callMessage(id, tool, args), sessionHeader, session)
	if resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != "text/event-stream" {
		w.t.Fatalf("%s: %s %.300s", tool, resp.Status, body)
	}
	all := eventsOf(w.t, body)
	last := all[len(all)-1]
	if last.Error != nil || string(last.ID) != id {
		w.t.Fatalf("%s: %.300s", tool, last.raw)
	}
	r := result{raw: last.Result}
	if err := json.Unmarshal(last.Result, &r); err != nil {
		w.t.Fatal(err)
	}
	return r
}

func TestHTTP_Token(t *testing.T) {
	w := openWeb(t, "logs:3", nil)
	for name, c := range map[string]struct {
		headers []string
		want    int
	}{
		"right":          {nil, http.StatusOK},
		"scheme in caps": {[]string{"Authorization", "", "Authorization", "BEARER " + testToken}, http.StatusOK},
		"none":           {[]string{"Authorization", ""}, http.StatusUnauthorized},
		"wrong":          {[]string{"Authorization", "", "Authorization", "Bearer a-token-for-tests-0123456780"}, http.StatusUnauthorized},
		"a part":         {[]string{"Authorization", "", "Authorization", "Bearer " + testToken[:20]}, http.StatusUnauthorized},
		"more":           {[]string{"Authorization", "", "Authorization", "Bearer " + testToken + "0"}, http.StatusUnauthorized},
		"basic":          {[]string{"Authorization", "", "Authorization", "Basic " + testToken}, http.StatusUnauthorized},
		"no scheme":      {[]string{"Authorization", "", "Authorization", testToken}, http.StatusUnauthorized},
		"twice":          {[]string{"Authorization", "Bearer secret-and-long-enough"}, http.StatusUnauthorized},
	} {
		for _, path := range []string{HTTPPath, "/metrics", "/nothing"} {
			method, body, want := http.MethodGet, "", c.want
			switch {
			case path == HTTPPath:
				method, body = http.MethodPost, initializeMessage
			case path == "/nothing" && want == http.StatusOK:
				want = http.StatusNotFound
			}
			resp, text := w.do(w.request(t.Context(), method, path, strings.NewReader(body), c.headers...))
			if resp.StatusCode != want {
				t.Errorf("%s %s: %s %.200s", name, path, resp.Status, text)
			}
			if want == http.StatusUnauthorized && (resp.Header.Get("WWW-Authenticate") == "" || strings.Contains(text, "secret")) {
				t.Errorf("%s %s: %v %s", name, path, resp.Header, text)
			}
		}
	}
	if resp, _ := w.do(w.request(t.Context(), http.MethodGet, "/healthz", nil, "Authorization", "")); resp.StatusCode != http.StatusOK {
		t.Errorf("healthz: %s", resp.Status)
	}
}

// A page in a browser can reach loopback. What it cannot choose is its Origin, and the
// Host after its name was rebound.
func TestHTTP_HostAndOrigin(t *testing.T) {
	w := openWeb(t, "logs:3", func(o *HTTPOptions) {
		o.Hosts, o.Origins = []string{"Logs.example"}, []string{"https://front.example:8443"}
	})
	address := strings.TrimPrefix(w.url, "http://")
	_, port, _ := net.SplitHostPort(address)
	for _, c := range []struct {
		headers []string
		want    int
	}{
		{nil, http.StatusOK},
		{[]string{"Host", "localhost:" + port}, http.StatusOK},
		{[]string{"Host", "LOCALHOST"}, http.StatusOK},
		{[]string{"Host", "[::1]:" + port}, http.StatusOK},
		{[]string{"Host", "logs.example"}, http.StatusOK},
		{[]string{"Host", "secret.example:" + port}, http.StatusForbidden},
		{[]string{"Host", "127.0.0.1.secret.example"}, http.StatusForbidden},
		{[]string{"Host", "192.0.2.1:" + port}, http.StatusForbidden},
		{[]string{"Host", "localhost.secret.example"}, http.StatusForbidden},
		{[]string{"Origin", w.url}, http.StatusOK},
		{[]string{"Origin", "https://front.example:8443"}, http.StatusOK},
		{[]string{"Origin", "https://front.example"}, http.StatusForbidden},
		{[]string{"Origin", "http://secret.example"}, http.StatusForbidden},
		{[]string{"Origin", "null"}, http.StatusForbidden},
		{[]string{"Origin", w.url + "/"}, http.StatusForbidden},
		{[]string{"Origin", w.url, "Origin", "http://secret.example"}, http.StatusForbidden},
		{[]string{"Host", "secret.example", "Origin", "http://secret.example"}, http.StatusForbidden},
	} {
		for _, path := range []string{"/healthz", "/metrics", HTTPPath} {
			r := w.request(t.Context(), http.MethodGet, path, nil, c.headers...)
			if path == HTTPPath {
				r = w.request(t.Context(), http.MethodPost, path, strings.NewReader(initializeMessage), c.headers...)
			}
			resp, text := w.do(r)
			if resp.StatusCode != c.want || strings.Contains(text, "secret") {
				t.Errorf("%q %s: %s %.200s", c.headers, path, resp.Status, text)
			}
		}
	}
}

func TestHTTP_Refusals(t *testing.T) {
	w := openWeb(t, "logs:3", nil)
	id := w.greet()
	for _, c := range []struct {
		name, method, path, body string
		headers                  []string
		want                     int
	}{
		{"a text", "POST", HTTPPath, "secret", []string{"Content-Type", "", "Content-Type", "text/plain"}, 415},
		{"a form", "POST", HTTPPath, "secret", []string{"Content-Type", "", "Content-Type", "application/x-www-form-urlencoded"}, 415},
		{"compressed", "POST", HTTPPath, "secret", []string{"Content-Encoding", "gzip"}, 415},
		{"resumed", "POST", HTTPPath, initializeMessage, []string{"Last-Event-ID", "1"}, 400},
		{"nothing", "POST", HTTPPath, " ", nil, 400},
		{"no JSON", "POST", HTTPPath, `{"secret`, nil, 400},
		{"a batch", "POST", HTTPPath, "[" + initializeMessage + "]", nil, 400},
		{"deep", "POST", HTTPPath, strings.Repeat("[", 1<<20), nil, 400},
		{"large", "POST", HTTPPath, strings.Repeat(" ", maxBody+1), nil, 413},
		{"no session", "POST", HTTPPath, `{"jsonrpc":"2.0","id":1,"method":"ping"}`, nil, 400},
		{"unknown session", "POST", HTTPPath, `{"jsonrpc":"2.0","id":1,"method":"ping"}`, []string{sessionHeader, "secret"}, 404},
		{"no event stream accepted", "POST", HTTPPath, `{"jsonrpc":"2.0","id":1,"method":"ping"}`, []string{sessionHeader, id, "Accept", "", "Accept", "application/json"}, 400},
		{"unknown version", "POST", HTTPPath, `{"jsonrpc":"2.0","id":1,"method":"ping"}`, []string{sessionHeader, id, "Mcp-Protocol-Version", "1999-secret"}, 400},
		{"a get without a stream", "GET", HTTPPath, "", []string{sessionHeader, id}, 406},
		{"a get without a session", "GET", HTTPPath, "", []string{"Accept", "text/event-stream"}, 400},
		{"a get of another session", "GET", HTTPPath, "", []string{"Accept", "text/event-stream", sessionHeader, "secret"}, 404},
		{"end of no session", "DELETE", HTTPPath, "", nil, 400},
		{"end of another", "DELETE", HTTPPath, "", []string{sessionHeader, "secret"}, 404},
		{"put", "PUT", HTTPPath, "secret", nil, 405},
		{"post to metrics", "POST", "/metrics", "secret", nil, 405},
		{"post to healthz", "POST", "/healthz", "secret", nil, 405},
		{"another path", "GET", "/secret", "", nil, 404},
		{"a path with dots", "GET", "/mcp/../secret", "", nil, 404},
	} {
		resp, text := w.do(w.request(t.Context(), c.method, c.path, strings.NewReader(c.body), c.headers...))
		if resp.StatusCode != c.want || strings.Contains(text, "secret") || text == "" {
			t.Errorf("%s: %s %.300s", c.name, resp.Status, text)
		}
	}
	// A refused message is answered as on a stream, and the session goes on.
	resp, text := w.post(`{"jsonrpc":"2.0","id":7,"method":"secret/method"}`, sessionHeader, id)
	var r reply
	if json.Unmarshal([]byte(text), &r) != nil || resp.StatusCode != 200 || r.Error == nil || r.Error.Code != -32601 || string(r.ID) != "7" || strings.Contains(text, "secret") {
		t.Errorf("unknown method: %s %s", resp.Status, text)
	}
	if r := w.call(id, "8", SnapshotTool, `{"secret":1}`); *r.Structured.OK || r.Structured.Error.Code != codeUsage || bytes.Contains(r.raw, []byte(`"secret"`)) {
		t.Errorf("O11: %s", r.raw)
	}
	if r := w.call(id, "9", SnapshotTool, `{}`); !*r.Structured.OK || r.data(t).Count != 5 {
		t.Errorf("O1: %s", r.raw)
	}
}

// A body that is declared too long is refused before it is sent, and one that does not
// come is not waited for.
func TestHTTP_BodyThatDoesNotCome(t *testing.T) {
	w := openWeb(t, "logs:3", nil, waits(aliveEvery, 50*time.Millisecond))
	for length, want := range map[int]string{maxBody + 1: "413", 100: "408"} {
		c, err := net.Dial("tcp", strings.TrimPrefix(w.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(c, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n{", testToken, length)
		_ = c.SetReadDeadline(time.Now().Add(deadline))
		line, err := bufio.NewReader(c).ReadString('\n')
		if err != nil || !strings.Contains(line, want) {
			t.Errorf("%d bytes: %q %v", length, line, err)
		}
		c.Close()
	}
}
