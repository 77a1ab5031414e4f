package jsonscan

import (
	"encoding/binary"
	"math/bits"
)

// A scanner walks the tokens of a line that ends with a brace. Its methods return the
// offset where the token ends, or -1.
type scanner struct {
	b []byte
	// all has the high bits of all bytes in strings, and of some around them.
	all uint64
	// repair notes lone surrogates, and line ends between tokens.
	repair bool
}

// space skips white space.
func (s *scanner) space(i int) int {
	for {
		switch s.b[i] {
		case ' ', '\t':
		case '\r', '\n':
			s.repair = true
		default:
			return i
		}
		i++
	}
}

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// special marks the bytes of w that end a plain run in a string: controls, the quote and
// the backslash. The lowest mark is exact; higher ones may be false.
func special(w uint64) uint64 {
	q, e := w^(ones*'"'), w^(ones*'\\')
	return ((w - ones*0x20) | (q - ones) | (e - ones)) & highs &^ w
}

// str finds the closing quote of the string whose first byte is at i.
func (s *scanner) str(i int) int {
	b, all := s.b, uint64(0)
	for {
		for i+8 <= len(b) {
			w := binary.LittleEndian.Uint64(b[i:])
			all |= w
			if m := special(w); m != 0 {
				i += bits.TrailingZeros64(m) >> 3
				break
			}
			i += 8
		}
		if i == len(b) {
			return -1
		}
		switch c := b[i]; {
		case c == '"':
			s.all |= all
			return i
		case c == '\\':
			if letters[b[i+1]] != 0 {
				i += 2
			} else if i = s.unicode(i); i < 0 {
				return -1
			}
		case c < 0x20:
			return -1
		default:
			all |= uint64(c)
			i++
		}
	}
}

// unicode reads the \u escape at i, or the pair of them.
func (s *scanner) unicode(i int) int {
	u, ok := hex4(s.b, i)
	if !ok {
		return -1
	}
	if u&0xF800 == 0xD800 {
		if low, ok := hex4(s.b, i+6); ok && u < 0xDC00 && low&0xFC00 == 0xDC00 {
			return i + 12
		}
		s.repair = true
	}
	return i + 6
}

// hexDigits has the values of the hex digits, and 0xFF for other bytes.
var hexDigits = func() (table [256]uint8) {
	for i := range table {
		table[i] = 0xFF
	}
	for i, c := range "0123456789abcdef" {
		table[c] = uint8(i)
	}
	for i, c := range "ABCDEF" {
		table[c] = uint8(10 + i)
	}
	return table
}()

// hex4 returns the value of the \uXXXX that may stand at i.
func hex4(b []byte, i int) (u uint16, ok bool) {
	if i+6 > len(b) || b[i] != '\\' || b[i+1] != 'u' {
		return 0, false
	}
	x, y, z, w := hexDigits[b[i+2]], hexDigits[b[i+3]], hexDigits[b[i+4]], hexDigits[b[i+5]]
	return uint16(x)<<12 | uint16(y)<<8 | uint16(z)<<4 | uint16(w), x|y|z|w != 0xFF
}

// number reads the number at i.
func (s *scanner) number(i int) int {
	b := s.b
	if b[i] == '-' {
		i++
	}
	switch {
	case b[i] == '0':
		i++
	case b[i]-'1' < 9:
		i = digits(b, i)
	default:
		return -1
	}
	if b[i] == '.' {
		j := digits(b, i+1)
		if j == i+1 {
			return -1
		}
		i = j
	}
	if b[i]|0x20 == 'e' {
		i++
		if b[i] == '+' || b[i] == '-' {
			i++
		}
		j := digits(b, i)
		if j == i {
			return -1
		}
		i = j
	}
	return i
}

// digits skips decimal digits.
func digits(b []byte, i int) int {
	for b[i]-'0' < 10 {
		i++
	}
	return i
}

// word reads the literal w at i.
func (s *scanner) word(i int, w string) int {
	if len(s.b)-i < len(w) || string(s.b[i:i+len(w)]) != w {
		return -1
	}
	return i + len(w)
}
