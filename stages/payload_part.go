package stages

import (
	"github.com/tailrace/tailrace/internal/jsonstr"
	"github.com/tailrace/tailrace/internal/utf8cut"
)

// A part is a prefix of a long text, with its escaped length once that is known. Counting
// is a walk over the text, so it is done when needed, and once.
type part struct {
	all     []byte
	n       int // bytes kept
	escaped int // length of what is kept, escaped; -1 where it is not known
}

func wholePart(b []byte) part { return part{all: b, n: len(b), escaped: -1} }

// kept returns the bytes that are kept.
func (p *part) kept() []byte { return p.all[:p.n] }

// size returns the escaped length of what is kept.
func (p *part) size() int {
	if p.escaped < 0 {
		p.escaped = jsonstr.Len(p.kept())
	}
	return p.escaped
}

// drop keeps nothing.
func (p *part) drop() { p.n, p.escaped = 0, 0 }

// partBlock is how many bytes are counted at a time on the way to a cut.
const partBlock = 16 << 10

// cut keeps the longest prefix of the whole text whose escaped form takes at most room
// bytes. It counts in blocks and looks for the border in the last one only, so that the
// length is known at the end too.
func (p *part) cut(room int) {
	p.drop()
	for p.n < len(p.all) {
		block := p.all[p.n:]
		if len(block) > partBlock {
			block = block[:utf8cut.Complete(block[:partBlock])]
		}
		size := jsonstr.Len(block)
		if left := room - p.escaped; size > left {
			block = block[:jsonstr.Cut(block, left)]
			p.n, p.escaped = p.n+len(block), p.escaped+jsonstr.Len(block)
			return
		}
		p.n, p.escaped = p.n+len(block), p.escaped+size
	}
}

// floor keeps the longest prefix that ends on a border of a code point and is at most
// limit bytes long as a string, before it is escaped.
func (p *part) floor(limit int) {
	n := 0
	for n < len(p.all) {
		w, ok := utf8cut.Next(p.all[n:])
		cost := w
		if !ok {
			cost = len("\ufffd")
		}
		if limit -= cost; limit < 0 {
			break
		}
		n += w
	}
	p.n, p.escaped = n, -1
}
