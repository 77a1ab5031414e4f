// Package jsonstr writes bytes as the body of a JSON string, and knows the length of
// what it would write.
//
// Escaped are only the quote, the backslash and the control characters below U+0020
// (short forms \b \f \n \r \t where they exist, \u00xx otherwise). Nothing is escaped
// for HTML. Bytes that are not UTF-8 become U+FFFD, one for each maximal invalid subpart.
package jsonstr

import (
	"encoding/binary"

	"github.com/tailrace/tailrace/internal/utf8cut"
)

const hex = "0123456789abcdef"

// short holds the letter of a two-character escape; 0 where there is none.
var short = [256]byte{'"': '"', '\\': '\\', '\b': 'b', '\f': 'f', '\n': 'n', '\r': 'r', '\t': 't'}

// once and twice are the lengths of a byte below 0x80 after one and two escapings.
// Bytes from 0x80 on count as they are: the UTF-8 walk corrects for the invalid ones.
var once, twice [256]uint8

func init() {
	for c := range 256 {
		switch {
		case c == '"' || c == '\\':
			once[c], twice[c] = 2, 4
		case short[c] != 0:
			once[c], twice[c] = 2, 3
		case c < 0x20:
			once[c], twice[c] = 6, 7
		default:
			once[c], twice[c] = 1, 1
		}
	}
}

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// special marks the bytes of w that need a look: below 0x20, quote, backslash, from 0x80 on.
// The lowest mark is exact; higher ones may be false after a true one.
func special(w uint64) uint64 {
	q, s := w^(ones*'"'), w^(ones*'\\')
	return ((w - ones*0x20) | (q - ones) | (s - ones) | w) & highs
}

// Append appends the escaped form of s to dst, without quotes.
func Append(dst, s []byte) []byte {
	start, i := 0, 0
	for i < len(s) {
		for i+8 <= len(s) && special(binary.LittleEndian.Uint64(s[i:])) == 0 {
			i += 8
		}
		if i == len(s) {
			break
		}
		c := s[i]
		if c >= 0x80 {
			n, ok := utf8cut.Next(s[i:])
			if !ok {
				dst = append(append(dst, s[start:i]...), "\ufffd"...)
				start = i + n
			}
			i += n
			continue
		}
		if once[c] != 1 {
			dst = append(dst, s[start:i]...)
			if e := short[c]; e != 0 {
				dst = append(dst, '\\', e)
			} else {
				dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
			}
			start = i + 1
		}
		i++
	}
	return append(dst, s[start:]...)
}

// Len returns the length of what Append would append.
func Len(s []byte) int { return count(s, &once) }

// Len2 returns the length of s escaped twice: Len of what Append would append.
func Len2(s []byte) int { return count(s, &twice) }

func count(s []byte, sizes *[256]uint8) (n int) {
	for i := 0; i < len(s); {
		for i+8 <= len(s) && special(binary.LittleEndian.Uint64(s[i:])) == 0 {
			i += 8
			n += 8
		}
		if i == len(s) {
			break
		}
		if s[i] < 0x80 {
			n += int(sizes[s[i]])
			i++
			continue
		}
		w, ok := utf8cut.Next(s[i:])
		if ok {
			n += w
		} else {
			n += len("\ufffd")
		}
		i += w
	}
	return n
}

// Cut returns the length of the longest prefix of s that ends on a border of a code
// point (or of a maximal invalid subpart) and whose escaped form takes at most room bytes.
func Cut(s []byte, room int) int {
	i := 0
	for i < len(s) {
		for i+8 <= len(s) && room >= 8 && special(binary.LittleEndian.Uint64(s[i:])) == 0 {
			i += 8
			room -= 8
		}
		if i == len(s) {
			break
		}
		w, cost := 1, 0
		if s[i] < 0x80 {
			cost = int(once[s[i]])
		} else if n, ok := utf8cut.Next(s[i:]); ok {
			w, cost = n, n
		} else {
			w, cost = n, len("\ufffd")
		}
		if cost > room {
			break
		}
		room -= cost
		i += w
	}
	return i
}
