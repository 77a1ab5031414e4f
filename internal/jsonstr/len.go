package jsonstr

import (
	"encoding/binary"
	"math/bits"

	"github.com/tailrace/tailrace/internal/utf8cut"
	"github.com/tailrace/tailrace/internal/vector"
)

// costs are the lengths of what bytes become.
type costs struct {
	// quote is the length of a quote or a backslash.
	quote int
	// control is the length of each control character.
	control [0x20]uint8
}

// once and twice are the costs of one and of two escapings: \" is 2 bytes and \\\" is 4,
// \n is 2 and \\n is 3.
var once, twice = func() (one, two costs) {
	one.quote, two.quote = 2, 4
	for c := range one.control {
		n := uint8(escapes[c] >> 56)
		one.control[c], two.control[c] = n, n+1
	}
	return one, two
}()

// Len returns the length of what [Append] would append.
func Len(s []byte) int { return count(s, &once) }

// Len2 returns the length of s escaped twice: Len of what [Append] would append.
func Len2(s []byte) int { return count(s, &twice) }

func count(s []byte, c *costs) (n int) {
	for len(s) > 0 {
		p := piece(s, pieceBytes)
		s = s[len(p):]
		size, nonASCII := c.sum(p)
		if nonASCII && !utf8cut.Valid(p) {
			size += repairs(p)
		}
		n += size
	}
	return n
}

// sum counts p, at most pieceBytes that it takes for UTF-8.
func (c *costs) sum(p []byte) (n int, nonASCII bool) {
	n = len(p)
	counts, done, nonASCII := vector.Count(p)
	n += counts.Quotes*(c.quote-1) + counts.Shorts*int(c.control['\n']-1) + (counts.Controls-counts.Shorts)*int(c.control[0]-1)
	p = p[done:]
	// Each byte of quotes counts those at its place in the words. It holds up to 255.
	var all, quotes uint64
	i := 0
	for ; i+32 <= len(p); i += 32 {
		b := p[i : i+32]
		w, x := binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])
		y, z := binary.LittleEndian.Uint64(b[16:]), binary.LittleEndian.Uint64(b[24:])
		all |= w | x | y | z
		quotes += quoted(w) + quoted(x) + quoted(y) + quoted(z)
		if controls(w)|controls(x)|controls(y)|controls(z) != 0 {
			n += c.extra(w) + c.extra(x) + c.extra(y) + c.extra(z)
		}
	}
	for ; i+8 <= len(p); i += 8 {
		w := binary.LittleEndian.Uint64(p[i:])
		all |= w
		quotes += quoted(w)
		n += c.extra(w)
	}
	quotes = quotes&0x00FF00FF00FF00FF + quotes>>8&0x00FF00FF00FF00FF
	n += int(quotes*0x0001000100010001>>48) * (c.quote - 1)
	for ; i < len(p); i++ {
		all |= uint64(p[i])
		n += c.of(p[i]) - 1
	}
	return n, nonASCII || all&highs != 0
}

// quoted has the lowest bit of each byte of w that is a quote or a backslash.
func quoted(w uint64) uint64 {
	low := w & sevens
	// The high bit of each byte: clear only where the byte is the one meant.
	quote := (low ^ ones*'"') + sevens
	slash := (low ^ ones*'\\') + sevens
	return ^(quote&slash | w) & highs >> 7
}

// controls has the highest bit of each byte of w that is a control character.
func controls(w uint64) uint64 { return ^(w&sevens + ones*0x60 | w) & highs }

// extra is what the control characters of w cost beyond themselves.
func (c *costs) extra(w uint64) (n int) {
	for m := controls(w); m != 0; m &= m - 1 {
		at := bits.TrailingZeros64(m) - 7
		n += int(c.control[w>>(at&63)&0x1F]) - 1
	}
	return n
}

// repairs returns by how much p grows where it is repaired.
func repairs(p []byte) (n int) {
	for i := utf8cut.ASCII(p); i < len(p); i += utf8cut.ASCII(p[i:]) {
		width, ok := utf8cut.Next(p[i:])
		if !ok {
			n += len("\ufffd") - width
		}
		i += width
	}
	return n
}

// of is the cost of one byte.
func (c *costs) of(b byte) int {
	switch {
	case b == '"' || b == '\\':
		return c.quote
	case b < 0x20:
		return int(c.control[b])
	}
	return 1
}

// unit returns the width of the first code point or invalid subpart of p, and its cost.
func (c *costs) unit(p []byte) (width, cost int) {
	width, ok := utf8cut.Next(p)
	switch {
	case !ok:
		return width, len("\ufffd")
	case width == 1:
		return 1, c.of(p[0])
	}
	return width, width
}

// Cut returns the length of the longest prefix of s that ends on a border of a code
// point (or of a maximal invalid subpart) and whose escaped form takes at most room bytes.
func Cut(s []byte, room int) int {
	i := 0
	// Whole pieces are skipped by their length, ever smaller ones.
	for size := pieceBytes; size > 16; size /= 8 {
		for i < len(s) {
			p := piece(s[i:], size)
			n := Len(p)
			if n > room {
				break
			}
			i, room = i+len(p), room-n
		}
	}
	for i < len(s) {
		width, cost := once.unit(s[i:])
		if cost > room {
			break
		}
		i, room = i+width, room-cost
	}
	return i
}
