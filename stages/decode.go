package stages

import (
	"bytes"
	"iter"

	"github.com/tailrace/tailrace/internal/jsonscan"
	"github.com/tailrace/tailrace/pipeline"
)

var bom = []byte("\ufeff")

// A Decoder turns lines into events. A line that is one whole JSON object (RFC 8259,
// nested at most MaxDepth deep) is an event, with or without a type; any other line is
// dropped, which is no error. A BOM at the start of a line and space, tab or CR around
// it are no part of the event.
//
// The zero value is ready. A Decoder serves one run. Events are sub-slices of their
// lines; only one that had to be repaired (a lone surrogate escape, bytes that are not
// UTF-8) is a copy.
type Decoder struct {
	// MaxDepth is the deepest nesting of an event, where the object itself is level 1.
	// 0 means [pipeline.MaxDepth]; the most is 1024.
	MaxDepth int

	in, kept int64
}

// Apply is the stage.
func (d *Decoder) Apply(in iter.Seq[Line]) iter.Seq[Event] {
	return func(yield func(Event) bool) {
		depth := d.MaxDepth
		if depth == 0 {
			depth = pipeline.MaxDepth
		}
		for line := range in {
			d.in += int64(len(line.Data))
			raw := trim(line.Data)
			info, ok := jsonscan.Object(raw, depth)
			if !ok {
				continue
			}
			d.kept += int64(len(raw))
			if !yield(decoded(raw, info)) {
				return
			}
		}
	}
}

// trim takes a BOM and the white space around a line off.
func trim(b []byte) []byte {
	b = bytes.TrimPrefix(b, bom)
	for len(b) > 0 && isSpace(b[0]) {
		b = b[1:]
	}
	for len(b) > 0 && isSpace(b[len(b)-1]) {
		b = b[:len(b)-1]
	}
	return b
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\r' }

func decoded(raw []byte, info jsonscan.Info) Event {
	e := Event{Raw: raw}
	if info.Type.End != 0 {
		e.Kind = kindOf(raw[info.Type.Start:info.Type.End])
	}
	if info.Reason.End != 0 {
		e.Reason = reasonOf(raw[info.Reason.Start:info.Reason.End])
	}
	if info.Repair {
		e.Raw = jsonscan.Repair(make([]byte, 0, len(raw)+16), raw)
	}
	return e
}

func kindOf(token []byte) Kind {
	switch {
	case jsonscan.Is(token, "log"):
		return KindLog
	case jsonscan.Is(token, "start"):
		return KindStart
	case jsonscan.Is(token, "heartbeat"):
		return KindHeartbeat
	case jsonscan.Is(token, "error"):
		return KindError
	case jsonscan.Is(token, "end"):
		return KindEnd
	}
	return KindOther
}

func reasonOf(token []byte) Reason {
	if jsonscan.Is(token, "eof") || jsonscan.Is(token, "closed") {
		return ReasonClean
	}
	return ReasonOther
}

// Report says what became events, after the run.
func (d *Decoder) Report() pipeline.Report {
	return pipeline.Report{Stage: "decoder", Ledger: pipeline.Ledger{In: d.in, Kept: d.kept, Dropped: d.in - d.kept}}
}
