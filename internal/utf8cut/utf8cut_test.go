package utf8cut

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"
)

// naive is the WHATWG UTF-8 decoder, step by step as its standard states it; it returns
// the repaired text and the offsets where a unit ends: a code point or one U+FFFD.
func naive(b []byte) (text string, ends []int) {
	var out strings.Builder
	var point rune
	needed, seen := 0, 0
	lower, upper := byte(0x80), byte(0xBF)
	for i := 0; i < len(b); i++ {
		c := b[i]
		if needed == 0 {
			switch {
			case c <= 0x7F:
				out.WriteByte(c)
				ends = append(ends, i+1)
			case 0xC2 <= c && c <= 0xDF:
				needed, point = 1, rune(c&0x1F)
			case 0xE0 <= c && c <= 0xEF:
				if c == 0xE0 {
					lower = 0xA0
				}
				if c == 0xED {
					upper = 0x9F
				}
				needed, point = 2, rune(c&0xF)
			case 0xF0 <= c && c <= 0xF4:
				if c == 0xF0 {
					lower = 0x90
				}
				if c == 0xF4 {
					upper = 0x8F
				}
				needed, point = 3, rune(c&0x7)
			default:
				out.WriteRune(utf8.RuneError)
				ends = append(ends, i+1)
			}
			continue
		}
		if c < lower || upper < c {
			needed, seen, lower, upper = 0, 0, 0x80, 0xBF
			out.WriteRune(utf8.RuneError)
			ends = append(ends, i)
			i-- // the byte is read again
			continue
		}
		lower, upper = 0x80, 0xBF
		point = point<<6 | rune(c&0x3F)
		if seen++; seen == needed {
			out.WriteRune(point)
			ends = append(ends, i+1)
			needed, seen = 0, 0
		}
	}
	if needed != 0 {
		out.WriteRune(utf8.RuneError)
		ends = append(ends, len(b))
	}
	return out.String(), ends
}

// complete tries what could follow: a prefix is cut where more bytes make a code point of its end.
func complete(b []byte) int {
	for n := 3; n >= 1; n-- {
		if n > len(b) {
			continue
		}
		end := b[len(b)-n:]
		if end[0] < 0x80 || utf8.FullRune(end) || !utf8.RuneStart(end[0]) {
			continue
		}
		for _, more := range []string{"\x80", "\xa0", "\x90", "\x80\x80", "\xa0\x80", "\x90\x80", "\x80\x80\x80", "\x90\x80\x80"} {
			if r, size := utf8.DecodeRune(append(bytes.Clone(end), more...)); r != utf8.RuneError && size == n+len(more) {
				return len(b) - n
			}
		}
	}
	return len(b)
}

func check(t *testing.T, b []byte) {
	t.Helper()
	text, ends := naive(b)
	if got := string(AppendValid([]byte("x"), b)); got != "x"+text {
		t.Errorf("C4 AppendValid(%x) = %x, want %x", b, got, "x"+text)
	}
	if got := Valid(b); got != utf8.Valid(b) {
		t.Errorf("Valid(%x) = %v", b, got)
	}
	if got, want := ASCII(b), len(b)-len(bytes.TrimLeftFunc(b, func(r rune) bool { return r < 0x80 })); got != want {
		t.Errorf("ASCII(%x) = %d, want %d", b, got, want)
	}
	i := 0
	for _, end := range ends {
		n, ok := Next(b[i:])
		if i+n != end || ok != utf8.Valid(b[i:end]) {
			t.Fatalf("C4 Next at %d of %x = %d, %v; the unit ends at %d", i, b, n, ok, end)
		}
		i = end
	}
	if got, want := Complete(b), complete(b); got != want {
		t.Errorf("C3 Complete(%x) = %d, want %d", b, got, want)
	}
}

func TestC4_MaximalSubparts(t *testing.T) {
	for _, c := range []struct {
		in   string
		want string
	}{
		{"\xe2\x82x", "\ufffdx"},
		{"\xe2\x82\xac", "€"},
		{"\xed\xa0\x80", "\ufffd\ufffd\ufffd"},
		{"\xed\x9f\xbf", "\ud7ff"},
		{"\xf0\x9f\x92x", "\ufffdx"},
		{"\xf0\x9f\x92\xf0\x9f\x92\xa9", "\ufffd💩"},
		{"\xc0\x80", "\ufffd\ufffd"},
		{"\xc1\xbf", "\ufffd\ufffd"},
		{"\xf5\x80\x80\x80", "\ufffd\ufffd\ufffd\ufffd"},
		{"\xff\xfe", "\ufffd\ufffd"},
		{"\xf0\x80", "\ufffd\ufffd"},
		{"\xe0\x80", "\ufffd\ufffd"},
		{"\xf4\x90", "\ufffd\ufffd"},
		{"\xf4\x8f\xbf\xbf", "\U0010ffff"},
		{"\x80", "\ufffd"},
		{"a\xc3", "a\ufffd"},
		{"a\xe2\x82", "a\ufffd"},
		{"\x00\x7f", "\x00\x7f"},
		{"", ""},
	} {
		if got := string(AppendValid(nil, []byte(c.in))); got != c.want {
			t.Errorf("C4 AppendValid(%x) = %x, want %x", c.in, got, c.want)
		}
	}
}

