package stages

// adjacent returns a and b as one slice where b lies right behind a in the same memory,
// as the chunks of a source that reads into one buffer do. It copies nothing.
func adjacent(a, b []byte) ([]byte, bool) {
	if len(a) == 0 {
		return b, true
	}
	n := len(a) + len(b)
	if cap(a) < n || len(b) == 0 || &a[:len(a)+1][len(a)] != &b[0] {
		return nil, false
	}
	return a[:n], true
}
