// Package jsonscan checks in one pass whether a line is one strict JSON object
// (RFC 8259) within a depth, and notes what a log pipeline must know of it.
//
// All functions are pure and may run concurrently.
package jsonscan

import (
	"math"
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

// Span is a half-open range of offsets, in bytes.
type Span struct{ Start, End uint32 }

// MaxDepth is the deepest nesting that [Object] can be asked for.
const MaxDepth = 1024

// member says where the value of the current top-level member is noted.
type member uint8

const (
	nowhere member = iota
	asType
	asReason
)

// Object scans line, which must begin with the object's brace and end with its brace:
// the caller trims the white space around it. maxDepth is the deepest nesting, where
// the outermost object is level 1; it is taken as at most [MaxDepth]. Object allocates
// nothing and does not recurse, and a line that is too deep costs no more than its
// bytes up to that depth. A line of 4 GiB or more is refused.
func Object(line []byte, maxDepth int) (info Info, ok bool) {
	n := len(line)
	if n < 2 || uint64(n) > math.MaxUint32 || line[0] != '{' || line[n-1] != '}' || maxDepth < 1 {
		return Info{}, false
	}
	maxDepth = min(maxDepth, MaxDepth)
	var (
		// One bit for each level: set where it is an object.
		stack  [MaxDepth / 64]uint64
		depth  = 0
		object = false // what the current level is
		key    = false // whether the next string is a name
		note   = nowhere
		start  = 0 // of the current top-level value
		s      = scanner{b: line}
		i, at  = 0, 0
		// The marks of the block at base that were not taken yet. They are kept here
		// and not in s for the sake of registers.
		base, marks = 0, s.block(0)
	)

	// The last byte is a brace, so that no token but a closing one reaches the end: i
	// is a valid offset after everything else.

open: // an object or array at i
	if depth == maxDepth {
		return Info{}, false
	}
	object = line[i] == '{'
	if object {
		stack[depth>>6] |= 1 << (depth & 63)
	} else {
		stack[depth>>6] &^= 1 << (depth & 63)
	}
	depth++
	i++
	if line[i] <= ' ' {
		i = s.space(i)
	}
	if object {
		if line[i] == '}' {
			goto end
		}
		goto name
	}
	if line[i] == ']' {
		goto end
	}
	goto value

name: // the name of a member at i
	if line[i] != '"' {
		return Info{}, false
	}
	key = true

text: // a string at i
	for {
		for marks == 0 {
			base += blockBytes
			marks = s.block(base)
		}
		at = base + bits.TrailingZeros64(marks)
		marks &= marks - 1
		if at == i { // what comes before is white space
			break
		}
	}
	for marks == 0 {
		base += blockBytes
		if base >= n {
			return Info{}, false
		}
		marks = s.block(base)
	}
	at = base + bits.TrailingZeros64(marks)
	marks &= marks - 1
	if line[at] != '"' {
		if at, base, marks = s.escapes(at, base, marks); at < 0 {
			return Info{}, false
		}
	}
	if !key {
		i = at + 1
		goto after
	}
	key = false
	if depth == 1 {
		note = noted(line[i+1 : at])
	}
	i = at + 1
	if line[i] != ':' {
		if i = s.space(i); line[i] != ':' {
			return Info{}, false
		}
	}
	i++

value: // a value at i, perhaps after white space
	if line[i] <= ' ' {
		i = s.space(i)
	}
	if depth == 1 {
		start = i
	}
	switch c := line[i]; {
	case c == '"':
		goto text
	case c == '{' || c == '[':
		goto open
	case c == '-' || c-'0' < 10:
		i = s.number(i)
	case c == 't':
		i = s.word(i, "true")
	case c == 'f':
		i = s.word(i, "false")
	case c == 'n':
		i = s.word(i, "null")
	default:
		return Info{}, false
	}
	if i < 0 {
		return Info{}, false
	}

after: // a value that ended before i
	if depth == 1 && note != nowhere {
		span := &info.Type
		if note == asReason {
			span = &info.Reason
		}
		*span = Span{uint32(start), uint32(i)}
	}
	if line[i] <= ' ' {
		i = s.space(i)
	}
	if line[i] == ',' {
		i++
		if !object {
			goto value
		}
		if line[i] <= ' ' {
			i = s.space(i)
		}
		goto name
	}
	if object && line[i] != '}' || !object && line[i] != ']' {
		return Info{}, false
	}

end: // the closing byte at i
	i++
	if depth--; depth > 0 {
		if i == n {
			return Info{}, false
		}
		object = stack[(depth-1)>>6]>>((depth-1)&63)&1 != 0
		goto after
	}
	// Outside strings only ASCII was accepted.
	info.Repair = s.repair || s.all&highs != 0 && !utf8cut.Valid(line)
	return info, i == n
}

// noted returns what the value of the member with this raw name, without quotes, is noted as.
func noted(raw []byte) member {
	switch {
	case string(raw) == "type":
		return asType
	case string(raw) == "reason":
		return asReason
	case len(raw) < len(`\u0074ype`), raw[0] != '\\' && raw[0] != 't' && raw[0] != 'r':
		return nowhere
	case same(raw, "type"):
		return asType
	case same(raw, "reason"):
		return asReason
	}
	return nowhere
}
