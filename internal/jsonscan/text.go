package jsonscan

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/tailrace/tailrace/internal/utf8cut"
)

// Text returns the text of a raw string token, unescaped; ok is false for a token that
// is no string. A lone surrogate and bytes that are not UTF-8 read as U+FFFD.
func Text(token []byte) (text string, ok bool) {
	body, ok := unquote(token)
	if !ok {
		return "", false
	}
	if bytes.IndexByte(body, '\\') < 0 && utf8cut.Valid(body) {
		return string(body), true
	}
	out := make([]byte, 0, len(body))
	for len(body) > 0 {
		r, n := next(body)
		out = utf8.AppendRune(out, r) // U+FFFD for what is no character
		body = body[n:]
	}
	return string(out), true
}

// Is says whether a raw token is a string whose unescaped text is want, which is UTF-8. It
// allocates nothing.
func Is(token []byte, want string) bool {
	body, ok := unquote(token)
	if !ok || string(body) == want && strings.IndexByte(want, '\\') < 0 {
		return ok
	}
	return same(body, want)
}

// same says whether the body of a string token means want.
func same(body []byte, want string) bool {
	if len(body) > 0 && body[0] < 0x80 && body[0] != '\\' && (want == "" || body[0] != want[0]) {
		return false // as most do
	}
	for len(body) > 0 {
		r, n := next(body)
		if r < 0 {
			r = utf8.RuneError
		}
		w, size := utf8.DecodeRuneInString(want)
		if size == 0 || r != w {
			return false
		}
		body, want = body[n:], want[size:]
	}
	return want == ""
}

// unquote returns what lies between the quotes of a string token.
func unquote(token []byte) (body []byte, ok bool) {
	if len(token) < 2 || token[0] != '"' || token[len(token)-1] != '"' {
		return nil, false
	}
	return token[1 : len(token)-1], true
}

// letters has the characters of the escapes of two characters.
var letters = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// next reads one character of a string's body, which must not be empty: its value, or
// -1 for a lone surrogate or an invalid subpart, and its length in bytes.
func next(b []byte) (r rune, n int) {
	if b[0] < 0x80 && b[0] != '\\' {
		return rune(b[0]), 1
	}
	if b[0] != '\\' {
		n, ok := utf8cut.Next(b)
		if !ok {
			return -1, n
		}
		r, _ = utf8.DecodeRune(b)
		return r, n
	}
	u, ok := hex4(b, 0)
	switch {
	case !ok && len(b) > 1:
		return rune(letters[b[1]]), 2
	case !ok:
		return -1, 1
	case u&0xF800 != 0xD800:
		return rune(u), 6
	}
	if low, ok := hex4(b, 6); ok && u < 0xDC00 && low&0xFC00 == 0xDC00 {
		return (rune(u)-0xD800)<<10 + rune(low) - 0xDC00 + 0x10000, 12
	}
	return -1, 6
}
