package visible_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/tailrace/tailrace/internal/visible"
)

func TestAppend_ControlsAreVisible(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"empty", "", ""},
		{"plain", "GET /shop?a=1 200", "GET /shop?a=1 200"},
		{"tab stays", "a\tb", "a\tb"},
		{"backslash stays", `a\x1b`, `a\x1b`},
		{"colour", "\x1b[31mred\x1b[0m", `\x1b[31mred\x1b[0m`},
		{"title", "\x1b]0;evil\x07", `\x1b]0;evil\x07`},
		{"carriage return", "real\rfake", `real\x0dfake`},
		{"line feed", "a\nb", `a\x0ab`},
		{"NUL and DEL", "\x00\x7f", `\x00\x7f`},
		{"C1 control", "\u009b31m", `\x9b31m`},
		{"bad bytes", "a\xff\x9bb", `a\xff\x9bb`},
		{"cut code point", "a\xf0\x9f\x98", `a\xf0\x9f\x98`},
		{"bidi override", "a\u202eb", `a\u202eb`},
		{"bidi isolate", "\u2066x\u2069", `\u2066x\u2069`},
		{"zero width", "a\u200bb\u2060\ufeff", `a\u200bb\u2060\ufeff`},
		{"line separator", "a\u2028b", `a\u2028b`},
		{"tag", "\U000e0041", `\U000e0041`},
		{"letters stay", "größe 日本 😀 العربية", "größe 日本 😀 العربية"},
		{"replacement character stays", "\ufffd", "\ufffd"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := visible.String(tt.in); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// JSON for a terminal is the same JSON, without what a terminal would act on.
func TestAppendJSON_KeepsTheValue(t *testing.T) {
	for in, want := range map[string]string{
		`{"a":"x"}` + "\n":                `{"a":"x"}` + "\n",
		"{\"a\":\"\u009b2J\x7f\"}":        `{"a":"\u009b2J\u007f"}`,
		"{\"\u202e\":\"\U000e0041 😀 ü\"}": `{"\u202e":"\udb40\udc41 😀 ü"}`,
	} {
		got := visible.AppendJSON([]byte("> "), []byte(in))
		if string(got) != "> "+want {
			t.Errorf("got %s, want %s", got, want)
		}
		var a, b map[string]string
		if json.Unmarshal([]byte(in), &a) != nil || json.Unmarshal(got[2:], &b) != nil || !maps.Equal(a, b) {
			t.Errorf("%s is not the JSON that %q is", got, in)
		}
	}
}

// Whatever goes in, what comes out is valid text that moves no cursor.
func FuzzAppend(f *testing.F) {
	f.Add([]byte("\x1b[2J\u202e\xff\x80😀"))
	f.Add([]byte("\xf3\xa0\x81\x81\xc2"))
	f.Fuzz(func(t *testing.T, in []byte) {
		out := visible.Append([]byte("> "), in)
		if !bytes.HasPrefix(out, []byte("> ")) {
			t.Fatalf("what was in dst is lost: %q", out)
		}
		if !utf8.Valid(out) {
			t.Fatalf("not UTF-8: %q", out)
		}
		for _, r := range string(out) {
			if r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)) {
				t.Fatalf("%U is left in %q", r, out)
			}
		}
		if again := visible.Append(nil, out); !bytes.Equal(again, out) {
			t.Fatalf("what is visible changes: %q, then %q", out, again)
		}
	})
}

func BenchmarkAppend(b *testing.B) {
	line := []byte(strings.Repeat("2026-03-01T10:00:00Z GET /shop 200 größe \x1b[0m ", 8))
	dst := make([]byte, 0, 2*len(line))
	b.SetBytes(int64(len(line)))
	b.ReportAllocs()
	for b.Loop() {
		dst = visible.Append(dst[:0], line)
	}
}

func ExampleAppend() {
	fmt.Printf("%s\n", visible.Append(nil, []byte("done\x1b[2K\rfailed")))
	// Output: done\x1b[2K\x0dfailed
}
