package proptest

// decode replaces what is not UTF-8, the way the Encoding Standard describes its decoder:
// a byte at a time, with the range that the next byte must lie in (C4).
func decode(b []byte) []byte {
	var out []byte
	start, needed := 0, 0
	lower, upper := byte(0x80), byte(0xbf)
	for i := 0; i < len(b); i++ {
		c := b[i]
		if needed > 0 {
			if c >= lower && c <= upper {
				lower, upper = 0x80, 0xbf
				if needed--; needed == 0 {
					out = append(out, b[start:i+1]...)
				}
				continue
			}
			out = append(out, "\ufffd"...)
			needed, lower, upper = 0, 0x80, 0xbf
		}
		start = i
		switch {
		case c < 0x80:
			out = append(out, c)
		case c >= 0xc2 && c <= 0xdf:
			needed = 1
		case c >= 0xe0 && c <= 0xef:
			needed = 2
			if c == 0xe0 {
				lower = 0xa0
			} else if c == 0xed {
				upper = 0x9f
			}
		case c >= 0xf0 && c <= 0xf4:
			needed = 3
			if c == 0xf0 {
				lower = 0x90
			} else if c == 0xf4 {
				upper = 0x8f
			}
		default:
			out = append(out, "\ufffd"...)
		}
	}
	if needed > 0 {
		out = append(out, "\ufffd"...)
	}
	return out
}

// whole takes an unfinished code point off the end (C3): the decoder is asked whether
// more bytes could still complete what stands there.
func whole(b []byte) []byte {
	for n := 1; n <= 3 && n <= len(b); n++ {
		for _, rest := range []string{"\x80", "\x90", "\xa0", "\x80\x80", "\x90\x80", "\xa0\x80", "\x80\x80\x80", "\x90\x80\x80", "\xa0\x80\x80", "\x8f\x80", "\x9f\x80"} {
			tail := append(append([]byte{}, b[len(b)-n:]...), rest...)
			if b[len(b)-n] >= 0xc2 && string(decode(tail)) == string(tail) {
				return b[:len(b)-n]
			}
		}
	}
	return b
}
