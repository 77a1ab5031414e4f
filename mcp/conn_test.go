package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// A transcript is what a client sends and what the server must answer, in any order, as
// pieces of frames.
func TestB10_BadInputLosesNothing(t *testing.T) {
	id := strings.Repeat("x", maxID)
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	for _, c := range []struct{ name, line, want string }{
		{"text", `secret`, `"id":null,"error":{"code":-32700,`},
		{"half a message", `{"jsonrpc":"2.0","id":90,"method":`, `"id":null,"error":{"code":-32700,`},
		{"two messages", `{"jsonrpc":"2.0","id":1,"method":"ping"}{"jsonrpc":"2.0","id":2,"method":"ping"}`, `"id":null,"error":{"code":-32700,`},
		{"not UTF-8", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{\"x\":\"\xff\"}}", `"id":null,"error":{"code":-32700,`},
		{"too deep", `{"jsonrpc":"2.0","id":92,"method":"ping","params":` + deep(512) + `}`, `"id":null,"error":{"code":-32700,`},
		{"very deep", strings.Repeat("[", 1<<20), `"id":null,"error":{"code":-32700,`},
		{"deep enough", `{"jsonrpc":"2.0","id":93,"method":"ping","params":{"x":` + deep(510) + `}}`, `"id":93,"result":{}`},
		{"batch", `[{"jsonrpc":"2.0","id":91,"method":"ping"}]`, `"id":null,"error":{"code":-32600,`},
		{"empty batch", `[]`, `"id":null,"error":{"code":-32600,`},
		{"string", `"secret"`, `"id":null,"error":{"code":-32600,`},
		{"null", `null`, `"id":null,"error":{"code":-32600,`},
		{"long id", `{"jsonrpc":"2.0","id":"` + id + `","method":"ping"}`, `"id":null,"error":{"code":-32600,`},
		{"longest id", `{"jsonrpc":"2.0","id":"` + id[2:] + `","method":"ping"}`, `"id":"` + id[2:] + `","result":{}`},
		{"null id", `{"jsonrpc":"2.0","id":null,"method":"ping"}`, `"id":null,"error":{"code":-32600,`},
		{"object id", `{"jsonrpc":"2.0","id":{"a":1},"method":"ping"}`, `"id":null,"error":{"code":-32600,`},
		{"bool id", `{"jsonrpc":"2.0","id":true,"method":"ping"}`, `"id":null,"error":{"code":-32600,`},
		{"id as written", `{"jsonrpc":"2.0","id":"\u0061\/","method":"ping"}`, `"id":"\u0061\/","result":{}`},
		{"large id", `{"jsonrpc":"2.0","id":12345678901234567890,"method":"ping"}`, `"id":12345678901234567890,"result":{}`},
		{"fraction as id", `{"jsonrpc":"2.0","id":1.50,"method":"ping"}`, `"id":1.50,"result":{}`},
		{"old version", `{"jsonrpc":"1.0","id":3,"method":"ping"}`, `"id":3,"error":{"code":-32600,`},
		{"no version", `{"id":4,"method":"ping"}`, `"id":4,"error":{"code":-32600,`},
		{"no method", `{"jsonrpc":"2.0","id":5}`, `"id":5,"error":{"code":-32600,`},
		{"other case", `{"jsonrpc":"2.0","id":6,"METHOD":"ping"}`, `"id":6,"error":{"code":-32600,`},
		{"number as method", `{"jsonrpc":"2.0","id":7,"method":8}`, `"id":7,"error":{"code":-32600,`},
		{"unknown method", `{"jsonrpc":"2.0","id":94,"method":"no/such/secret"}`, `"id":94,"error":{"code":-32601,"message":"method not found"}`},
		{"empty method", `{"jsonrpc":"2.0","id":99,"method":""}`, `"id":99,"error":{"code":-32601,`},
		{"unknown tool", `{"jsonrpc":"2.0","id":95,"method":"tools/call","params":{"name":"secret"}}`,
			`"id":95,"error":{"code":-32602,"message":"unknown tool: the tools are hack.project.logs.snapshot, hack.project.logs.tail, `},
		{"params of another type", `{"jsonrpc":"2.0","id":96,"method":"tools/call","params":"secret"}`, `"id":96,"error":{"code":-32602,"message":"invalid params: they do not fit the method"}`},
		{"no params", `{"jsonrpc":"2.0","id":97,"method":"tools/call"}`, `"id":97,"error":{"code":-32602,`},
		{"number as tool", `{"jsonrpc":"2.0","id":102,"method":"tools/call","params":{"name":1}}`, `"id":102,"error":{"code":-32602,`},
		{"long params", `{"jsonrpc":"2.0","id":103,"method":"ping","params":{"x":"` + strings.Repeat("y", maxParams) + `"}}`, `"id":103,"error":{"code":-32600,`},
		{"newer call", `{"jsonrpc":"2.0","id":104,"method":"tools/call","params":{"name":"hack.project.logs.tail","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`, `"id":104,"error":{"code":-32022,`},
		{"second initialize without params", `{"jsonrpc":"2.0","id":105,"method":"initialize"}`, `"id":105,"error":{"code":-32600,`},
		{"second initialize", `{"jsonrpc":"2.0","id":98,"method":"initialize","params":{"protocolVersion":"secret","capabilities":{},"clientInfo":{"name":"secret","version":"1"}}}`, `"id":98,"error":{"code":-32600,`},
		{"newer protocol", `{"jsonrpc":"2.0","id":100,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`,
			`"data":{"supported":["2025-11-25","2025-06-18","2025-03-26","2024-11-05"],"requested":"2026-07-28"}`},
		{"odd protocol", `{"jsonrpc":"2.0","id":101,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"zsecret","io.modelcontextprotocol/clientCapabilities":{}}}}`,
			`"requested":""}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := start(t, "argv")
			s.send(c.line)
			r := s.wait("answer", func(r reply) bool { return r.Method == "" && string(r.ID) != `"init"` })
			if !bytes.Contains(r.raw, []byte(c.want)) || bytes.Contains(r.raw, []byte("secret")) {
				t.Errorf("got %.300s, want %.300s", r.raw, c.want)
			}
			s.ping(`"after"`)
		})
	}
}

func TestB10_LineLimit(t *testing.T) {
	s := start(t, "argv")
	frame := func(n int) string {
		const head, tail = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + SnapshotTool + `","arguments":{"query":"`, `"}}}`
		return head + strings.Repeat("y", n-len(head)-len(tail)) + tail
	}
	s.send(frame(maxLine))
	s.result("1").refused(t, "E_USAGE", "invalid_arguments")
	s.send(frame(maxLine + 1))
	if r := s.reply("null"); r.Error == nil || r.Error.Code != -32600 {
		t.Errorf("a line over the limit: %s", r.raw)
	}
	s.ping("2")
}

func TestB10_QuietLines(t *testing.T) {
	s := start(t, "argv")
	s.send("")
	s.send(" \t\r")
	s.send(`{"jsonrpc":"2.0","id":1,"result":{}}`)
	s.send(`{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"secret"}}`)
	s.send(`{"jsonrpc":"2.0","method":"notifications/secret"}`)
	s.send(`{"jsonrpc":"2.0","method":"notifications/cancelled"}`)
	s.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{"a":1}}}`)
	s.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":77}}`)
	s.send("\t{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"} \r")
	s.reply("2")
	if n := len(s.find(func(reply) bool { return true })); n != 2 {
		t.Errorf("%d frames, want those of initialize and ping", n)
	}
}

