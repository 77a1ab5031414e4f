package stages

import (
	"bytes"
	"iter"

	"github.com/tailrace/tailrace/pipeline"
)

// A Line is one line of a stream.
type Line struct {
	// Data is the line without its LF. A CR before the LF is part of it. It is valid
	// until the source is closed.
	Data []byte
	// Terminated says that an LF ended the line. Only the last line of a stream that
	// ended by itself can lack one.
	Terminated bool
}

// A LineSplitter turns the chunks of one stream into lines. A line ends at LF and at
// nothing else, and may be as long as the run. Chunks of the other stream are passed
// over. At a cut the unfinished last line is dropped; at a natural end it is a line.
//
// The zero value splits stdout. A LineSplitter serves one run. Lines inside one chunk,
// and lines across chunks that are adjacent in memory, are not copied.
type LineSplitter struct {
	// Stream is the stream to split.
	Stream pipeline.Stream

	in, lines, dropped int64
	consumed           int64
	// open is the unfinished line so far: source memory, or own where it had to be gathered.
	open []byte
	own  bool
}

// Apply is the stage.
func (s *LineSplitter) Apply(in iter.Seq[pipeline.Chunk]) iter.Seq[Line] {
	return func(yield func(Line) bool) {
		for chunk := range in {
			if chunk.Stream == s.Stream && len(chunk.Data) > 0 && !s.split(chunk.Data, yield) {
				return
			}
			if chunk.Cut {
				return
			}
		}
		if len(s.open) > 0 {
			last := s.open
			s.open = nil
			s.pass(len(last), 0)
			yield(Line{Data: last})
		}
	}
}

// split yields the lines that end in data, and keeps what follows the last LF.
func (s *LineSplitter) split(data []byte, yield func(Line) bool) bool {
	s.in += int64(len(data))
	for {
		// Only new bytes are searched, so one long line in many chunks costs no more than its bytes.
		i := bytes.IndexByte(data, '\n')
		if i < 0 {
			s.keep(data)
			return true
		}
		line := data[:i]
		if len(s.open) > 0 {
			s.keep(line)
			line = s.open
			s.open, s.own = nil, false
		}
		data = data[i+1:]
		s.pass(len(line), 1)
		if !yield(Line{Data: line, Terminated: true}) {
			return false
		}
		if len(data) == 0 {
			return true
		}
	}
}

func (s *LineSplitter) pass(n, lf int) {
	s.lines += int64(n)
	s.dropped += int64(lf)
	s.consumed += int64(n + lf)
}

// keep puts b behind the unfinished line.
func (s *LineSplitter) keep(b []byte) {
	if len(b) == 0 {
		return
	}
	if !s.own {
		if joined, ok := adjacent(s.open, b); ok {
			s.open = joined
			return
		}
		s.open, s.own = append(make([]byte, 0, 2*(len(s.open)+len(b))), s.open...), true
	}
	s.open = append(s.open, b...)
}

// Consumed returns the offset in the stream behind the last line that was yielded, its
// LF included.
func (s *LineSplitter) Consumed() int64 { return s.consumed }

// Report says what became lines, after the run.
func (s *LineSplitter) Report() pipeline.Report {
	return pipeline.Report{Stage: "line splitter", Ledger: pipeline.Ledger{
		In: s.in, Kept: s.lines, Dropped: s.dropped, Cut: s.in - s.lines - s.dropped,
	}}
}
