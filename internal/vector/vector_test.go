package vector_test

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/tailrace/tailrace/internal/vector"
)

// shorts are the escapes of two characters.
var shorts = map[byte]byte{'"': '"', '\\': '\\', '\b': 'b', '\t': 't', '\n': 'n', '\f': 'f', '\r': 'r'}

func isControl(c byte) bool { return c < 0x20 }

func high(b []byte) bool { return bytes.ContainsFunc(b, func(r rune) bool { return r >= 0x80 }) }

// check compares each function with a loop over bytes.
func check(t *testing.T, src []byte) {
	t.Helper()
	for _, words := range []int{0, 1, len(src)/vector.MarkBytes + 1} {
		dst := make([]uint64, words)
		n, gotHigh := vector.Marks(dst, src)
		if n > len(src) || n > words*vector.MarkBytes || n%vector.MarkBytes != 0 || gotHigh != high(src[:n]) {
			t.Fatalf("Marks(%q) did %d bytes, high %v", src, n, gotHigh)
		}
		for i := range words * vector.MarkBytes {
			want := i < n && (isControl(src[i]) || src[i] == '"' || src[i] == '\\')
			if got := dst[i/vector.MarkBytes]>>(i%vector.MarkBytes)&1 == 1; got != want {
				t.Fatalf("Marks(%q) has %v at %d", src, got, i)
			}
		}
	}

	var want vector.Counts
	got, n, gotHigh := vector.Count(src)
	for _, c := range src[:n] {
		switch {
		case c == '"' || c == '\\':
			want.Quotes++
		case isControl(c):
			want.Controls++
			if shorts[c] != 0 {
				want.Shorts++
			}
		}
	}
	if got != want || gotHigh != high(src[:n]) {
		t.Fatalf("Count(%q) = %+v, high %v, want %+v", src, got, gotHigh, want)
	}

	// The byte behind what may be written shows that nothing writes there.
	const guard = 0xA5
	dst := bytes.Repeat([]byte{guard}, 2*len(src)+1)
	written, read, gotHigh := vector.Escape(dst[:2*len(src)], src)
	var text []byte
	for _, c := range src[:read] {
		switch {
		case shorts[c] != 0:
			text = append(text, '\\', shorts[c])
		case isControl(c):
			t.Fatalf("Escape(%q) went past a control character", src)
		default:
			text = append(text, c)
		}
	}
	if !bytes.Equal(dst[:written], text) || gotHigh != high(src[:read]) || dst[2*len(src)] != guard {
		t.Fatalf("Escape(%q) = %q, high %v, want %q", src, dst[:written], gotHigh, text)
	}

	dst = bytes.Repeat([]byte{guard}, len(src)+1)
	n = vector.Commas(dst[:len(src)], src)
	if !bytes.Equal(dst[:n], bytes.ReplaceAll(src[:n], []byte("\n"), []byte(","))) || dst[len(src)] != guard {
		t.Fatalf("Commas(%q) = %q", src, dst[:n])
	}
}

// TestEachByteAtEachPlace has every byte at every place of the blocks.
func TestEachByteAtEachPlace(t *testing.T) {
	for c := range 256 {
		for at := range 130 {
			src := bytes.Repeat([]byte{'a'}, 130)
			src[at] = byte(c)
			check(t, src)
			check(t, src[:at+1])
		}
	}
}

// TestEachSetOfEscapes has every set of escaped bytes in eight, since each has its own shuffle.
func TestEachSetOfEscapes(t *testing.T) {
	for set := range 256 {
		for offset := range 4 {
			src := bytes.Repeat([]byte("abcdefgh"), 4)
			for i := range 8 {
				if set>>i&1 == 1 {
					src[8*offset+i] = "\"\\\n\t\r\b\f\""[i]
				}
			}
			check(t, src)
		}
	}
}

func TestRandomBytes(t *testing.T) {
	r := rand.New(rand.NewPCG(2026, 12))
	alphabets := [][]byte{[]byte("\"\\\n\tab"), []byte("plain text, \xf0\x9f\x98\x80"), nil}
	for range 3000 {
		src := make([]byte, r.IntN(400))
		alphabet := alphabets[r.IntN(len(alphabets))]
		for i := range src {
			if src[i] = byte(r.IntN(256)); alphabet != nil {
				src[i] = alphabet[r.IntN(len(alphabet))]
			}
		}
		check(t, src)
	}
}

// TestDoesItsBlocks checks that the functions work at all where they say that they do, and
// do nothing where they are turned off.
func TestDoesItsBlocks(t *testing.T) {
	src, dst := bytes.Repeat([]byte("a"), 192), make([]byte, 2*192)
	did := func() (sum int) {
		n, _ := vector.Marks(make([]uint64, 3), src)
		sum += n
		_, n, _ = vector.Count(src)
		sum += n
		_, n, _ = vector.Escape(dst, src)
		return sum + n + vector.Commas(dst, src)
	}
	want := 0
	if vector.On() {
		want = 4 * len(src)
	}
	if got := did(); got != want {
		t.Errorf("%d bytes done, want %d", got, want)
	}
	defer vector.Enable(vector.Enable(false))
	if got := did(); got != 0 || vector.On() {
		t.Errorf("%d bytes done while off", got)
	}
}

func FuzzVector(f *testing.F) {
	f.Add([]byte("a \"quoted\" line of text with \\ and \x01 and \xf0\x9f\x98\x80\n"), 3)
	f.Fuzz(func(t *testing.T, src []byte, repeat int) {
		check(t, bytes.Repeat(src, 1+min(max(repeat, 0), 5)))
	})
}