func TestC3_Complete(t *testing.T) {
	for _, c := range []struct {
		in   string
		want int
	}{
		{"", 0}, {"a", 1}, {"é", 2}, {"\xc3", 0}, {"a\xc3", 1}, {"€\xe2\x82", 3}, {"\xf0\x9f\x92", 0}, {"\xf0\x9f\x92\xa9", 4},
		{"\xf0", 0}, {"\xf0\x80", 2}, {"\xe0\x80", 2}, {"\xed\xa0", 2}, {"\xed\x9f", 0}, {"\xf4\x90", 2}, {"\xf4\x8f", 0},
		{"a\x80", 2}, {"\x80\x80\x80\x80", 4}, {"\xf0\x9f\x92\xa9\x80", 5}, {"\xc3\xa9\xc3", 2}, {"\xc0", 1}, {"\xf5", 1},
		{"\xe2\x82\xac\x80\x80", 5},
	} {
		if got := Complete([]byte(c.in)); got != c.want {
			t.Errorf("C3 Complete(%x) = %d, want %d", c.in, got, c.want)
		}
	}
}

// Every string of up to four bytes out of those where the rules change.
func TestC4_AllShortStrings(t *testing.T) {
	borders := []byte("\x00\x7f\x80\x8f\x90\x9f\xa0\xbf\xc0\xc1\xc2\xdf\xe0\xe1\xec\xed\xee\xef\xf0\xf1\xf3\xf4\xf5\xff")
	var b [4]byte
	var each func(n int)
	each = func(n int) {
		check(t, b[:n])
		if n == len(b) || t.Failed() {
			return
		}
		for _, c := range borders {
			b[n] = c
			each(n + 1)
		}
	}
	each(0)
}

// Long texts, so that every lane, stride and piece is met, with one byte spoiled.
func TestC4_LongStrings(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	alphabet := []string{"a", "plain text that is longer than eight bytes ", "é", "€", "漢字", "🚀", "\x00", "\U0010ffff", "\ud7ff", "\ue000"}
	for range 3000 {
		var b []byte
		for end := r.IntN(1500); len(b) < end; {
			b = append(b, alphabet[r.IntN(len(alphabet))]...)
		}
		if !Valid(b) {
			t.Fatalf("Valid(%x) is false", b)
		}
		if len(b) > 0 {
			b[r.IntN(len(b))] = byte(r.IntN(256))
		}
		check(t, b[:r.IntN(len(b)+1)])
		check(t, b)
	}
	for _, unit := range []string{"🚀", "é", "\x80", "\xe2\x82", "x"} {
		for shift := range 5 {
			check(t, []byte(strings.Repeat("a", shift)+strings.Repeat(unit, 2*pieceBytes/len(unit))))
		}
	}
}

func TestAllocations(t *testing.T) {
	b := []byte(strings.Repeat("plain é 🚀 \xff ", 1000))
	dst := make([]byte, 0, 2*len(b))
	if n := testing.AllocsPerRun(10, func() {
		dst = AppendValid(dst[:0], b)
		Valid(dst)
		Complete(dst)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzUTF8(f *testing.F) {
	for _, s := range []string{"", "a", "é\xc3", "€\xe2\x82", "🚀\xf0\x9f\x9a", "\xed\xa0\x80", strings.Repeat("漢字 🚀 é ", 12) + "\xff"} {
		f.Add([]byte(s), uint8(0))
		f.Add([]byte(s), uint8(40))
	}
	f.Fuzz(func(t *testing.T, b []byte, times uint8) {
		check(t, b)
		if len(b) < 100 {
			check(t, bytes.Repeat(b, int(times)))
		}
	})
}

func BenchmarkValid(b *testing.B) {
	for _, c := range []struct{ name, text string }{
		{"ascii", "request handled in 12 ms, retry after backoff "},
		{"emoji", "🚀 ✅ 🔥 é ü 漢字 ≤ — 😀 中文 ok "},
	} {
		text := []byte(strings.Repeat(c.text, 8<<20/len(c.text)))
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				if !Valid(text) {
					b.Fatal("invalid")
				}
			}
		})
		b.Run(c.name+"/line", func(b *testing.B) {
			line := text[:450]
			line = line[:Complete(line)]
			b.SetBytes(int64(len(line)))
			b.ReportAllocs()
			for b.Loop() {
				if !Valid(line) {
					b.Fatal("invalid")
				}
			}
		})
		b.Run(c.name+"/std", func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				if !utf8.Valid(text) {
					b.Fatal("invalid")
				}
			}
		})
	}
}

func BenchmarkAppendValid(b *testing.B) {
	for _, c := range []struct{ name, text string }{
		{"ascii", "request handled in 12 ms, retry after backoff "},
		{"emoji", "🚀 ✅ 🔥 é ü 漢字 ≤ — 😀 中文 ok "},
		{"invalid", "caf\xe9 latin 1 text "},
	} {
		text := []byte(strings.Repeat(c.text, 8<<20/len(c.text)))
		dst := make([]byte, 0, 2*len(text))
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				dst = AppendValid(dst[:0], text)
			}
		})
	}
}
