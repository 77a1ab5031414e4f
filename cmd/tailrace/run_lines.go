package main

import (
	"bytes"
	"iter"

	"github.com/tailrace/tailrace/pipeline"
)

// An originals keeps the lines of stdout that --lines wraps, as they were, until they
// are shown. An event cannot give them back: it has no CR, no bytes that are not UTF-8,
// and does not say whether an LF was there. Each line that goes into the wrapper comes
// out as one line, so the n-th line that was kept shows the n-th original.
type originals struct {
	queue [][]byte // pieces of stdout, in the memory of the source
	open  []byte   // what was kept of a line whose end is not there yet
}

// Apply stands before the wrapper.
func (o *originals) Apply(in iter.Seq[pipeline.Chunk]) iter.Seq[pipeline.Chunk] {
	return func(yield func(pipeline.Chunk) bool) {
		for c := range in {
			if c.Stream == pipeline.Stdout && len(c.Data) > 0 {
				o.queue = append(o.queue, c.Data)
			}
			if !yield(c) {
				return
			}
		}
	}
}

// of appends the original lines of kept, which is what was kept of the wrapper's output.
func (o *originals) of(dst, kept []byte) []byte {
	for len(kept) > 0 {
		i := bytes.IndexByte(kept, '\n')
		if i < 0 {
			o.open = append(o.open, kept...)
			return dst
		}
		kept, o.open = kept[i+1:], o.open[:0]
		dst = o.next(dst)
	}
	return dst
}

// rest appends what was kept of the last line: the line as far as it passed unwrapped,
// nothing of one of which only a part of the event was kept.
func (o *originals) rest(dst []byte) []byte {
	line := o.next(nil)
	if !bytes.HasPrefix(line, o.open) {
		return dst
	}
	return append(dst, o.open...)
}

// next appends the next line, its LF included where it has one.
func (o *originals) next(dst []byte) []byte {
	for len(o.queue) > 0 {
		piece := o.queue[0]
		if i := bytes.IndexByte(piece, '\n'); i >= 0 {
			if o.queue[0] = piece[i+1:]; len(o.queue[0]) == 0 {
				o.queue = o.queue[1:]
			}
			return append(dst, piece[:i+1]...)
		}
		o.queue = o.queue[1:]
		dst = append(dst, piece...)
	}
	return dst
}
