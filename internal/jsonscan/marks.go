package jsonscan

import "encoding/binary"

const (
	ones   = 0x0101010101010101
	highs  = 0x8080808080808080
	sevens = 0x7F7F7F7F7F7F7F7F
)

// blockBytes is how many bytes one word of marks stands for.
const blockBytes = 64

// block returns the marks of the block at i: one bit for each quote, backslash and
// control character. To find them for a whole block first, instead of from string to
// string, lets the processor work on several words at a time.
func (s *scanner) block(i int) (marks uint64) {
	if rest := len(s.b) - i; rest < blockBytes {
		if len(s.b) < blockBytes {
			return s.short()
		}
		// The last whole block, without what was before.
		return s.block(len(s.b)-blockBytes) >> (blockBytes - rest)
	}
	b := s.b[i : i+blockBytes]
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
