package jsonscan

import "math/bits"

// A scanner walks the tokens of a line that ends with a brace. Its methods return the
// offset where the token ends, or -1.
type scanner struct {
	b []byte
	// window has the marks of the blocks that are looked at.
	window [windowBlocks]uint64
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

// escapes goes on in a string from the mark at i, which is no quote, to the closing
// quote. It takes the marks on the way.
func (s *scanner) escapes(i, base int, marks uint64) (int, int, uint64) {
	b := s.b
	skip := false // the mark to come belongs to an escape
	for {
		switch {
		case skip:
			skip = false
		case b[i] == '"':
			return i, base, marks
		case b[i] != '\\':
			return -1, 0, 0
		default:
			switch c := b[i+1]; {
			case c == '"' || c == '\\':
				skip = true
			case c == 'u':
				u, ok := hex4(b, i)
				if !ok {
					return -1, 0, 0
				}
				if u&0xF800 == 0xD800 {
					low, ok := hex4(b, i+6)
					skip = ok && u < 0xDC00 && low&0xFC00 == 0xDC00
					s.repair = s.repair || !skip
				}
			case letters[c] == 0:
				return -1, 0, 0
			}
		}
		for marks == 0 {
			base += blockBytes
			if base >= len(b) {
				return -1, 0, 0
			}
			marks = s.block(base)
		}
		i = base + bits.TrailingZeros64(marks)
		marks &= marks - 1
	}
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
