// Package utf8cut finds where UTF-8 text can be cut, and repairs what is not UTF-8.
//
// What is invalid is divided as the WHATWG decoder does it: one U+FFFD for each maximal
// subpart, the longest prefix of a possible code point, or else a single byte. All
// functions are pure and may run concurrently.
package utf8cut

// replacement is U+FFFD in UTF-8.
const replacement = "\ufffd"

// Complete returns the length of the longest prefix of b that does not end inside a
// code point: len(b), or 1 to 3 bytes less where b ends in a sequence that more bytes
// could still complete. Bytes that are invalid whatever follows stay.
func Complete(b []byte) int {
	for n := 1; n <= 3 && n <= len(b); n++ {
		c := b[len(b)-n]
		if c < 0x80 {
			return len(b)
		}
		if c >= 0xC0 {
			if open(b[len(b)-n:]) {
				return len(b) - n
			}
			return len(b)
		}
	}
	return len(b)
}

// open says whether b, which begins with a lead byte, is a proper prefix of a code point.
// Its third byte, where there is one, is a continuation byte.
func open(b []byte) bool {
	need, lo, hi := lead(b[0])
	if need <= len(b) {
		return false
	}
	return len(b) == 1 || lo <= b[1] && b[1] <= hi
}

// lead returns the length of the sequence that c begins and the range of its second
// byte; the length is 0 where c begins none.
func lead(c byte) (n int, lo, hi byte) {
	switch {
	case c < 0x80:
		return 1, 0, 0
	case c < 0xC2:
		return 0, 0, 0
	case c < 0xE0:
		return 2, 0x80, 0xBF
	case c == 0xE0:
		return 3, 0xA0, 0xBF
	case c == 0xED:
		return 3, 0x80, 0x9F
	case c < 0xF0:
		return 3, 0x80, 0xBF
	case c == 0xF0:
		return 4, 0x90, 0xBF
	case c < 0xF4:
		return 4, 0x80, 0xBF
	case c == 0xF4:
		return 4, 0x80, 0x8F
	}
	return 0, 0, 0
}

// Next returns the length of the code point or of the maximal invalid subpart at the
// start of b, which must not be empty.
func Next(b []byte) (n int, valid bool) {
	need, lo, hi := lead(b[0])
	if need <= 1 {
		return 1, need == 1
	}
	for n = 1; n < need; n++ {
		if n == len(b) || b[n] < lo || b[n] > hi {
			return n, false
		}
		lo, hi = 0x80, 0xBF
	}
	return need, true
}

// pieceBytes is how much [AppendValid] validates at once: valid pieces go by memmove.
const pieceBytes = 4 << 10

// AppendValid appends b to dst with U+FFFD in place of each maximal invalid subpart.
func AppendValid(dst, b []byte) []byte {
	for len(b) > 0 {
		piece := b
		if len(piece) > pieceBytes {
			piece = piece[:Complete(piece[:pieceBytes])]
		}
		if Valid(piece) {
			dst = append(dst, piece...)
		} else {
			dst = appendRepaired(dst, piece)
		}
		b = b[len(piece):]
	}
	return dst
}

func appendRepaired(dst, b []byte) []byte {
	start := 0
	for i := ASCII(b); i < len(b); i += ASCII(b[i:]) {
		n, ok := Next(b[i:])
		if !ok {
			dst = append(dst, b[start:i]...)
			dst = append(dst, replacement...)
			start = i + n
		}
		i += n
	}
	return append(dst, b[start:]...)
}
