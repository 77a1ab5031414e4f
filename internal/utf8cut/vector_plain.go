//go:build !amd64 || purego

package utf8cut

// Valid says whether b is UTF-8 (RFC 3629: no surrogates, nothing overlong, at most U+10FFFF).
func Valid(b []byte) bool { return valid(b) }
