package jsonscan

import (
	"encoding/binary"

	"github.com/tailrace/tailrace/internal/vector"
)

const (
	ones   = 0x0101010101010101
	highs  = 0x8080808080808080
	sevens = 0x7F7F7F7F7F7F7F7F
)

// blockBytes is how many bytes one word of marks stands for.
const blockBytes = vector.MarkBytes

// windowBlocks is how many blocks are looked at at once.
const windowBlocks = 16

// block returns the marks of the block at i: one bit for each quote, backslash and
// control character. To find them for many blocks first, instead of from string to
// string, lets the processor work on several words at a time. Blocks are asked for one
// after the other.
func (s *scanner) block(i int) (marks uint64) {
	k := i / blockBytes % windowBlocks
	if k == 0 {
		s.fill(i)
	}
	return s.window[k]
}

// fill looks at the blocks from i on.
func (s *scanner) fill(i int) {
	if len(s.b) < blockBytes {
		s.window[0] = s.short()
		return
	}
	b := s.b[i:]
	whole := min(len(b)/blockBytes, windowBlocks)
	s.mark(s.window[:whole], b)
	if rest := len(b) - whole*blockBytes; rest > 0 && whole < windowBlocks {
		// The last whole block, without what was before.
		s.mark(s.window[whole:whole+1], s.b[len(s.b)-blockBytes:])
		s.window[whole] >>= blockBytes - rest
	}
}

// mark sets the marks of as many blocks as dst has words.
func (s *scanner) mark(dst []uint64, b []byte) {
	n, high := vector.Marks(dst, b)
	if high {
		s.all |= highs
	}
	for k := n / blockBytes; k < len(dst); k++ {
		dst[k] = s.plain(b[k*blockBytes:])
	}
}

// plain returns the marks of the first block of b.
func (s *scanner) plain(b []byte) uint64 {
	b = b[:blockBytes]
	w0, w1 := binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])
	w2, w3 := binary.LittleEndian.Uint64(b[16:]), binary.LittleEndian.Uint64(b[24:])
	w4, w5 := binary.LittleEndian.Uint64(b[32:]), binary.LittleEndian.Uint64(b[40:])
	w6, w7 := binary.LittleEndian.Uint64(b[48:]), binary.LittleEndian.Uint64(b[56:])
	s.all |= w0 | w1 | w2 | w3 | w4 | w5 | w6 | w7
	return mark(w0) | mark(w1)<<8 | mark(w2)<<16 | mark(w3)<<24 |
		mark(w4)<<32 | mark(w5)<<40 | mark(w6)<<48 | mark(w7)<<56
}

// short is block for a line of less than one.
func (s *scanner) short() (marks uint64) {
	for k, c := range s.b {
		s.all |= uint64(c)
		if c == '"' || c == '\\' || c < ' ' {
			marks |= 1 << k
		}
	}
	return marks
}

// mark has a bit for each byte of w that is a quote, a backslash or a control character.
func mark(w uint64) uint64 {
	low := w & sevens
	// The high bit of each byte: clear only where the byte is one of those meant.
	plain := (low^ones*'"'+sevens)&(low^ones*'\\'+sevens)&(low+ones*0x60) | w
	// The product gathers the high bits in the highest byte.
	return (^plain & highs) * 0x0002040810204081 >> 56
}
