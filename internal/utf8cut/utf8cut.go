// Package utf8cut finds where UTF-8 text can be cut, and repairs what is not UTF-8.
package utf8cut

// Complete returns the length of the longest prefix of b that does not end inside a
// code point: len(b), or 1 to 3 bytes less where b ends in a sequence that more bytes
// could still complete.
func Complete(b []byte) int { panic("stub") }

// Valid says whether b is UTF-8 (RFC 3629: no surrogates, nothing overlong, at most U+10FFFF).
func Valid(b []byte) bool { panic("stub") }

// Next returns the length of the code point or of the maximal invalid subpart (as the
// WHATWG decoder takes it) at the start of b, which must not be empty.
func Next(b []byte) (n int, valid bool) { panic("stub") }

// AppendValid appends b to dst with U+FFFD in place of each maximal invalid subpart.
func AppendValid(dst, b []byte) []byte { panic("stub") }
