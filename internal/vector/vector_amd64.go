//go:build amd64 && !purego

package vector

import "golang.org/x/sys/cpu"

var enabled = available()

func available() bool { return cpu.X86.HasAVX2 && cpu.X86.HasPOPCNT }

// Enable says whether the functions do anything at all, and returns what was so before.
// Where the machine lacks AVX2 they never do. Tests use it to compare the plain loops.
func Enable(on bool) (was bool) {
	was, enabled = enabled, on && available()
	return was
}

// On says whether the functions do anything.
func On() bool { return enabled }

// Marks sets a bit in dst for each quote, backslash and control character of src, for as
// many whole blocks of [MarkBytes] as both hold. high says whether a byte of them was
// not ASCII.
func Marks(dst []uint64, src []byte) (n int, high bool) {
	blocks := min(len(dst), len(src)/MarkBytes)
	if !enabled || blocks == 0 {
		return 0, false
	}
	return blocks * MarkBytes, marksAVX2(&dst[0], &src[0], blocks)
}

// Count counts in the first n bytes of src. high says whether a byte of them was not ASCII.
func Count(src []byte) (c Counts, n int, high bool) {
	blocks := len(src) / blockBytes
	if !enabled || blocks == 0 {
		return Counts{}, 0, false
	}
	c.Quotes, c.Shorts, c.Controls, high = countAVX2(&src[0], blocks)
	return c, blocks * blockBytes, high
}

// Escape writes the first read bytes of src to dst with a backslash before each quote and
// backslash, and the short forms of control characters. It stops before a block that
// holds a control character without one. dst must have twice the length of src: all of
// that may be overwritten. high says whether a byte of what was read is not ASCII.
func Escape(dst, src []byte) (written, read int, high bool) {
	blocks := len(src) / blockBytes
	if !enabled || blocks == 0 {
		return 0, 0, false
	}
	_ = dst[2*len(src)-1]
	written, left, high := escapeAVX2(&dst[0], &src[0], blocks)
	return written, (blocks - left) * blockBytes, high
}

// Commas copies the first n bytes of src to dst, which must be as long, with a comma for
// each LF.
func Commas(dst, src []byte) (n int) {
	blocks := len(src) / blockBytes
	if !enabled || blocks == 0 {
		return 0
	}
	_ = dst[len(src)-1]
	commasAVX2(&dst[0], &src[0], blocks)
	return blocks * blockBytes
}
