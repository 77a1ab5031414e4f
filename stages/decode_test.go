package stages_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tailrace/tailrace/pipeline"
	"github.com/tailrace/tailrace/stages"
)

// TestE1E2E4E5E6_Decoder has what the rules say of one line; what is no event has no want.
func TestE1E2E4E5E6_Decoder(t *testing.T) {
	deep := func(n int) string { return `{"a":` + strings.Repeat("[", n-1) + strings.Repeat("]", n-1) + "}" }
	for _, c := range []struct {
		name, line, want string
		kind             stages.Kind
		reason           stages.Reason
	}{
		{"E2 an object without a type", `{}`, `{}`, stages.KindOther, stages.ReasonNone},
		{"E1 BOM and white space around", "\ufeff \t{\"type\":\"log\"} \r", `{"type":"log"}`, stages.KindLog, stages.ReasonNone},
		{"E1 a second BOM is text", "\ufeff\ufeff{}", "", 0, 0},
		{"E1 a BOM behind a space is text", " \ufeff{}", "", 0, 0},
		{"E1 a BOM at the end is text", "{}\ufeff", "", 0, 0},
		{"E1 other white space is text", "\u00a0{}", "", 0, 0},
		{"E1 vertical tab is text", "\v{}", "", 0, 0},
		{"E2 blank", "", "", 0, 0},
		{"E2 white space", " \t\r", "", 0, 0},
		{"E2 BOM alone", "\ufeff", "", 0, 0},
		{"E2 text", "hello", "", 0, 0},
		{"E2 number", "1", "", 0, 0},
		{"E2 null", "null", "", 0, 0},
		{"E2 string", `"{}"`, "", 0, 0},
		{"E2 object and text", `{} {`, "", 0, 0},
		{"E2 half an object", `{"type":"log"`, "", 0, 0},
		{"E2 array", `[]`, "", 0, 0},
		{"E2 two objects", `{}{}`, "", 0, 0},
		{"E4 spelling stays", `{"a": 1.0 ,"b":1e3,"c":12345678901234567890,"c":2}`, `{"a": 1.0 ,"b":1e3,"c":12345678901234567890,"c":2}`, 0, 0},
		{"E4 white space inside may stay", "{ \"type\" :\t\"log\" }", "{ \"type\" :\t\"log\" }", stages.KindLog, 0},
		{"E4 no HTML escaping", `{"m":"<a href='x'>&amp;\/</a>"}`, `{"m":"<a href='x'>&amp;\/</a>"}`, 0, 0},
		{"E5 NaN", `{"a":NaN}`, "", 0, 0},
		{"E5 comment", `{"a":1/*c*/}`, "", 0, 0},
		{"E5 trailing comma", `{"a":1,}`, "", 0, 0},
		{"E5 single quotes", `{'a':1}`, "", 0, 0},
		{"E5 bad escape", `{"a":"\x41"}`, "", 0, 0},
		{"E5 control character", "{\"a\":\"\x00\"}", "", 0, 0},
		{"E5 tab in a string", "{\"a\":\"\t\"}", "", 0, 0},
		{"E5 leading zero", `{"a":01}`, "", 0, 0},
		{"E5 512 deep", deep(512), deep(512), 0, 0},
		{"E5 513 deep", deep(513), "", 0, 0},
		{"E5 lone surrogate", `{"a":"\uD83D","b":"\ud83d\ude80"}`, `{"a":"\ufffd","b":"\ud83d\ude80"}`, 0, 0},
		{"E5 bytes that are not UTF-8", "{\"a\":\"\xe2\x82\xff\"}", "{\"a\":\"\ufffd\ufffd\"}", 0, 0},
		{"E5 lone low surrogate in a name", `{"\udc00":1}`, `{"\ufffd":1}`, 0, 0},
		{"E5 high, high, low", `{"a":"\ud83d\ud83d\ude80"}`, `{"a":"\ufffd\ud83d\ude80"}`, 0, 0},
		{"E5 an escaped backslash is no surrogate", `{"a":"\\ud83d"}`, `{"a":"\\ud83d"}`, 0, 0},
		{"E5 bytes that are not UTF-8 between tokens", "{\xff}", "", 0, 0},
		{"E5 UTF-8 of a surrogate", "{\"a\":\"\xed\xa0\x80\"}", "{\"a\":\"\ufffd\ufffd\ufffd\"}", 0, 0},
		{"E6 the kinds: heartbeat", `{"type":"heartbeat"}`, `{"type":"heartbeat"}`, stages.KindHeartbeat, 0},
		{"E6 the kinds: start", `{"type":"start"}`, `{"type":"start"}`, stages.KindStart, 0},
		{"E6 the kinds: unknown", `{"type":"metric"}`, `{"type":"metric"}`, stages.KindOther, 0},
		{"E6 kinds are exact", `{"type":"log "}`, `{"type":"log "}`, stages.KindOther, 0},
		{"E6 the last duplicate, escaped", `{"type":"log","\u0074ype":"end"}`, `{"type":"log","\u0074ype":"end"}`, stages.KindEnd, 0},
		{"E6 the last duplicate is no string", `{"type":"log","type":1}`, `{"type":"log","type":1}`, stages.KindOther, 0},
		{"E6 escaped name and value", `{"t\u0079pe":"l\u006fg"}`, `{"t\u0079pe":"l\u006fg"}`, stages.KindLog, 0},
		{"E6 case matters", `{"Type":"log"}`, `{"Type":"log"}`, 0, 0},
		{"E6 the last duplicate counts", `{"type":"log","type":"error"}`, `{"type":"log","type":"error"}`, stages.KindError, 0},
		{"E6 type that is no string", `{"type":["log"]}`, `{"type":["log"]}`, 0, 0},
		{"E6 nested type", `{"x":{"type":"log"}}`, `{"x":{"type":"log"}}`, 0, 0},
		{"O2 reason eof", `{"type":"end","reason":"eof"}`, `{"type":"end","reason":"eof"}`, stages.KindEnd, stages.ReasonClean},
		{"O2 reason null", `{"type":"end","reason":null}`, `{"type":"end","reason":null}`, stages.KindEnd, stages.ReasonOther},
		{"O2 last reason", `{"type":"end","reason":"x","reason":"closed"}`, `{"type":"end","reason":"x","reason":"closed"}`, stages.KindEnd, stages.ReasonClean},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := &stages.Decoder{}
			got := slices.Collect(d.Apply(slices.Values([]stages.Line{{Data: []byte(c.line), Terminated: true}})))
			if c.want == "" {
				if len(got) != 0 {
					t.Errorf("an event: %s", got[0].Raw)
				}
				return
			}
			if len(got) != 1 || string(got[0].Raw) != c.want || got[0].Kind != c.kind || got[0].Reason != c.reason {
				t.Errorf("%+v", got)
			}
			if !d.Report().Ledger.Balanced() {
				t.Error("ledger-balance")
			}
		})
	}
}

