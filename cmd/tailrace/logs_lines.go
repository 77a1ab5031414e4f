package main

import (
	"bytes"

	"github.com/tailrace/tailrace/internal/logline"
	"github.com/tailrace/tailrace/internal/utf8cut"
)

// maxLogLine is the longest line, in bytes, that becomes one event. A longer one becomes
// several, so that nothing of it is lost and memory stays bounded.
const maxLogLine = 8 << 20

// A lineSplitter makes lines of the pieces that one stream arrives in. Where the pieces
// are cut changes nothing of the lines. The zero value is ready.
type lineSplitter struct {
	held []byte // the begin of a line whose end has not arrived
}

// feed calls emit for each line that ends in data, without its LF and without one CR
// before it. The lines are valid during the call only.
func (s *lineSplitter) feed(data []byte, emit func(line []byte)) {
	for {
		i := bytes.IndexByte(data, '\n')
		if i < 0 {
			break
		}
		line := data[:i]
		if len(s.held) > 0 {
			s.held = append(s.held, line...)
			line = s.held
		}
		emitLine(line, emit)
		s.held = s.held[:0]
		data = data[i+1:]
	}
	s.held = append(s.held, data...)
	// One byte more than the bound is needed to know that the line is longer, and the CR
	// of a line end is not known to be one before its LF is there.
	for len(s.held) > maxLogLine+1 {
		n := pieceLength(s.held)
		emit(s.held[:n])
		s.held = s.held[:copy(s.held, s.held[n:])]
	}
}

// end emits what is left when the stream ended by itself: a last line without LF.
func (s *lineSplitter) end(emit func(line []byte)) {
	if len(s.held) > 0 {
		emitLine(s.held, emit)
	}
	s.held = nil
}

func emitLine(line []byte, emit func(line []byte)) {
	line = bytes.TrimSuffix(line, []byte{'\r'})
	for len(line) > maxLogLine {
		n := pieceLength(line)
		emit(line[:n])
		line = line[n:]
	}
	emit(line)
}

// pieceLength returns where a line that is too long is cut: not inside a code point.
func pieceLength(line []byte) int {
	if n := utf8cut.Complete(line[:maxLogLine]); n > 0 {
		return n
	}
	return maxLogLine
}

// maxHeldBytes bounds what is kept of a command's output for its last lines.
const maxHeldBytes = 64 << 20

// lastLines keeps the last lines that it is given: at most n of them, and at most
// maxHeldBytes bytes. n is positive.
type lastLines struct {
	n     int
	ring  []heldLine // grows to n; wraps only then
	first int        // index of the oldest line
	count int
	held  int // the capacity of all texts in the ring
	// short says that lines were dropped for their bytes, though fewer than n are held.
	short bool
}

// A heldLine is a record whose line is in memory of its own.
type heldLine struct {
	text   []byte
	record logline.Record
}

func (l *lastLines) add(r logline.Record) {
	line := r.Line
	if l.count == l.n {
		l.drop(2*len(line) + 256)
	}
	for l.count > 0 && l.held+len(line) > maxHeldBytes {
		l.drop(0)
		l.short = true
	}
	if len(l.ring) < l.n && l.first+l.count == len(l.ring) {
		l.ring = append(l.ring, heldLine{})
	}
	slot := &l.ring[(l.first+l.count)%len(l.ring)]
	l.held -= cap(slot.text)
	slot.text = append(slot.text[:0], line...)
	slot.record = r
	slot.record.Line = slot.text
	l.held += cap(slot.text)
	l.count++
}

// drop forgets the oldest line. It leaves memory of up to keep bytes in its slot, which
// the next line uses.
func (l *lastLines) drop(keep int) {
	slot := &l.ring[l.first]
	if cap(slot.text) > keep {
		l.held -= cap(slot.text)
		slot.text = nil
		slot.record = logline.Record{}
	}
	l.first = (l.first + 1) % len(l.ring)
	l.count--
}

// each calls emit for each line, the oldest first, until it returns false.
func (l *lastLines) each(emit func(logline.Record) bool) {
	for i := range l.count {
		if !emit(l.ring[(l.first+i)%len(l.ring)].record) {
			return
		}
	}
}
