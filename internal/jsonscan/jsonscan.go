// Package jsonscan checks in one pass whether a line is one strict JSON object
// (RFC 8259) within a depth, and notes what a log pipeline must know of it.
package jsonscan

import (
	"encoding/binary"
	"math/bits"

	"github.com/tailrace/tailrace/internal/utf8cut"
)

// Info is what a scan learned of an object.
type Info struct {
	// Type and Reason are the raw value tokens of the last top-level member of that
	// name (names compared after unescaping, case-sensitively), as offsets into the
	// line; End is 0 where there is none. A string token includes its quotes.
	Type, Reason Span
	// Repair says that the object must go through [Repair]: it holds a lone surrogate
	// escape, bytes that are not UTF-8, or a raw CR or LF between tokens.
	Repair bool
}

// Span is a half-open range of offsets.
type Span struct{ Start, End uint32 }

// MaxDepth is the deepest nesting that [Object] can be asked for.
const MaxDepth = 1024

// Object scans line, which must begin with the object's brace and end with its brace:
// the caller trims the white space around it. maxDepth is the deepest nesting, where
// the outermost object is level 1; it is taken as at most [MaxDepth]. Object allocates
// nothing and does not recurse, and a line that is too deep costs no more than its
// bytes up to that depth.
func Object(line []byte, maxDepth int) (Info, bool) {
	var info Info
	if len(line) < 2 || line[0] != '{' || line[len(line)-1] != '}' {
		return info, false
	}
	maxDepth = min(maxDepth, MaxDepth)
	if maxDepth < 1 {
		return info, false
	}
	s := scanner{b: line}
	// One bit for each level: set where it is an object.
	var stack [MaxDepth / 64]uint64
	depth := 0
	var member *Span // where the value of the current top-level member is noted, if anywhere
	start := 0
	i := 0

value:
	i = s.space(i)
	if i >= len(line) {
		return info, false
	}
	if depth == 1 {
		start = i
	}
	switch c := line[i]; {
	case c == '{':
		if depth == maxDepth {
			return info, false
		}
		stack[depth>>6] |= 1 << (depth & 63)
		depth++
		if i = s.space(i + 1); i < len(line) && line[i] == '}' {
			goto end
		}
		goto key
	case c == '[':
		if depth == maxDepth {
			return info, false
		}
		stack[depth>>6] &^= 1 << (depth & 63)
		depth++
		if j := s.space(i + 1); j < len(line) && line[j] == ']' {
			i = j
			goto end
		}
		i++
		goto value
	case c == '"':
		i = s.str(i)
	case c == '-' || c-'0' < 10:
		i = s.number(i)
	case c == 't':
		i = s.word(i, "true")
	case c == 'f':
		i = s.word(i, "false")
	case c == 'n':
		i = s.word(i, "null")
	default:
		return info, false
	}
	if i < 0 {
		return info, false
	}

after:
	if depth == 1 && member != nil {
		*member = Span{uint32(start), uint32(i)}
	}
	i = s.space(i)
	if i >= len(line) {
		return info, false
	}
	if stack[(depth-1)>>6]>>((depth-1)&63)&1 != 0 {
		switch line[i] {
		case ',':
			i = s.space(i + 1)
			goto key
		case '}':
			goto end
		}
	} else {
		switch line[i] {
		case ',':
			i++
			goto value
		case ']':
			goto end
		}
	}
	return info, false

key:
	{
		if i >= len(line) || line[i] != '"' {
			return info, false
		}
		j := s.str(i)
		if j < 0 {
			return info, false
		}
		if depth == 1 {
			member = info.member(line[i:j])
		}
		if i = s.space(j); i >= len(line) || line[i] != ':' {
			return info, false
		}
		i++
		goto value
	}

end:
	i++
	if depth--; depth > 0 {
		goto after
	}
	info.Repair = s.repair
	return info, i == len(line)
}

