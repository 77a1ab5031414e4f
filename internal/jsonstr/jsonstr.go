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
	"slices"

	"github.com/tailrace/tailrace/internal/utf8cut"
	"github.com/tailrace/tailrace/internal/vector"
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

// special is 0 where no byte of w is escaped.
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
// the capacity of dst that it does not use; s must not lie there.
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
		dst = dst[:start+escape(dst[start:start+room], p)]
	}
	return dst
}

// escape writes the escaped form of p, at most pieceBytes, to d and returns its length.
// It needs room for the longest form and 8 bytes more.
func escape(d, p []byte) int {
	n, nonASCII := encode(d, p)
	if nonASCII && !utf8cut.Valid(p) {
		n = escapeRepaired(d, p)
	}
	return n
}

func escapeRepaired(d, p []byte) int {
	var buf [len("\ufffd") * pieceBytes]byte
	n, _ := encode(d, utf8cut.AppendValid(buf[:0], p))
	return n
}

// encode writes the escaped form of p, which it takes for UTF-8, to d. It may write to all
// of d.
func encode(d, p []byte) (n int, nonASCII bool) {
	for len(p) > 0 {
		written, read, high := vector.Escape(d[n:], p)
		n, p, nonASCII = n+written, p[read:], nonASCII || high
		rest := len(p)
		if vector.On() {
			rest = min(rest, stepBytes)
		}
		written, high = encodePlain(d[n:], p[:rest])
		n, p, nonASCII = n+written, p[rest:], nonASCII || high
	}
	return n, nonASCII
}

// stepBytes is how much goes the plain way where the vector unit has met what it cannot do.
const stepBytes = 32

// encodePlain is encode without the vector unit. It always stores whole words.
func encodePlain(d, p []byte) (n int, nonASCII bool) {
	var all uint64
	i := 0
	for ; i+32 <= len(p); i += 32 {
		// Most text has long runs without an escape.
		b, o := p[i:i+32], d[n:n+32]
		w, x := binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])
		y, z := binary.LittleEndian.Uint64(b[16:]), binary.LittleEndian.Uint64(b[24:])
		all |= w | x | y | z
		if special(w)|special(x)|special(y)|special(z) == 0 {
			binary.LittleEndian.PutUint64(o, w)
			binary.LittleEndian.PutUint64(o[8:], x)
			binary.LittleEndian.PutUint64(o[16:], y)
			binary.LittleEndian.PutUint64(o[24:], z)
			n += 32
			continue
		}
		for _, w := range [4]uint64{w, x, y, z} {
			switch {
			case special(w) == 0:
				binary.LittleEndian.PutUint64(d[n:], w)
				n += 8
				continue
			case controls(w) != 0:
				n += slow(d[n:], w)
				continue
			}
			// Quotes come in crowds. To find each would cost a mispredicted branch.
			out, size := half(uint32(w))
			binary.LittleEndian.PutUint64(d[n:], out)
			n += size
			out, size = half(uint32(w >> 32))
			binary.LittleEndian.PutUint64(d[n:], out)
			n += size
		}
	}
	for ; i+8 <= len(p); i += 8 {
		w := binary.LittleEndian.Uint64(p[i:])
		all |= w
		n += word(d[n:], w)
	}
	for ; i < len(p); i++ {
		all |= uint64(p[i])
		e := escapes[p[i]]
		binary.LittleEndian.PutUint64(d[n:], e)
		n += int(e >> 56)
	}
	return n, all&highs != 0
}

// word writes the escaped form of 8 bytes to d and returns its length.
func word(d []byte, w uint64) int {
	if special(w) == 0 {
		binary.LittleEndian.PutUint64(d, w)
		return 8
	}
	if controls(w) == 0 {
		out, n := half(uint32(w))
		binary.LittleEndian.PutUint64(d, out)
		out, size := half(uint32(w >> 32))
		binary.LittleEndian.PutUint64(d[n:], out)
		return n + size
	}
	return slow(d, w)
}

// slow escapes 8 bytes one by one.
func slow(d []byte, w uint64) (n int) {
	for range 8 {
		e := escapes[byte(w)]
		binary.LittleEndian.PutUint64(d[n:], e)
		n += int(e >> 56)
		w >>= 8
	}
	return n
}

// pairs has the escapes of at most two bytes: the bytes, and their number of bits from
// bit 16 on.
var pairs = func() (table [256]uint32) {
	for c, e := range escapes {
		table[c] = uint32(e&0xFFFF) | uint32(e>>56*8)<<16
	}
	return table
}()

// half escapes 4 bytes that hold no control character, without a branch.
func half(w uint32) (out uint64, n int) {
	a, b, c, d := pairs[byte(w)], pairs[byte(w>>8)], pairs[byte(w>>16)], pairs[byte(w>>24)]
	out, size := uint64(a&0xFFFF), a>>16
	out |= uint64(b&0xFFFF) << (size & 63)
	size += b >> 16
	out |= uint64(c&0xFFFF) << (size & 63)
	size += c >> 16
	out |= uint64(d&0xFFFF) << (size & 63)
	size += d >> 16
	return out, int(size >> 3)
}

// appendTight is Append for a dst with room for the result, but not for whole words
// behind it: it goes through a buffer of its own.
func appendTight(dst, p []byte) []byte {
	var buf [longest*64 + 8]byte
	for len(p) > 0 {
		q := piece(p, 64)
		p = p[len(q):]
		dst = append(dst, buf[:escape(buf[:], q)]...)
	}
	return dst
}