func TestS9_ToolsBeforeInitialize(t *testing.T) {
	s := open(t, "argv")
	s.ask("1", SnapshotTool, `{"query":"secret"}`)
	if r := s.reply("1"); r.Error == nil || r.Error.Code != -32600 || bytes.Contains(r.raw, []byte("secret")) {
		t.Errorf("got %s", r.raw)
	}
	s.ping("2")
}

func TestProtocolVersions(t *testing.T) {
	for asked, want := range map[string]string{
		"2024-11-05": "2024-11-05", "2025-06-18": "2025-06-18", "2025-11-25": "2025-11-25",
		"2026-07-28": "2025-11-25", "1999-01-01": "2025-11-25", "secret": "2025-11-25",
	} {
		s := open(t, "argv")
		s.send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"` + asked + `","capabilities":{},"clientInfo":{"name":"secret","version":"1"}}}`)
		var r struct {
			ProtocolVersion string         `json:"protocolVersion"`
			Capabilities    map[string]any `json:"capabilities"`
			Instructions    string         `json:"instructions"`
			ServerInfo      struct{ Name, Version string }
		}
		if err := json.Unmarshal(s.reply("1").Result, &r); err != nil {
			t.Fatal(err)
		}
		if r.ProtocolVersion != want {
			t.Errorf("%s is answered with %s, want %s", asked, r.ProtocolVersion, want)
		}
		if r.ServerInfo.Name != "tailrace" || r.ServerInfo.Version != "test" || len(r.Capabilities) != 2 ||
			r.Capabilities["tools"] == nil || r.Capabilities["prompts"] == nil {
			t.Errorf("server %+v, capabilities %v", r.ServerInfo, r.Capabilities)
		}
		if n := len(r.Instructions); n == 0 || n >= 2048 {
			t.Errorf("instructions of %d bytes", n)
		}
	}
}

// TestB10_CostOfNesting checks that the SDK's decoder, whose time for members of any type
// grows with length times depth, does not see what a client sends beside its arguments.
func TestB10_CostOfNesting(t *testing.T) {
	m := message{method: methodCallTool, params: json.RawMessage(
		`{ "name": "a", "_meta" : {"progressToken": 1.50, "x": [[[]]]}, "arguments" : {"b": [ ]}, "inputResponses": {} }`)}
	p, bad := m.parseParams()
	if bad != nil || string(p.params) != `{"name":"a","arguments":{"b": [ ]}}` || string(p.token) != "1.50" {
		t.Errorf("got %s, token %s, %v", p.params, p.token, bad)
	}
	m.params = json.RawMessage(`{"name":"a"}`)
	if p, bad = m.parseParams(); bad != nil || string(p.params) != `{"name":"a"}` || p.token != nil {
		t.Errorf("got %s, token %s, %v", p.params, p.token, bad)
	}
}

func TestLineReader(t *testing.T) {
	long := strings.Repeat("l", 200<<10)
	over := strings.Repeat("o", maxLine+1)
	in := "a\n\n" + long + "\n" + over + "\nb\r\n" + over[1:] + "\n" + "last"
	want := []string{"a", "", long, "!", "b\r", over[1:], "last"}
	for _, half := range []bool{false, true} {
		var r io.Reader = strings.NewReader(in)
		if half {
			r = iotest.HalfReader(r)
		}
		lines := newLineReader(r)
		for i, w := range want {
			got, err := lines.next()
			if errors.Is(err, errLineTooLong) {
				got, err = []byte("!"), nil
			}
			if err != nil || string(got) != w {
				t.Fatalf("line %d: %.20q %v, want %.20q", i, got, err, w)
			}
		}
		if _, err := lines.next(); err != io.EOF {
			t.Errorf("at the end: %v", err)
		}
	}
	lines := newLineReader(strings.NewReader(over))
	if _, err := lines.next(); !errors.Is(err, errLineTooLong) {
		t.Errorf("a last line that is too long: %v", err)
	}
	if _, err := lines.next(); err != io.EOF {
		t.Errorf("after it: %v", err)
	}
}

func TestIDKey(t *testing.T) {
	same := [][]string{{`1`, `1.0`, `1e0`, `10e-1`}, {`"1"`, `"\u0031"`}, {`1.5`}, {`-0`, `0`, `-0.0`}, {`9007199254740993`}, {`9007199254740992`}, {`1e400`}, {`12345678901234567890`}, {`12345678901234567891`}}
	seen := map[string]int{}
	for i, group := range same {
		for _, raw := range group {
			key, ok := idKey(json.RawMessage(raw))
			if j, has := seen[key]; !ok || has && j != i {
				t.Errorf("%s: key %q, ok %v", raw, key, ok)
			}
			seen[key] = i
		}
	}
	if len(seen) != len(same) {
		t.Errorf("%d keys for %d ids", len(seen), len(same))
	}
}

// FuzzMessage checks that no line breaks the parser, and that what it accepts can be
// answered: its id fits into a frame as it is.
func FuzzMessage(f *testing.F) {
	for _, line := range []string{
		``, `{`, `[]`, `null`, `{"jsonrpc":"2.0","id":1,"method":"ping"}`, `{"jsonrpc":"2.0","id":"\ud800","method":"ping"}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`, `{"id":1,"id":2,"jsonrpc":"2.0","method":"a"}`,
		`{"jsonrpc":"2.0","id":1e999,"method":"tools/call","params":{"_meta":{"progressToken":"t"}}}`,
	} {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		if bytes.IndexByte(line, '\n') >= 0 {
			return
		}
		m, ok, bad := parseMessage(line)
		if ok && bad != nil {
			t.Fatal("accepted and refused")
		}
		if p, bad := m.parseParams(); bad == nil {
			if p.token != nil && !json.Valid(p.token) || p.params != nil && !json.Valid(p.params) {
				t.Fatalf("token %q, params %q", p.token, p.params)
			}
		}
		cancelledKey(m.params)
		e := bad
		if e == nil {
			e = errInternal
		}
		frame := appendError(nil, m.id, e)
		if !json.Valid(frame) || bytes.IndexByte(frame, '\n') != len(frame)-1 || len(frame) > maxID+300 {
			t.Fatalf("frame %q", frame)
		}
	})
}
