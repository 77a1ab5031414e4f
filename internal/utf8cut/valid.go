package utf8cut

import (
	"encoding/binary"
	"math/bits"
)

// Validation runs a state machine over the bytes. Each byte has one word that holds the
// next state for every state, 6 bits each, at the bit offset that is the state's own
// number. So a step is one load and one shift, without a branch that text could
// mispredict, and several places of a text can be walked side by side.

// States, as offsets into the words.
const (
	accept = 6 * iota // between code points
	reject            // stays so
	tail1             // one continuation byte to go
	tail2             // two
	tail3             // three
	afterE0
	afterED
	afterF0
	afterF4
)

// steps has the word of each byte.
var steps = func() (table [256]uint64) {
	afterLead := map[byte]uint64{0xE0: afterE0, 0xED: afterED, 0xF0: afterF0, 0xF4: afterF4}
	for i := range table {
		c := byte(i)
		var row [9]uint64
		for state := range row {
			row[state] = reject
		}
		n, _, _ := lead(c)
		row[accept/6] = [...]uint64{reject, accept, tail1, tail2, tail3}[n]
		if state, ok := afterLead[c]; ok {
			row[accept/6] = state
		}
		if c&0xC0 == 0x80 {
			row[tail1/6], row[tail2/6], row[tail3/6] = accept, tail1, tail2
		}
		for first, state := range afterLead {
			if n, lo, hi := lead(first); lo <= c && c <= hi {
				row[state/6] = [...]uint64{3: tail1, 4: tail2}[n]
			}
		}
		for state, next := range row {
			table[i] |= next << (6 * state)
		}
	}
	return table
}()

const highs = 0x8080808080808080

// strideBytes is how much is walked before the next look for a run of ASCII.
const strideBytes = 512

// valid is Valid without the vector unit.
func valid(b []byte) bool {
	for {
		b = b[ASCII(b):]
		if len(b) == 0 {
			return true
		}
		n := border(b, strideBytes)
		if !walk(b[:n]) {
			return false
		}
		b = b[n:]
	}
}

// ASCII returns how many ASCII bytes b begins with.
func ASCII(b []byte) int {
	i := 0
	for ; i+32 <= len(b); i += 32 {
		q := b[i : i+32]
		w := binary.LittleEndian.Uint64(q) | binary.LittleEndian.Uint64(q[8:]) |
			binary.LittleEndian.Uint64(q[16:]) | binary.LittleEndian.Uint64(q[24:])
		if w&highs != 0 {
			break
		}
	}
	for ; i+8 <= len(b); i += 8 {
		if m := binary.LittleEndian.Uint64(b[i:]) & highs; m != 0 {
			return i + bits.TrailingZeros64(m)>>3
		}
	}
	for i < len(b) && b[i] < 0x80 {
		i++
	}
	return i
}

// border returns the first offset from n on where no continuation byte stands, or n+3:
// four in a row are invalid wherever they are divided.
func border(b []byte, n int) int {
	if n >= len(b) {
		return len(b)
	}
	for end := min(n+3, len(b)); n < end && b[n]&0xC0 == 0x80; {
		n++
	}
	return n
}

// walk validates b in three lanes that begin on borders.
func walk(b []byte) bool {
	if len(b) < 24 {
		return run(accept, b) == accept
	}
	third := len(b) / 3
	p := border(b, third)
	q := border(b, 2*third)
	n := min(p, q-p, len(b)-q)
	x, y, z := lanes(b[:n], b[p:p+n], b[q:q+n])
	return run(x, b[n:p])|run(y, b[p+n:q])|run(z, b[q+n:]) == accept
}

// lanes walks three texts of one length. It is a function of its own, so that all it
// holds fits the registers.
//
//go:noinline
func lanes(a, b, c []byte) (x, y, z uint64) {
	b, c = b[:len(a)], c[:len(a)]
	for i := range a {
		x = steps[a[i]] >> (x & 63)
		y = steps[b[i]] >> (y & 63)
		z = steps[c[i]] >> (z & 63)
	}
	return x, y, z
}

// run walks b from a state to the state at its end.
func run(state uint64, b []byte) uint64 {
	for _, c := range b {
		state = steps[c] >> (state & 63)
	}
	return state & 63
}
