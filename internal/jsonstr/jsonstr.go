// Package jsonstr writes bytes as the body of a JSON string, and knows the length of
// what it would write.
//
// Escaped are only the quote, the backslash and the control characters below U+0020
// (short forms \b \f \n \r \t where they exist, \u00xx otherwise). Nothing is escaped
// for HTML. Bytes that are not UTF-8 become U+FFFD, one for each maximal invalid subpart.
// All functions are pure and may run concurrently.
package jsonstr

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/tailrace/tailrace/internal/utf8cut"
)

const (
	ones   = 0x0101010101010101
	sevens = 0x7F7F7F7F7F7F7F7F
	highs  = 0x8080808080808080

	// pieceBytes is how much is taken at once: 255 words, as many as the counters of Len
	// hold. Text that turns out not to be UTF-8 is done again, slowly, from the start of
	// its piece.
	pieceBytes = 255 * 8

	// longest is the longest escape, \u0000.
	longest = 6
)

// escapes holds, for each byte, what is written for it: up to 6 bytes from the low end
// on, and their number in the highest byte. The bytes from 0x80 on stand for themselves.
var escapes = func() (table [256]uint64) {
	const hex = "0123456789abcdef"
	for c := range table {
		text := []byte{byte(c)}
		switch {
		case c == '"' || c == '\\':
			text = []byte{'\\', byte(c)}
		case c < 0x20:
			text = []byte{'\\', 'u', '0', '0', hex[c>>4], hex[c&15]}
			if short := "\b\f\n\r\t"; slices.Contains([]byte(short), byte(c)) {
				text = []byte{'\\', "bfnrt"[slices.Index([]byte(short), byte(c))]}
			}
		}
		for i, t := range text {
			table[c] |= uint64(t) << (8 * i)
		}
		table[c] |= uint64(len(text)) << 56
	}
	return table
}()

// special marks the bytes of w that are escaped. The lowest mark is exact; higher ones
// may be false.
func special(w uint64) uint64 {
	q, s := w^(ones*'"'), w^(ones*'\\')
	return ((w - ones*0x20) | (q - ones) | (s - ones)) & highs &^ w
}

// piece returns the first piece of s: all of it, or about size bytes that end on a border.
func piece(s []byte, size int) []byte {
	if len(s) <= size {
		return s
	}
	return s[:utf8cut.Complete(s[:size])]
}

// Append appends the escaped form of s to dst, without quotes. It may write anything to
// the capacity of dst that it does not use.
func Append(dst, s []byte) []byte {
	for len(s) > 0 {
		p := piece(s, pieceBytes)
		s = s[len(p):]
		start := len(dst)
		room := longest*len(p) + 8
		if cap(dst)-start < room {
			// The exact length: a buffer that was made to measure must not grow.
			n := Len(p)
			dst = slices.Grow(dst, n)
			if cap(dst)-start < room {
				dst = appendTight(dst, p)
				continue
			}
		}
		n, nonASCII := encode(dst[start:start+room], p)
		if nonASCII && !utf8cut.Valid(p) {
			dst = appendUnits(dst, p)
			continue
		}
		dst = dst[:start+n]
	}
	return dst
}

// encode writes the escaped form of p, which it takes for UTF-8, to d. It needs room for
// the longest form and 8 bytes more, since it always stores whole words.
func encode(d, p []byte) (n int, nonASCII bool) {
	var all uint64
	i := 0
	for i+8 <= len(p) {
		w := binary.LittleEndian.Uint64(p[i:])
		binary.LittleEndian.PutUint64(d[n:], w)
		all |= w
		m := special(w)
		if m == 0 {
			i, n = i+8, n+8
			continue
		}
		k := bits.TrailingZeros64(m) >> 3
		i, n = i+k+1, n+k
		e := escapes[byte(w>>(8*k&63))]
		binary.LittleEndian.PutUint64(d[n:], e)
		n += int(e >> 56)
	}
	for ; i < len(p); i++ {
		all |= uint64(p[i])
		e := escapes[p[i]]
		binary.LittleEndian.PutUint64(d[n:], e)
		n += int(e >> 56)
	}
	return n, all&highs != 0
}

// appendTight is Append for a dst with room for the result, but not for whole words
// behind it: it goes through a buffer of its own.
func appendTight(dst, p []byte) []byte {
	var buf [longest*64 + 8]byte
	for len(p) > 0 {
		q := piece(p, 64)
		p = p[len(q):]
		n, nonASCII := encode(buf[:], q)
		if nonASCII && !utf8cut.Valid(q) {
			dst = appendUnits(dst, q)
		} else {
			dst = append(dst, buf[:n]...)
		}
	}
	return dst
}

// appendUnits is Append for text that is not UTF-8, unit by unit.
func appendUnits(dst, p []byte) []byte {
	var buf [8]byte
	for len(p) > 0 {
		n, ok := utf8cut.Next(p)
		switch {
		case !ok:
			dst = append(dst, "\ufffd"...)
		case n > 1:
			dst = append(dst, p[:n]...)
		default:
			e := escapes[p[0]]
			binary.LittleEndian.PutUint64(buf[:], e)
			dst = append(dst, buf[:e>>56]...)
		}
		p = p[n:]
	}
	return dst
}
