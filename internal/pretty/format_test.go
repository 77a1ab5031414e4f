package pretty

import (
	"strings"
	"testing"
	"time"

	"github.com/tailrace/tailrace/internal/logline"
)

// noon is the clock of the tests; their zone is two hours east of it.
var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func formatter(color bool, services ...string) *Formatter {
	return New(Options{Color: color, Location: time.FixedZone("east", 7200), Now: func() time.Time { return noon }, Services: services})
}

func show(f *Formatter, records ...logline.Record) string {
	var out []byte
	for _, r := range records {
		out = f.Append(out, r)
	}
	return string(out)
}

func line(text string) logline.Record { return logline.Record{Line: []byte(text)} }

func TestColumns(t *testing.T) {
	web := func(text, stream string) logline.Record {
		return logline.Record{Line: []byte(text), Service: "web", Instance: "2", Stream: stream, Time: noon.Add(1234 * time.Millisecond)}
	}
	got := show(formatter(false, "database"),
		logline.Record{Line: []byte("no time yet"), Service: "database"},
		web(`{"level":"warn","msg":"slow","ms":12.50,"q":"a b","n":null,"o":{"x": [1, 2]}}`, "stdout"),
		web("level=error msg=\"it broke\\nhere\" code=7", "stderr"),
		logline.Record{Line: []byte("plain"), Service: "a-service-with-a-very-long-name", Time: noon.Add(-24 * time.Hour)},
		web("back again", ""),
	)
	want := `database | no time yet
14:00:01.234 WARN  web-2    | slow ms=12.50 q="a b" n=null o={"x":[1,2]}
14:00:01.234 ERROR web-2    ! it broke code=7
                              here
--- 2026-02-28 ---
14:00:00.000       a-service-with-a-very-long-name | plain
--- 2026-03-01 ---
14:00:01.234       web-2                    | back again
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestTimes(t *testing.T) {
	for in, want := range map[string]string{
		"2026-03-01T10:00:00.5Z up":                     "12:00:00.500 | up\n",
		"2026-03-01T10:00:00.5+02:00 up":                "10:00:00.500 | up\n",
		"2026-03-01T10:00:00Z":                          "12:00:00.000 | 2026-03-01T10:00:00Z\n",
		`{"time":"2026-03-01T10:00:00Z","msg":"up"}`:    "12:00:00.000 | up\n",
		`{"time":1772359200123,"level":30,"msg":"up"}`:  "12:00:00.123 INFO  | up\n",
		`{"ts":1772359200.5,"msg":"up"}`:                "12:00:00.500 | up\n",
		`{"ts":7,"time":"never","message":"m","msg":1}`: "| m ts=7 time=never msg=1\n",
		`{"a":1}`:    "| a=1\n",
		`{}`:         "| {}\n",
		`{"msg":""}`: "| \n",
		"":           "| \n",
		"crlf\r":     "| crlf\n",
		`ts=2026-03-01T10:00:00Z level=debug msg="a b" k="c \" d" x=`: "12:00:00.000 DEBUG | a b k=\"c \\\" d\" x=\"\"\n",
	} {
		if got := show(formatter(false), line(in)); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func TestColors(t *testing.T) {
	r := logline.Record{Line: []byte(`{"level":"error","msg":"m","k":"v"}`), Service: "web", Time: noon}
	got := show(formatter(true, "db"), r, logline.Record{Line: []byte("x"), Service: "db", Time: noon})
	want := "\x1b[2m14:00:00.000\x1b[0m \x1b[1;31mERROR\x1b[0m \x1b[32mweb\x1b[0m \x1b[2m|\x1b[0m m \x1b[2mk=\x1b[0mv\n" +
		"\x1b[2m14:00:00.000\x1b[0m       \x1b[36mdb\x1b[0m  \x1b[2m|\x1b[0m x\n"
	if got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if got := show(formatter(false, "db"), r); strings.Contains(got, "\x1b") {
		t.Errorf("colours in %q", got)
	}
}

// Nothing of a line reaches the terminal as more than text, wherever it stands.
func TestTerminalSafety(t *testing.T) {
	const evil = "\x1b[2J\u202e\x9b\x00\u200bx"
	for _, r := range []logline.Record{
		line(evil), line(`{"msg":"` + `\u001b[2J\u202e` + `","\u001bk":"\u009b31m\n\u001b]0;t\u0007"}`), line("level=info msg=\"a\" k=" + "\x1b[1m"),
		{Line: []byte("x"), Service: evil, Instance: evil}, line("[\x1b[0m"), line("2026-03-01T10:00:00Z \x1b[1m"),
	} {
		for _, got := range []string{show(formatter(false), r), string(formatter(false).AppendBlock(nil, r, [][]byte{r.Line, []byte(evil)}))} {
			for _, c := range got {
				if c < ' ' && c != '\n' || c >= 0x7f && c < 0xa0 || c == '\u202e' || c == '\u200b' {
					t.Errorf("%q in %q", c, got)
				}
			}
		}
	}
}

func TestBlocks(t *testing.T) {
	f := formatter(false, "web", "db")
	var b Blocks
	var out []byte
	show := func(blocks []*Block) {
		for _, block := range blocks {
			out = f.AppendBlock(out, block.First, block.Lines)
		}
	}
	buffer := make([]byte, 0, 64)
	add := func(service, text string) {
		buffer = append(buffer[:0], text...) // the line is valid during the call only
		show(b.Add(Key{Service: service}, logline.Record{Line: buffer, Service: service}))
	}
	for _, l := range []string{
		"web {", `web   "level": "error",`, "db other", `web   "list": [`, "web     1,", "web     true", "web   ]", "web }",
		"db [info] text", `db ["one"]`, "web [", "web not JSON", `db {"a":`, "db ", "web end",
	} {
		service, text, _ := strings.Cut(l, " ")
		add(service, text)
	}
	show(b.End("nobody"))
	if !b.Holding() {
		t.Error("nothing is held")
	}
	show(b.End(""))
	want := `db  | other
ERROR web | {
              "level": "error",
              "list": [
                1,
                true
              ]
            }
INFO  db  | [info] text
      db  | ["one"]
      web | [
      web | not JSON
      web | end
      db  | {"a":
            
`
	if string(out) != want || b.Holding() {
		t.Errorf("got\n%s\nwant\n%s", out, want)
	}
}

func TestBlocksAreBounded(t *testing.T) {
	var b Blocks
	lines := 0
	for range 450 {
		for _, block := range b.Add(Key{}, line("[")) {
			lines += len(block.Lines)
			if len(block.Lines) > maxBlockLines {
				t.Errorf("%d lines", len(block.Lines))
			}
		}
	}
	b.Add(Key{}, line(`"`+strings.Repeat("x", maxBlockBytes)))
	for _, block := range b.End("") {
		lines += len(block.Lines)
	}
	if lines < 400 || b.Holding() {
		t.Errorf("%d lines", lines)
	}
}

func TestBlocksIdle(t *testing.T) {
	var b Blocks
	b.Add(Key{Service: "a"}, line("{"))
	if got := b.Idle(); len(got) != 0 {
		t.Error("a new block is idle")
	}
	b.Add(Key{Service: "b"}, line("{"))
	if got := b.Idle(); len(got) != 1 || len(got[0].Lines) != 1 {
		t.Errorf("%d are idle", len(got))
	}
	b.Add(Key{Service: "b"}, line(`"x": 1`))
	if got := b.Idle(); len(got) != 0 || !b.Holding() {
		t.Error("a block that grew is idle")
	}
	if got := b.Idle(); len(got) != 1 || len(got[0].Lines) != 2 || b.Holding() {
		t.Error("a block that no longer grows is held")
	}
}

// FuzzFormat checks that nothing but text, colours and line ends comes out, and that
// nothing panics.
func FuzzFormat(f *testing.F) {
	for _, s := range []string{`{"msg":"a","time":1,"b":[1]}`, "level=info msg=x", "{\n\"a\":1\n}", "2026-03-01T10:00:00Z x", "\x1b[1m\xff", "[\n[", `{"a":"\ud800"}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		plain := formatter(false, "web")
		var b Blocks
		var out []byte
		n := 0
		take := func(blocks []*Block) {
			for _, block := range blocks {
				out, n = plain.AppendBlock(out, block.First, block.Lines), n+len(block.Lines)
			}
		}
		lines := strings.Split(text, "\n")
		for _, l := range lines {
			take(b.Add(Key{}, line(l)))
		}
		take(b.End(""))
		if n != len(lines) {
			t.Errorf("%d lines became %d", len(lines), n)
		}
		for _, c := range string(out) {
			if c < ' ' && c != '\n' && c != '\t' || c >= 0x7f && c < 0xa0 {
				t.Fatalf("%q in %q", c, out)
			}
		}
	})
}
