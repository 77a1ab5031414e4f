// Package visible makes the text of logs safe to show on a terminal. Log text is written
// by others: an escape sequence in it could move the cursor, hide lines, set the title
// or make the terminal answer as if the user had typed, and invisible characters could
// make one text look like another.
package visible

import (
	"unicode/utf16"
	"unicode/utf8"
)

const hex = "0123456789abcdef"

// Append appends line to dst with everything that a terminal would act on, or not show,
// written as a visible escape: C0 controls except tab, DEL and single bytes that are not
// UTF-8 as \x1b, C1 controls as \x9b, and the characters that change the direction of
// text, have no width, or are tags as \u202e or \U000e0041. All other text stays as it
// is, the backslash included: the result is for reading, not for decoding. LF and CR
// are controls like the others, so give it one line without its line end.
func Append(dst, line []byte) []byte {
	start := 0
	for i := 0; i < len(line); {
		b := line[i]
		if b >= 0x20 && b < 0x7f || b == '\t' {
			i++
			continue
		}
		if b < utf8.RuneSelf {
			dst = append(dst, line[start:i]...)
			dst = appendByte(dst, b)
			i++
			start = i
			continue
		}
		r, size := utf8.DecodeRune(line[i:])
		if r == utf8.RuneError && size == 1 {
			dst = append(dst, line[start:i]...)
			dst = appendByte(dst, b)
			i++
			start = i
			continue
		}
		if hidden(r) {
			dst = append(dst, line[start:i]...)
			dst = appendRune(dst, r)
			start = i + size
		}
		i += size
	}
	return append(dst, line[start:]...)
}

// String returns s as [Append] writes it.
func String(s string) string { return string(Append(nil, []byte(s))) }

// hidden says whether a terminal would act on r, or show nothing for it.
func hidden(r rune) bool {
	switch {
	case r >= 0x80 && r <= 0x9f: // C1 controls
	case r == 0xad: // soft hyphen
	case r == 0x61c: // Arabic letter mark
	case r == 0x115f || r == 0x1160 || r == 0x3164 || r == 0xffa0: // Hangul fillers
	case r == 0x180e: // Mongolian vowel separator
	case r >= 0x200b && r <= 0x200f: // zero width, direction marks
	case r >= 0x2028 && r <= 0x202e: // line and paragraph separator, bidi embeddings
	case r >= 0x2060 && r <= 0x206f: // word joiner, invisible operators, bidi isolates
	case r == 0xfeff: // byte order mark
	case r >= 0xfff9 && r <= 0xfffb: // interlinear annotation
	case r >= 0xe0000 && r <= 0xe0fff: // tags, and what is reserved beside them
	default:
		return false
	}
	return true
}

func appendByte(dst []byte, b byte) []byte {
	return append(dst, '\\', 'x', hex[b>>4], hex[b&15])
}

func appendRune(dst []byte, r rune) []byte {
	switch {
	case r <= 0xff:
		return appendByte(dst, byte(r))
	case r <= 0xffff:
		return appendUnit(dst, r)
	}
	dst = append(dst, '\\', 'U')
	for shift := 28; shift >= 0; shift -= 4 {
		dst = append(dst, hex[r>>shift&15])
	}
	return dst
}

// AppendJSON appends JSON text to dst with what [Append] makes visible, line ends apart,
// written as the escapes that JSON has for it: the text stays JSON, and its value the
// same. It is for valid UTF-8 without raw controls in its strings, as events are.
func AppendJSON(dst, text []byte) []byte {
	start := 0
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		if r == 0x7f || r >= 0x80 && hidden(r) {
			dst = append(dst, text[start:i]...)
			if high, low := utf16.EncodeRune(r); high != utf8.RuneError {
				dst = appendUnit(appendUnit(dst, high), low)
			} else {
				dst = appendUnit(dst, r)
			}
			start = i + size
		}
		i += size
	}
	return append(dst, text[start:]...)
}

func appendUnit(dst []byte, r rune) []byte {
	return append(dst, '\\', 'u', hex[r>>12&15], hex[r>>8&15], hex[r>>4&15], hex[r&15])
}
