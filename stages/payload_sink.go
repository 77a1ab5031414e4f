package stages

import (
	"io"
	"strconv"

	"github.com/tailrace/tailrace/internal/jsonstr"
	"github.com/tailrace/tailrace/internal/utf8cut"
)

// A sink takes the pieces of a form: it counts or writes them, as they are or escaped
// once more.
type sink struct {
	count, escape bool

	n       int
	dst     []byte
	scratch []byte

	to  io.Writer // where dst goes piece by piece; nil where it stays
	err error     // the first one of to
}

// pieceBytes is from how many bytes on a piece is written.
const pieceBytes = 32 << 10

// spill writes what there is, where it goes somewhere and is worth a write.
func (s *sink) spill(least int) {
	if s.to == nil || len(s.dst) < least {
		return
	}
	if s.err == nil && len(s.dst) > 0 {
		_, s.err = s.to.Write(s.dst)
	}
	s.dst = s.dst[:0]
}

// text takes a piece of JSON without control characters.
func (s *sink) text(t string) {
	switch {
	case s.count:
		s.n += len(t)
		if s.escape {
			s.n += escapes(t)
		}
	case s.escape:
		for i := range len(t) {
			if t[i] == '"' || t[i] == '\\' {
				s.dst = append(s.dst, '\\')
			}
			s.dst = append(s.dst, t[i])
		}
	default:
		s.dst = append(s.dst, t...)
	}
}

// escapes counts the quotes and backslashes of t.
func escapes(t string) (n int) {
	for i := range len(t) {
		if t[i] == '"' || t[i] == '\\' {
			n++
		}
	}
	return n
}

// scratchBytes is how much of a string is escaped at a time where it is escaped twice.
const scratchBytes = 8 << 10

// str takes the text of a JSON string, not yet escaped.
func (s *sink) str(b []byte) {
	switch {
	case s.count && s.escape:
		s.n += jsonstr.Len2(b)
	case s.count:
		s.n += jsonstr.Len(b)
	case s.escape:
		for len(b) > scratchBytes {
			n := utf8cut.Complete(b[:scratchBytes])
			s.twice(b[:n])
			b = b[n:]
		}
		s.twice(b)
	default:
		for s.to != nil && len(b) > pieceBytes {
			n := utf8cut.Complete(b[:pieceBytes])
			s.dst = jsonstr.Append(s.dst, b[:n])
			b = b[n:]
			s.spill(pieceBytes)
		}
		s.dst = jsonstr.Append(s.dst, b)
		s.spill(pieceBytes)
	}
}

// part takes a string whose escaped length may be known.
func (s *sink) part(p *part) {
	if s.count && !s.escape {
		s.n += p.size()
	} else {
		s.str(p.kept())
	}
}

func (s *sink) twice(b []byte) {
	if len(b) == 0 {
		return
	}
	s.scratch = jsonstr.Append(s.scratch[:0], b)
	s.dst = jsonstr.Append(s.dst, s.scratch)
}

// json takes a JSON value.
func (s *sink) json(b []byte) {
	switch {
	case s.count && s.escape:
		s.n += jsonstr.Len(b)
	case s.count:
		s.n += len(b)
	case s.escape:
		s.dst = jsonstr.Append(s.dst, b)
	default:
		s.dst = append(s.dst, b...)
		s.spill(pieceBytes)
	}
}

// list takes the first n events of l, of which there is at least one, and their size.
func (s *sink) list(l *EventList, n, size int) {
	switch {
	case s.escape, s.to != nil:
		i := 0
		for raw := range l.All() {
			if i > 0 {
				s.text(`,`)
			}
			s.json(raw)
			if i++; i == n {
				break
			}
		}
	case s.count:
		s.n += size
	default:
		s.dst = l.AppendJSON(s.dst, n)
	}
}

func (s *sink) num(v int64) {
	var b [20]byte
	s.json(strconv.AppendInt(b[:0], v, 10))
}

func (s *sink) bool(v bool) {
	if v {
		s.text(`true`)
	} else {
		s.text(`false`)
	}
}

func (s *sink) optional(v *int64) {
	if v == nil {
		s.text(`null`)
	} else {
		s.num(*v)
	}
}