// TestE5_MaxDepth: the bound is a setting, and a depth out of proportion costs its bytes only.
func TestE5_MaxDepth(t *testing.T) {
	nested := func(n int) stages.Line {
		return stages.Line{Data: []byte(strings.Repeat(`{"a":`, n-1) + "{}" + strings.Repeat("}", n-1))}
	}
	for _, c := range []struct{ max, depth, want int }{{1, 1, 1}, {1, 2, 0}, {3, 3, 1}, {3, 4, 0}, {0, 512, 1}, {0, 513, 0}, {1024, 1024, 1}, {0, 1_000_000, 0}} {
		d := &stages.Decoder{MaxDepth: c.max}
		if n := pull(d.Apply(slices.Values([]stages.Line{nested(c.depth)}))); n != c.want {
			t.Errorf("depth %d of at most %d: %d events", c.depth, c.max, n)
		}
	}
}

// TestDecoder_NoCopy: an event is a view of its line; only a repaired one is a copy, and
// the line stays as it was.
func TestDecoder_NoCopy(t *testing.T) {
	for _, c := range []struct {
		line string
		copy bool
	}{{` {"type":"log","m":"é\ud83d\ude80"}` + "\r", false}, {` {"m":"\ud83d"}`, true}, {" {\"m\":\"\xff\"}", true}} {
		line := []byte(c.line)
		before := bytes.Clone(line)
		for e := range (&stages.Decoder{}).Apply(slices.Values([]stages.Line{{Data: line}})) {
			if inside := &e.Raw[0] == &line[1]; inside == c.copy || !bytes.Equal(line, before) {
				t.Errorf("%q: a view %v, changed %v", c.line, inside, !bytes.Equal(line, before))
			}
		}
	}
}

func TestDecoder_Ledger(t *testing.T) {
	lines := []stages.Line{{Data: []byte(" {} ")}, {Data: []byte("text")}, {Data: []byte(`{"a":"\ud83d"}`)}, {}}
	d := &stages.Decoder{}
	n := pull(d.Apply(slices.Values(lines)))
	if want := (pipeline.Ledger{In: 22, Kept: 16, Dropped: 6}); n != 2 || d.Report().Ledger != want {
		t.Errorf("%d events, %+v", n, d.Report().Ledger)
	}
}

func ExampleDecoder() {
	events := pipeline.Then((&stages.LineSplitter{}).Apply, (&stages.Decoder{}).Apply)
	for e := range events(chunksOf("plain text\n{\"type\":\"log\"}\n{\"type\":\"end\",\"reason\":\"eof\"}\n")) {
		fmt.Println(string(e.Raw), e.Kind == stages.KindLog)
	}
	// Output:
	// {"type":"log"} true
	// {"type":"end","reason":"eof"} false
}
