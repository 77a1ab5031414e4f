package jsonstr

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"
)

// units divides s as the WHATWG decoder does: a unit is a code point, or the longest
// prefix of a possible one, or a byte.
func units(s []byte) (out [][]byte) {
	for len(s) > 0 {
		r, n := utf8.DecodeRune(s)
		if r == utf8.RuneError && n == 1 {
			for n < len(s) && !utf8.FullRune(s[:n+1]) {
				n++
			}
		}
		out, s = append(out, s[:n]), s[n:]
	}
	return out
}

// escaped is the naive reference, for one unit.
func escaped(unit []byte) string {
	r, _ := utf8.DecodeRune(unit)
	switch {
	case len(unit) > 1 || unit[0] >= 0x80:
		return string(r)
	case r == '"' || r == '\\':
		return `\` + string(r)
	case r == '\b':
		return `\b`
	case r == '\f':
		return `\f`
	case r == '\n':
		return `\n`
	case r == '\r':
		return `\r`
	case r == '\t':
		return `\t`
	case r < 0x20:
		return fmt.Sprintf(`\u%04x`, r)
	}
	return string(r)
}

func check(t *testing.T, s []byte) {
	t.Helper()
	var want strings.Builder
	ends, sizes := []int{0}, []int{0}
	for _, unit := range units(s) {
		want.WriteString(escaped(unit))
		ends, sizes = append(ends, ends[len(ends)-1]+len(unit)), append(sizes, want.Len())
	}
	out := Append([]byte("x"), s)
	if string(out) != "x"+want.String() {
		t.Fatalf("C4 Append(%q) = %q, want %q", s, out[1:], want.String())
	}
	out = out[1:]
	if n := Len(s); n != len(out) {
		t.Errorf("B2 Len(%q) = %d, want %d", s, n, len(out))
	}
	if n := Len2(s); n != Len(out) || n != len(Append(nil, out)) {
		t.Errorf("B2 Len2(%q) = %d, want %d", s, n, Len(out))
	}
	if exact := Append(make([]byte, 0, len(out)), s); !bytes.Equal(exact, out) || cap(exact) != cap(make([]byte, 0, len(out))) {
		t.Errorf("Append(%q) into a buffer of its length: %q, capacity %d of %d", s, exact, cap(exact), len(out))
	}
	var back string
	if err := json.Unmarshal([]byte(`"`+string(out)+`"`), &back); err != nil || back != plain(s) {
		t.Errorf("C4 %q reads back as %q, %v", out, back, err)
	}
	// The cut at every room, or at some of them in a long text.
	k := 0
	for room := -1; room <= len(out)+1; room += 1 + room/10 {
		for k+1 < len(sizes) && sizes[k+1] <= room {
			k++
		}
		if n := Cut(s, room); n != ends[k] {
			t.Fatalf("B7, B9 Cut(%q, %d) = %d, want %d", s, room, n, ends[k])
		}
	}
}

// plain is s repaired.
func plain(s []byte) string {
	var out strings.Builder
	for _, unit := range units(s) {
		r, _ := utf8.DecodeRune(unit)
		out.WriteRune(r)
	}
	return out.String()
}

var samples = []string{
	"", "a", `"`, `\`, "\b\f\n\r\t", "\x00\x01\x1f\x7f", "<>&\u2028\u2029", "12345678", "1234567\"", "12345678\"\\\"\\\"\\\"\\",
	"\xff", "\xe2\x82x", "\xed\xa0\x80", "\xf0\x9f\x92x", "\xf0\x9f\x92", "\xc0\x80", "\xf4\x90\x80\x80", "é€🚀", "\"é\"\n🚀\\", "#]!~[ #]\"#]\\#] ",
	"\x1b[31mred\x1b[0m\n", `{"type":"log","raw":"a \"b\" \\ c"}` + "\n",
}

func TestC4_Escapes(t *testing.T) {
	for _, s := range samples {
		check(t, []byte(s))
		for shift := range 9 {
			check(t, []byte(strings.Repeat("-", shift)+s+s))
		}
		check(t, []byte(strings.Repeat(s, 20)))
	}
	for c := range 256 {
		check(t, []byte{byte(c)})
		check(t, bytes.Repeat([]byte{byte(c)}, 20))
		check(t, []byte{'1', '2', '"', byte(c), byte(c ^ 1), '\\', byte(c), byte(c + 1), 'a', 'b'})
	}
}

// A whole piece of one byte is where the counters are fullest.
func TestB2_FullPieces(t *testing.T) {
	for _, c := range []byte("\x00\n\"\\a\x80\xc3\xff") {
		check(t, bytes.Repeat([]byte{c}, pieceBytes+100))
	}
}

// encoding/json writes the same for what it does not treat on its own: valid text
// without the line separators.
func TestB2_SameAsEncodingJSON(t *testing.T) {
	for _, s := range samples {
		if !utf8.ValidString(s) || strings.ContainsAny(s, "\u2028\u2029") {
			continue
		}
		var want bytes.Buffer
		e := json.NewEncoder(&want)
		e.SetEscapeHTML(false)
		if err := e.Encode(s); err != nil {
			t.Fatal(err)
		}
		if got := `"` + string(Append(nil, []byte(s))) + "\"\n"; got != want.String() {
			t.Errorf("B2 %q is %s, want %s", s, got, want.String())
		}
	}
}

// Long texts, so that pieces and the ends of buffers are met everywhere.
func TestB7_LongStrings(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 60 {
		var s []byte
		few := samples[r.IntN(len(samples)):]
		for end := r.IntN(3 * pieceBytes); len(s) < end; {
			s = append(s, few[r.IntN(min(3, len(few)))]...)
			s = append(s, "plain words between"[:r.IntN(19)]...)
			if len(few) == 0 {
				break
			}
		}
		check(t, s)
	}
}

func TestAllocations(t *testing.T) {
	for _, text := range []string{"plain \"text\" é 🚀\n", "invalid \xff\n"} {
		s := []byte(strings.Repeat(text, 1000))
		dst := make([]byte, 0, Len(s))
		if n := testing.AllocsPerRun(10, func() {
			dst = Append(dst[:0], s)
			Len(s)
			Len2(s)
			Cut(s, len(s))
		}); n != 0 {
			t.Errorf("%v allocations for %q", n, text)
		}
	}
}

func FuzzAppend(f *testing.F) {
	for _, s := range samples {
		f.Add([]byte(s), uint16(0))
		f.Add([]byte(s), uint16(300))
	}
	f.Fuzz(func(t *testing.T, s []byte, times uint16) {
		check(t, s)
		// Long texts are slow to check: one input in eight.
		if times%8 == 4 && len(s)*int(times) < 3*pieceBytes {
			check(t, bytes.Repeat(s, int(times)))
		}
	})
}

// corpus is 8 MiB of lines that differ, so that branches cannot be learned by heart.
func corpus(kind string) []byte {
	r := rand.New(rand.NewPCG(5, 6))
	words := strings.Fields("request handled session token refreshed index scan cache miss retry after backoff queue depth user order payment")
	symbols := strings.Fields(`🚀 ✅ é ü 漢字 \" \\ \n \u00e9 ≤ — 中文 \/`)
	var out []byte
	for len(out) < 8<<20 {
		pick := func(from []string) string { return from[r.IntN(len(from))] }
		switch kind {
		case "events":
			out = fmt.Appendf(out, `{"type":"log","ts":"2026-03-01T10:%02d:%02d.%09dZ","project":"shop","backend":"compose","entry":{"source":"compose","message":"%s %s %s","raw":"web-1  | {\"level\":\"info\",\"msg\":\"%s\"}","stream":"stdout","service":"%s","level":"info"}}`+"\n",
				r.IntN(60), r.IntN(60), r.IntN(1e9), pick(words), pick(words), pick(words), pick(words), pick(words))
		case "emoji":
			out = append(out, `{"type":"log","entry":{"message":"`...)
			for range 60 {
				out = append(append(out, pick(symbols)...), ' ')
			}
			out = append(out, "\"}}\n"...)
		case "text":
			for range 12 {
				out = append(append(out, pick(words)...), ' ')
			}
			out = append(out, '\n')
		case "invalid":
			out = append(append(out, pick(words)...), " caf\xe9 \n"...)
		}
	}
	return out
}

func BenchmarkEscape(b *testing.B) {
	for _, kind := range []string{"events", "emoji", "text", "invalid"} {
		s := corpus(kind)
		dst := make([]byte, 0, 2*len(s))
		size := 0
		for _, c := range []struct {
			name string
			do   func()
		}{
			{"append", func() { dst = Append(dst[:0], s) }},
			{"len", func() { size = Len(s) }},
			{"len2", func() { size = Len2(s) }},
			{"cut", func() { size = Cut(s, len(s)) }},
		} {
			b.Run(kind+"/"+c.name, func(b *testing.B) {
				b.SetBytes(int64(len(s)))
				b.ReportAllocs()
				for b.Loop() {
					c.do()
				}
			})
		}
		if size == 0 || len(dst) == 0 {
			b.Error("nothing done")
		}
	}
}
