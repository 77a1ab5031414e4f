// Package jsonscan checks in one pass whether a line is one strict JSON object
// (RFC 8259) within a depth, and notes what a log pipeline must know of it.
package jsonscan

// Info is what a scan learned of an object.
type Info struct {
	// Type and Reason are the raw value tokens of the last top-level member of that
	// name (names compared after unescaping, case-sensitively), as offsets into the
	// line; End is 0 where there is none. A string token includes its quotes.
	Type, Reason Span
	// Repair says that the object must go through [Repair]: it holds a lone surrogate
	// escape, bytes that are not UTF-8, or a raw CR between tokens.
	Repair bool
}

// Span is a half-open range of offsets.
type Span struct{ Start, End uint32 }

// Object scans line, which must begin with the object's brace and end with its brace:
// the caller trims the white space around it. maxDepth is the deepest nesting, where
// the outermost object is level 1. It allocates nothing and does not recurse.
func Object(line []byte, maxDepth int) (Info, bool) { panic("stub") }

// Repair appends the object raw to dst: each lone surrogate escape as \ufffd, each
// maximal invalid UTF-8 subpart as U+FFFD, each CR as a space. The rest is unchanged.
func Repair(dst, raw []byte) []byte { panic("stub") }

// Text returns the text of a raw string token, unescaped; ok is false for a token that
// is no string.
func Text(token []byte) (text string, ok bool) { panic("stub") }

// Is says whether a raw token is a string whose unescaped text is want. It allocates nothing.
func Is(token []byte, want string) bool { panic("stub") }
