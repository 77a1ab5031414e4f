package logline

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/tailrace/tailrace/internal/jsonscan"
)

var now = func() time.Time { return time.Date(2026, 3, 1, 10, 0, 0, 5e6, time.UTC) }

type event struct {
	Type, TS, Project, Backend, Branch string
	Entry                              struct {
		Source, Message, Raw, Stream, Project, Service, Timestamp, Level string
		Fields                                                           map[string]string
	}
}

func decode(t *testing.T, line string, c Context) event {
	t.Helper()
	c.Now = now
	out := AppendEvent(nil, []byte(line), c)
	var e event
	if err := json.Unmarshal(out, &e); err != nil {
		t.Fatalf("%s: %v", out, err)
	}
	return e
}

func TestAppendEvent(t *testing.T) {
	for _, c := range []struct {
		name, line, message, level, stamp string
		fields                            map[string]string
	}{
		{"plain", "hello", "hello", "", "", nil},
		{"CR", "hello\r", "hello", "", "", nil},
		{"JSON pino", `{"level":30,"msg":"up","port":80,"ok":true,"x":null,"y":[1,{"msg":"no"}],"z":{"level":"error"}}`, "up", "info", "", map[string]string{"port": "80", "ok": "true"}},
		{"JSON message", `{"message":"m","severity":"WARNING","ts":"2026-01-02T03:04:05.123456789Z"}`, "m", "warn", "2026-01-02T03:04:05.123456789Z", nil},
		{"JSON msg first", `{"message":"b","msg":"a","lvl":"fatal"}`, "a", "error", "", nil},
		{"JSON other word", `{"msg":"a","level":"trace"}`, "a", "info", "", nil},
		{"JSON without msg", `{"a":"b"}`, `{"a":"b"}`, "", "", map[string]string{"a": "b"}},
		{"JSON number", `{"msg":"a","n":1.0,"big":12345678901234567890}`, "a", "", "", map[string]string{"n": "1.0", "big": "12345678901234567890"}},
		{"JSON duplicate", `{"msg":"a","k":"1","k":"2"}`, "a", "", "", map[string]string{"k": "2"}},
		{"JSON escapes", `{"msg":"a\n\"b\"\ud83d\ude80\ud83d","k\u0041":"\u00e9"}`, "a\n\"b\"🚀\ufffd", "", "", map[string]string{"kA": "é"}},
		{"not JSON", `{"msg":01}`, `{"msg":01}`, "", "", nil},
		{"logfmt", `ts=2026-01-02T03:04:05Z level=warn msg="slow \"query\"" dur=12ms`, `slow "query"`, "warn", "2026-01-02T03:04:05Z", map[string]string{"dur": "12ms"}},
		{"prose with =", `a = b and c=d`, `a = b and c=d`, "", "", nil},
		{"pairs only", `a=b c=d`, `a=b c=d`, "", "", nil},
		{"leading level", `2026-01-02T03:04:05Z ERROR db: gone`, `2026-01-02T03:04:05Z ERROR db: gone`, "error", "2026-01-02T03:04:05Z", nil},
		{"bracket level", `[warn] disk`, `[warn] disk`, "warn", "", nil},
		{"prose level", `error handling is hard`, `error handling is hard`, "", "", nil},
		{"bytes", "a\xffb\x00\x1b[1m", "a\ufffdb\x00\x1b[1m", "", "", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := decode(t, c.line, Context{Backend: "file", Source: "file", Project: "shop", Service: "web", Stream: "stdout"})
			if e.Type != "log" || e.Backend != "file" || e.Entry.Source != "file" || e.Project != "shop" || e.Entry.Service != "web" || e.Entry.Stream != "stdout" {
				t.Errorf("context: %+v", e)
			}
			raw := strings.ToValidUTF8(strings.TrimSuffix(c.line, "\r"), "\ufffd")
			if e.Entry.Message != c.message || e.Entry.Level != c.level || e.Entry.Timestamp != c.stamp || e.Entry.Raw != raw {
				t.Errorf("entry: %+v", e.Entry)
			}
			if c.stamp == "" && e.TS != "2026-03-01T10:00:00.005Z" || c.stamp != "" && e.TS != c.stamp {
				t.Errorf("ts %q", e.TS)
			}
			if len(e.Entry.Fields) != len(c.fields) {
				t.Errorf("fields %v", e.Entry.Fields)
			}
			for k, v := range c.fields {
				if e.Entry.Fields[k] != v {
					t.Errorf("field %s is %q, want %q", k, e.Entry.Fields[k], v)
				}
			}
		})
	}
}

// FuzzAppendEvent: whatever the line holds, the event is one strict JSON object in valid
// UTF-8 on one line, and keeps the line.
func FuzzAppendEvent(f *testing.F) {
	for _, s := range []string{"hello", `{"msg":"a","k":"\ud83d"}`, `level=info msg="x`, "a=\"\\", "[ERROR", "\xff=\xfe msg=1", `{"a":"b",}`, `{"level":"","msg":""}`, "ts=1 level=", `{"level":-1e5,"msg":1}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		if i := strings.IndexByte(string(line), '\n'); i >= 0 {
			line = line[:i]
		}
		out := AppendEvent(nil, line, Context{Source: "file", Now: now})
		if n := len(out); out[n-1] != '\n' || strings.IndexByte(string(out[:n-1]), '\n') >= 0 {
			t.Fatalf("not one line: %q", out)
		}
		info, ok := jsonscan.Object(out[:len(out)-1], 512)
		if !ok || info.Repair {
			t.Fatalf("E5: %v %v: %q from %q", ok, info.Repair, out, line)
		}
	})
}

func BenchmarkAppendEvent(b *testing.B) {
	for name, line := range map[string]string{
		"plain":  "2026-01-02T03:04:05Z INFO request handled in 12 ms by worker 7 of pool main",
		"json":   `{"level":30,"time":"2026-01-02T03:04:05Z","msg":"request handled","ms":12,"worker":"7"}`,
		"logfmt": `ts=2026-01-02T03:04:05Z level=info msg="request handled" ms=12 worker=7`,
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(line)))
			b.ReportAllocs()
			var dst []byte
			for b.Loop() {
				dst = AppendEvent(dst[:0], []byte(line), Context{Source: "file", Service: "web", Stream: "stdout", Now: now})
			}
		})
	}
}
