// Package jsonstr writes bytes as the body of a JSON string, and knows the length of
// what it would write.
//
// Escaped are only the quote, the backslash and the control characters below U+0020
// (short forms \b \f \n \r \t where they exist, \u00xx otherwise). Nothing is escaped
// for HTML. Bytes that are not UTF-8 become U+FFFD, one for each maximal invalid subpart.
package jsonstr

// Append appends the escaped form of s to dst, without quotes.
func Append(dst, s []byte) []byte { panic("stub") }

// Len returns the length of what Append would append.
func Len(s []byte) int { panic("stub") }

// Len2 returns the length of s escaped twice: Len of what Append would append.
func Len2(s []byte) int { panic("stub") }

// Cut returns the length of the longest prefix of s that ends on a border of a code
// point (or of a maximal invalid subpart) and whose escaped form takes at most room bytes.
func Cut(s []byte, room int) int { panic("stub") }
