package logline

import (
	"encoding/json"
	"fmt"
	"os"
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
		{"logfmt bare keys", `level=error retry msg=gone code=7 lost=`, "gone", "error", "", map[string]string{"retry": "true", "code": "7", "lost": ""}},
		{"logfmt number", `lvl=40 msg="" message=b time=17`, "", "warn", "", map[string]string{"time": "17"}},
		{"logfmt open quote", `level=info msg="x`, `level=info msg="x`, "", "", nil},
		{"logfmt more words than pairs", `level=info msg=went very badly indeed`, `level=info msg=went very badly indeed`, "", "", nil},
		{"prose about logfmt", `set level=debug to see more`, `set level=debug to see more`, "", "", nil},
		{"JSON time that is a number", `{"msg":"a","time":1700000000,"ts":"2026-01-02T03:04:05+02:00"}`, "a", "", "2026-01-02T03:04:05+02:00", nil},
		{"JSON time with a comma", `{"msg":"a","ts":"2026-01-02T03:04:05,5Z"}`, "a", "", "", nil},
		{"JSON level that is none", `{"msg":"a","level":true,"lvl":"","severity":50}`, "a", "error", "", nil},
		{"JSON msg that is none", `{"msg":{"message":"no"},"message":"m"}`, "m", "", "", nil},
		{"JSON as the last resort", `{"msg":1} `, `{"msg":1} `, "", "", nil},
		{"JSON too deep", `{"msg":"a","v":` + strings.Repeat("[", 600) + strings.Repeat("]", 600) + "}", `{"msg":"a","v":` + strings.Repeat("[", 600) + strings.Repeat("]", 600) + "}", "", "", nil},
		{"level of Python", `WARNING:root:disk`, `WARNING:root:disk`, "warn", "", nil},
		{"level alone", `ERROR`, `ERROR`, "error", "", nil},
		{"date, level", `[2026-01-02 03:04:05,123] [main] FATAL gone`, `[2026-01-02 03:04:05,123] [main] FATAL gone`, "error", "", nil},
		{"prefix, bracket", `web-1 | [debug] x`, `web-1 | [debug] x`, "debug", "", nil},
		{"loud prose", `DO NOT PANIC`, `DO NOT PANIC`, "", "", nil},
		{"open bracket", `[error handling] is hard`, `[error handling] is hard`, "", "", nil},
		{"empty", "", "", "", "", nil},
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

func TestStamp(t *testing.T) {
	for line, want := range map[string]string{
		`{"ts":"2026-01-02T03:04:05.5Z"}`:       "2026-01-02T03:04:05.5Z",
		"2026-01-02T03:04:05+02:00 INFO x\r":    "2026-01-02T01:04:05Z",
		`msg=a time="2026-01-02T03:04:05.000Z"`: "2026-01-02T03:04:05Z",
		"2026-13-02T03:04:05Z no such month":    "",
		"the 2026-01-02T03:04:05Z of prose":     "",
		"":                                      "",
	} {
		got, ok := Stamp([]byte(line))
		if ok != (want != "") || ok && got.UTC().Format(time.RFC3339Nano) != want {
			t.Errorf("%q: %v %v", line, got, ok)
		}
	}
}

// TestKeyOrder has the order of the members, and what is left out.
func TestKeyOrder(t *testing.T) {
	all := Context{Backend: "b", Source: "s", Project: "p", Branch: "br", Service: "sv", Stream: "stderr", Now: now}
	for _, c := range []struct {
		line string
		c    Context
		want string
	}{
		{`{"msg":"m","ts":"2026-01-02T03:04:05Z","level":"info","a":1,"b":"x"}`, all,
			`{"type":"log","ts":"2026-01-02T03:04:05Z","project":"p","backend":"b","branch":"br","entry":{"source":"s","message":"m",` +
				`"raw":"{\"msg\":\"m\",\"ts\":\"2026-01-02T03:04:05Z\",\"level\":\"info\",\"a\":1,\"b\":\"x\"}","stream":"stderr","project":"p","service":"sv",` +
				`"timestamp":"2026-01-02T03:04:05Z","level":"info","fields":{"a":"1","b":"x"}}}` + "\n"},
		{"x", Context{Source: "command", Now: now}, `{"type":"log","ts":"2026-03-01T10:00:00.005Z","entry":{"source":"command","message":"x","raw":"x"}}` + "\n"},
	} {
		if got := string(AppendEvent([]byte("before"), []byte(c.line), c.c)); got != "before"+c.want {
			t.Errorf("%s", got)
		}
	}
}

// TestCost_ManyFields: a line of very many keys costs no more than its bytes.
func TestCost_ManyFields(t *testing.T) {
	var b strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&b, `,"k%d":%d`, i, i)
	}
	e := decode(t, `{"msg":"m"`+b.String()+"}", Context{Source: "file"})
	if len(e.Entry.Fields) != maxFields || e.Entry.Message != "m" {
		t.Errorf("%d fields", len(e.Entry.Fields))
	}
}

func TestAllocations(t *testing.T) {
	dst := make([]byte, 0, 4096)
	for _, line := range []string{"hello", "2026-01-02T03:04:05Z INFO x", `{"level":30,"msg":"up"}`, `level=info msg=up`} {
		if n := testing.AllocsPerRun(100, func() { AppendEvent(dst, []byte(line), Context{Source: "file", Now: now}) }); n > 4 {
			t.Errorf("%s: %v allocations", line, n)
		}
	}
}

func ExampleAppendEvent() {
	at := func() time.Time { return time.UnixMilli(0) }
	os.Stdout.Write(AppendEvent(nil, []byte(`level=warn msg="disk is full" used=97%`), Context{Source: "file", Service: "db", Now: at}))
	// Output:
	// {"type":"log","ts":"1970-01-01T00:00:00.000Z","entry":{"source":"file","message":"disk is full","raw":"level=warn msg=\"disk is full\" used=97%","service":"db","level":"warn","fields":{"used":"97%"}}}
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
