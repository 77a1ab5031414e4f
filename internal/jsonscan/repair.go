package jsonscan

import (
	"unicode/utf8"

	"github.com/tailrace/tailrace/internal/utf8cut"
)

// Repair appends the object raw to dst: each lone surrogate escape as \ufffd, each
// maximal invalid UTF-8 subpart as U+FFFD, each CR or LF between tokens as a space. The
// rest is unchanged. raw must have been accepted by [Object].
func Repair(dst, raw []byte) []byte {
	start := 0
	put := func(i int, text string, n int) int {
		dst = append(append(dst, raw[start:i]...), text...)
		start = i + n
		return start
	}
	for i := 0; i < len(raw); {
		switch c := raw[i]; {
		case c == '\\':
			if raw[i+1] != 'u' {
				i += 2
				continue
			}
			u, _ := hex4(raw, i+2)
			switch {
			case u&0xFC00 == 0xD800 && lowAt(raw, i+6):
				i += 12
			case u&0xF800 == 0xD800:
				i = put(i, `\ufffd`, 6)
			default:
				i += 6
			}
		case c == '\r' || c == '\n':
			i = put(i, " ", 1)
		case c < utf8.RuneSelf:
			i++
		default:
			n, ok := utf8cut.Next(raw[i:])
			if ok {
				i += n
			} else {
				i = put(i, "\ufffd", n)
			}
		}
	}
	return append(dst, raw[start:]...)
}

// Text returns the text of a raw string token, unescaped; ok is false for a token that
// is no string. A lone surrogate and bytes that are not UTF-8 read as U+FFFD.
func Text(token []byte) (text string, ok bool) {
	body, ok := body(token)
	if !ok {
		return "", false
	}
	out := make([]byte, 0, len(body))
	for len(body) > 0 {
		r, n := next(body)
		out = utf8.AppendRune(out, r)
		body = body[n:]
	}
	return string(out), true
}

// Is says whether a raw token is a string whose unescaped text is want. It allocates nothing.
func Is(token []byte, want string) bool {
	body, ok := body(token)
	if !ok {
		return false
	}
	if string(body) == want && !hasEscape(body) {
		return utf8cut.Valid(body)
	}
	for len(body) > 0 {
		r, n := next(body)
		w, size := utf8.DecodeRuneInString(want)
		if size == 0 || r != w {
			return false
		}
		body, want = body[n:], want[size:]
	}
	return want == ""
}

func body(token []byte) ([]byte, bool) {
	if len(token) < 2 || token[0] != '"' || token[len(token)-1] != '"' {
		return nil, false
	}
	return token[1 : len(token)-1], true
}

// next reads one character of a string's body.
func next(b []byte) (r rune, n int) {
	if b[0] != '\\' || len(b) < 2 {
		n, ok := utf8cut.Next(b)
		if !ok {
			return utf8.RuneError, n
		}
		r, _ = utf8.DecodeRune(b)
		return r, n
	}
	switch b[1] {
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 't':
		return '\t', 2
	case 'u':
		u, _ := hex4(b, 2)
		switch {
		case u&0xFC00 == 0xD800 && lowAt(b, 6):
			low, _ := hex4(b, 8)
			return (rune(u)-0xD800)<<10 + rune(low) - 0xDC00 + 0x10000, 12
		case u&0xF800 == 0xD800:
			return utf8.RuneError, min(6, len(b))
		}
		return rune(u), min(6, len(b))
	}
	return rune(b[1]), 2
}