// member returns where the value of the member with this name token is noted, or nil.
func (info *Info) member(name []byte) *Span {
	switch {
	case len(name) == len(`"type"`) && string(name) == `"type"`:
		return &info.Type
	case len(name) == len(`"reason"`) && string(name) == `"reason"`:
		return &info.Reason
	case len(name) < len(`"\u0074ype"`) || !hasEscape(name):
		return nil
	case Is(name, "type"):
		return &info.Type
	case Is(name, "reason"):
		return &info.Reason
	}
	return nil
}

func hasEscape(token []byte) bool {
	for _, c := range token {
		if c == '\\' {
			return true
		}
	}
	return false
}

// A scanner walks the tokens of a line. Its methods return the offset after what they
// read, or -1.
type scanner struct {
	b      []byte
	repair bool
}

func (s *scanner) space(i int) int {
	for i < len(s.b) {
		switch s.b[i] {
		case ' ', '\t':
		case '\r', '\n':
			s.repair = true
		default:
			return i
		}
		i++
	}
	return i
}

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// special marks the bytes of w that end a plain run in a string: controls, the quote, the
// backslash and bytes from 0x80 on. The lowest mark is exact.
func special(w uint64) uint64 {
	q, e := w^(ones*'"'), w^(ones*'\\')
	return ((w - ones*0x20) | (q - ones) | (e - ones) | w) & highs
}

// str reads the string whose opening quote is at i.
func (s *scanner) str(i int) int {
	b := s.b
	i++
	for {
		for i+8 <= len(b) {
			m := special(binary.LittleEndian.Uint64(b[i:]))
			if m != 0 {
				i += bits.TrailingZeros64(m) >> 3
				break
			}
			i += 8
		}
		if i >= len(b) {
			return -1
		}
		switch c := b[i]; {
		case c == '"':
			return i + 1
		case c == '\\':
			if i = s.escape(i); i < 0 {
				return -1
			}
		case c < 0x20:
			return -1
		case c < 0x80:
			i++
		default:
			n, ok := utf8cut.Next(b[i:])
			if !ok {
				s.repair = true
			}
			i += n
		}
	}
}

// escape reads the escape whose backslash is at i.
func (s *scanner) escape(i int) int {
	if i+1 >= len(s.b) {
		return -1
	}
	switch s.b[i+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return i + 2
	case 'u':
	default:
		return -1
	}
	u, ok := hex4(s.b, i+2)
	if !ok {
		return -1
	}
	switch {
	case u&0xFC00 == 0xD800 && lowAt(s.b, i+6):
		return i + 12
	case u&0xF800 == 0xD800:
		s.repair = true
	}
	return i + 6
}

// lowAt says whether an escaped low surrogate stands at i.
func lowAt(b []byte, i int) bool {
	if i+6 > len(b) || b[i] != '\\' || b[i+1] != 'u' {
		return false
	}
	u, ok := hex4(b, i+2)
	return ok && u&0xFC00 == 0xDC00
}

// hex4 reads four hex digits at i.
func hex4(b []byte, i int) (u uint16, ok bool) {
	if i+4 > len(b) {
		return 0, false
	}
	for _, c := range b[i : i+4] {
		switch {
		case c-'0' < 10:
			c -= '0'
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return 0, false
		}
		u = u<<4 | uint16(c)
	}
	return u, true
}

// number reads the number at i.
func (s *scanner) number(i int) int {
	b := s.b
	if b[i] == '-' {
		i++
	}
	switch {
	case i < len(b) && b[i] == '0':
		i++
	case i < len(b) && b[i]-'1' < 9:
		i = digits(b, i)
	default:
		return -1
	}
	if i < len(b) && b[i] == '.' {
		j := digits(b, i+1)
		if j == i+1 {
			return -1
		}
		i = j
	}
	if i < len(b) && b[i]|0x20 == 'e' {
		i++
		if i < len(b) && (b[i] == '+' || b[i] == '-') {
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

func digits(b []byte, i int) int {
	for i < len(b) && b[i]-'0' < 10 {
		i++
	}
	return i
}

func (s *scanner) word(i int, w string) int {
	if len(s.b)-i < len(w) || string(s.b[i:i+len(w)]) != w {
		return -1
	}
	return i + len(w)
}
