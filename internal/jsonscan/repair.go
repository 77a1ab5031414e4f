package jsonscan

// Repair appends the object raw to dst: each lone surrogate escape as \ufffd, each
// maximal invalid UTF-8 subpart as U+FFFD, each CR or LF between tokens as a space. The
// rest is unchanged. raw must have been accepted by [Object].
func Repair(dst, raw []byte) []byte {
	start := 0
	for i := 0; i < len(raw); {
		c := raw[i]
		fix, n := "", 1
		switch {
		case c == '\r' || c == '\n':
			fix = " "
		case c == '\\' || c >= 0x80:
			var r rune
			if r, n = next(raw[i:]); r < 0 {
				fix = "\ufffd"
				if c == '\\' {
					fix = `\ufffd`
				}
			}
		}
		if fix != "" {
			dst = append(dst, raw[start:i]...)
			dst = append(dst, fix...)
			start = i + n
		}
		i += n
	}
	return append(dst, raw[start:]...)
}
