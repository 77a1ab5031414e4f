package jsonscan

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

var seeds = []string{
	`{}`, `{ }`, `{"type":"log"}`, `{"ty\u0070e":"lo\u0067","reason":null}`, `{"a":[1,2,{"type":"x"}],"type":"end","reason":"eof"}`,
	`{"type":"a","type":"b"}`, `{"a":-0,"b":1e+5,"c":1.50E-3,"d":12345678901234567890}`, `{"a":01}`, `{"a":1.}`, `{"a":.5}`, `{"a":+1}`,
	`{"a":NaN}`, `{"a":'x'}`, `{"a":1,}`, `{"a":1/*c*/}`, `{,}`, `{"a"}`, `{"a":}`, `{"a":1 "b":2}`, `{"a":"\x"}`, `{"a":"\u12g4"}`,
	"{\"a\":\"\t\"}", "{\"a\":\"\x00\"}", "{\"a\":\"\xff\"}", "{\xff:1}", `{"a":"\ud83d"}`, `{"a":"\ud83d\ude80"}`, `{"a":"\ud83d\ud83d\ude80"}`, `{"\ude80":1}`,
	"{\"a\":\r1}", "{\"a\"\t: 1 }", `{}{}`, `{"a":[[[[]]]]}`, `{"a":true,"b":false,"c":null,"d":tru}`, `{"a":"\\ud83d"}`, "{\"a\":\"\xed\xa0\x80\"}",
	`{"type":1}`, `{"type":{"type":"log"}}`, `{"x":{"reason":"no"},"reason":"closed"}`, `{"":""}`, `{"a":""}}`, `{"a":1]`, `{"a":[1}`,
}

// FuzzObject holds the scanner against encoding/json: it accepts exactly what that one
// accepts, objects only, within the depth (rules E2, E5), and finds the same last type
// and reason (rule E6).
func FuzzObject(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Add([]byte(`{"a":` + strings.Repeat("[", 511) + strings.Repeat("]", 511) + `}`))
	f.Add([]byte(`{"a":` + strings.Repeat("[", 512) + strings.Repeat("]", 512) + `}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		info, ok := Object(line, 512)
		want := len(line) > 1 && line[0] == '{' && line[len(line)-1] == '}' && json.Valid(line) && depth(line) <= 512
		if ok != want {
			t.Fatalf("E5: Object says %v of %q", ok, line)
		}
		if !ok {
			return
		}
		var members map[string]json.RawMessage
		if err := json.Unmarshal(line, &members); err != nil {
			t.Fatal(err)
		}
		for name, span := range map[string]Span{"type": info.Type, "reason": info.Reason} {
			raw, found := members[name]
			if got := string(line[span.Start:span.End]); got != string(raw) || (span.End != 0) != found {
				t.Errorf("E6: %s is %q, want %q, in %q", name, got, raw, line)
			}
			if found {
				var s string
				isString := raw[0] == '"' && json.Unmarshal(raw, &s) == nil
				text, ok := Text(raw)
				if ok != isString {
					t.Errorf("Text of %q: %v", raw, ok)
				}
				if ok && utf8.Valid(raw) && text != s {
					t.Errorf("Text of %q is %q, want %q", raw, text, s)
				}
				if ok && !Is(raw, text) && !strings.ContainsRune(text, utf8.RuneError) {
					t.Errorf("Is denies that %q is %q", raw, text)
				}
			}
		}
		fixed := Repair(nil, line)
		if !utf8.Valid(fixed) || !json.Valid(fixed) || strings.ContainsAny(string(fixed), "\r\n") {
			t.Errorf("E5: Repair(%q) = %q", line, fixed)
		}
		if again, ok := Object(fixed, 512); !ok || again.Repair {
			t.Errorf("E5: a repaired object needs repair: %q", fixed)
		}
		if same := string(fixed) == string(line); same == info.Repair {
			t.Errorf("E5: Repair is %v, but the repaired form is the same: %v, for %q", info.Repair, same, line)
		}
		if utf8.Valid(line) && value(t, line) != value(t, fixed) {
			t.Errorf("E5: repair changed the value of %q", line)
		}
	})
}

// value is the object as encoding/json reads it, number spellings kept.
func value(t *testing.T, line []byte) string {
	d := json.NewDecoder(bytes.NewReader(line))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func depth(line []byte) (deepest int) {
	d, in := 0, false
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case in && c == '\\':
			i++
		case c == '"':
			in = !in
		case in:
		case c == '{' || c == '[':
			d++
			deepest = max(deepest, d)
		case c == '}' || c == ']':
			d--
		}
	}
	return deepest
}

func TestE5_DepthCostsNothing(t *testing.T) {
	deep := []byte(`{"a":` + strings.Repeat("[", 3_000_000) + "}")
	if n := testing.AllocsPerRun(10, func() {
		if _, ok := Object(deep, 512); ok {
			t.Error("E5: accepted")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestE6_IsAllocatesNothing(t *testing.T) {
	token := []byte(`"\u006c\u006fg"`)
	if n := testing.AllocsPerRun(10, func() {
		if !Is(token, "log") {
			t.Error("E6: not recognized")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkObject(b *testing.B) {
	for _, c := range []struct{ name, line string }{
		{"typical", `{"type":"log","ts":"2026-03-01T09:59:58.120000001Z","project":"shop","backend":"compose","entry":{"source":"compose","message":"request handled in 12 ms","raw":"web-1  | 2026-03-01T09:59:58.120000001Z {\"level\":30,\"msg\":\"request handled\"}","stream":"stdout","project":"shop","service":"web","instance":"1","level":"info","fields":{"port":"80"}}}`},
		{"emoji", `{"type":"log","entry":{"message":"` + strings.Repeat("🚀 漢字 é ", 30) + `"}}`},
		{"escapes", `{"type":"log","entry":{"message":"` + strings.Repeat(`\"a\"\n\u00e9 `, 30) + `"}}`},
	} {
		b.Run(c.name, func(b *testing.B) {
			line := []byte(c.line)
			b.SetBytes(int64(len(line)))
			b.ReportAllocs()
			for b.Loop() {
				if _, ok := Object(line, 512); !ok {
					b.Fatal("rejected")
				}
			}
		})
	}
}
