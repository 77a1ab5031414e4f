//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/tailrace/tailrace/internal/logline"
)

// eventSchema is the published schema of events.
func eventSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	data, err := os.ReadFile("../../docs/schema/log-event.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("log-event", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("log-event")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// valid checks each line of the output of a call, and returns the types of its events.
func valid(t *testing.T, s *jsonschema.Schema, out string) (types []string) {
	t.Helper()
	for line := range strings.Lines(out) {
		doc, err := jsonschema.UnmarshalJSON(strings.NewReader(line))
		if err == nil {
			err = s.Validate(doc)
		}
		if err != nil {
			t.Errorf("%s%v", line, err)
			continue
		}
		types = append(types, doc.(map[string]any)["type"].(string))
	}
	if len(types) < 2 || types[0] != "start" || types[len(types)-1] != "end" {
		t.Errorf("not from start to end: %v", types)
	}
	return types
}

const fakeJournalctl = `#!/bin/sh
echo '{"__CURSOR":"1","__REALTIME_TIMESTAMP":"1772355600000001","MESSAGE":"up","PRIORITY":"4","_SYSTEMD_UNIT":"web.service","_PID":"7"}'
echo '{"__CURSOR":"2","__REALTIME_TIMESTAMP":"1772355600000002","MESSAGE":[255,10],"_SYSTEMD_UNIT":"web.service"}'
`

const fakeKubectl = `#!/bin/sh
echo '[pod/web-1/app] 2026-03-01T10:00:00.5Z {"level":"error","msg":"gone","code":7}'
echo '[pod/web-1/side] error: something'
`

// lokiServer answers a range query with two lines, and a tail with dropped entries.
func lokiServer(t *testing.T) *httptest.Server {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/loki/api/v1/query_range":
			if r.URL.Query().Get("query") != `{project="shop"}` {
				t.Errorf("query %s", r.URL.Query().Get("query"))
			}
			fmt.Fprint(w, `{"status":"success","data":{"resultType":"streams","result":[{"stream":{"service":"web"},"values":[["1772359200000000007","a"],["1772359200000000008","level=warn msg=b"]]}]}}`)
		case "/loki/api/v1/tail":
			conn, err := websocket.Accept(w, r, nil)
			if err != nil {
				return
			}
			defer conn.CloseNow()
			_ = conn.Write(r.Context(), websocket.MessageText, []byte(`{"streams":[{"stream":{"service":"web"},"values":[["1772359200000000009","c"]]}],"dropped_entries":[{"labels":{},"timestamp":"1"}]}`))
			<-conn.CloseRead(r.Context()).Done()
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// TestEventSchema runs what each backend gives through the published schema: its lines, what
// is missing, its errors, the start and the end.
func TestEventSchema(t *testing.T) {
	schema := eventSchema(t)
	root := t.TempDir()
	put := func(name, text string, mode os.FileMode) {
		t.Helper()
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	server := lokiServer(t)
	put("bin/journalctl", fakeJournalctl, 0o755)
	put("bin/kubectl", fakeKubectl, 0o755)
	put("shop/x.journal", "", 0o644)
	put("shop/a.log", "2026-03-01T10:00:00Z ERROR x\n{\"msg\":\"y\",\"port\":80}\nplain \xff\x1b[1m\n", 0o644)
	put("shop/b.log.gz", gzipped(t, "2026-03-01T10:00:01Z z\n"), 0o644)
	put("shop/tailrace.yaml", `version: 1
name: shop
sources:
  file: {file: a.log}
  files: {files: ["*.log*"]}
  gone: {file: none.log}
  command: {command: [sh, -c, "echo out; echo err >&2; exit 3"]}
  journal: {journal: {file: x.journal}}
  kubernetes: {kubernetes: {selector: app=web}}
  loki: {loki: {url: "`+server.URL+`"}}
`, 0o644)
	call := func(ctx context.Context, args ...string) string {
		var out, errs bytes.Buffer
		a := &app{
			Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Args: args, Cwd: filepath.Join(root, "shop"), Now: time.Now,
			Env: []string{"HOME=" + filepath.Join(root, "home"), "PATH=" + filepath.Join(root, "bin") + ":" + os.Getenv("PATH")},
		}
		cmd := newRootCommand(a)
		cmd.SetArgs(args)
		cmd.SetContext(ctx)
		_ = cmd.Execute() // a failing source is among them
		return out.String()
	}
	call(t.Context(), "init", "--name", "shop")
	for source, want := range map[string][]string{
		"file":       {"start", "log", "log", "log", "end"},
		"files":      {"start", "log", "log", "log", "log", "end"},
		"gone":       {"start", "error", "end"},
		"command":    {"start", "log", "log", "end"},
		"journal":    {"start", "log", "log", "end"},
		"kubernetes": {"start", "log", "error", "end"},
		"loki":       {"start", "log", "log", "end"},
	} {
		since := "2026-03-01T00:00:00Z"
		if source == "file" {
			since = "" // no time in some of its lines
		}
		out := call(t.Context(), "logs", "--json", "--no-follow", "--branch=", "--since="+since, source)
		if got := valid(t, schema, out); !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v\n%s", source, got, want, out)
		}
	}
	out := call(t.Context(), "logs", "--json", "--no-follow", "--branch", "Fix/1", "--tail", "1", "--services", "file,files,command,journal,kubernetes,gone")
	if got := valid(t, schema, out); !slices.Contains(got, "error") || strings.Count(out, `"type":"log"`) != 5 || !strings.Contains(out, `"backend":"mixed"`) {
		t.Errorf("all of them: %v\n%s", got, out)
	}
	// A tail, stopped once what was dropped has been told.
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	stdout := &until{text: `"dropped"`, then: cancel}
	a := &app{Stdin: strings.NewReader(""), Stdout: stdout, Stderr: &bytes.Buffer{}, Cwd: root, Now: time.Now,
		Env: []string{"HOME=" + filepath.Join(root, "home"), "HACK_LOKI_URL=" + server.URL}}
	cmd := newRootCommand(a)
	cmd.SetArgs([]string{"logs", "--json", "--query", `{project="shop"}`})
	cmd.SetContext(ctx)
	_ = cmd.Execute()
	if got := valid(t, schema, stdout.String()); !slices.Contains(got, "dropped") || got[len(got)-1] != "end" || !slices.Contains(got, "log") {
		t.Errorf("a tail: %v\n%s", got, stdout.String())
	}
}

// An until calls then once its text was written.
type until struct {
	bytes.Buffer
	text string
	then func()
}

func (u *until) Write(p []byte) (int, error) {
	n, err := u.Buffer.Write(p)
	if strings.Contains(u.String(), u.text) {
		u.then()
	}
	return n, err
}

// TestEventSchema_Records: whatever a record holds, its event fits; and what is no event of
// ours does not, so that the schema means something.
func TestEventSchema_Records(t *testing.T) {
	schema := eventSchema(t)
	c := logline.Context{Backend: "compose", Source: "compose", Project: "p\xff", Branch: "b"}
	for _, r := range []logline.Record{
		{},
		{Line: []byte("\x00\xff\n{"), Stream: "stderr", Service: "s", Instance: "\u2028"},
		{Line: []byte(`{"level":"fatal","time":"2026-03-01T10:00:00.000000001+02:00","a":null,"b":1e3}`)},
		{Line: []byte("level=trace msg=x"), Time: time.Unix(0, -1), Nanos: true, Labels: map[string]string{"": "", "a\"": "\xff"}},
		{Line: []byte("x"), Time: time.Unix(1, 1), Level: "debug"},
		{Line: []byte("x"), Time: time.UnixMicro(1 << 62), Nanos: true},
	} {
		line := logline.AppendRecord(nil, r, c)
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(line))
		if err == nil {
			err = schema.Validate(doc)
		}
		if err != nil {
			t.Errorf("%s%v", line, err)
		}
	}
	for _, bad := range []string{
		`[]`, `{}`, `{"type":"log"}`, `{"type":"other","ts":"2026-03-01T10:00:00Z","backend":"file"}`,
		`{"type":"end","ts":"now","backend":"file","reason":"eof"}`,
		`{"type":"end","ts":"2026-03-01T10:00:00Z","backend":"file","reason":"because"}`,
		`{"type":"error","ts":"2026-03-01T10:00:00Z","backend":"file","message":""}`,
		`{"type":"start","ts":"2026-03-01T10:00:00Z","backend":"mixed","follow":"yes"}`,
		`{"type":"log","ts":"2026-03-01T10:00:00Z","backend":"mixed","entry":{"source":"file","message":"","raw":""}}`,
		`{"type":"log","ts":"2026-03-01T10:00:00Z","backend":"file","entry":{"source":"file","message":"","raw":"","level":"trace"}}`,
		`{"type":"log","ts":"2026-03-01T10:00:00Z","backend":"file","entry":{"source":"file","message":"","raw":"","fields":{"a":1}}}`,
		`{"type":"log","ts":"2026-03-01T10:00:00Z","backend":"file","entry":{"source":"file","message":"","raw":"","service":null}}`,
	} {
		var doc any
		if err := json.Unmarshal([]byte(bad), &doc); err != nil {
			t.Fatal(err)
		}
		if schema.Validate(doc) == nil {
			t.Errorf("fits: %s", bad)
		}
	}
}
