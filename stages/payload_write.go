package stages

import (
	"io"
	"slices"

	"github.com/tailrace/tailrace/pipeline"
)

// CutNote is the line that ends the stderr of a payload that a [Budget] cut.
const CutNote = "[tailrace] this result was cut to fit its size limit; ask for less: fewer events, a shorter time range, one service\n"

// The texts of a payload that only a last resort cuts, in the order in which it does.
const (
	textCommand = iota
	textMessage
	textReason
	textCode
	textStop
	textCount
)

// A form is what is written of one payload: how long a prefix of each part, and what
// says that it was cut. It is a value; fitting copies and changes it.
type form struct {
	p              *Payload
	stdout, stderr part
	texts          [textCount][]byte

	events, eventBytes int // events kept, and their size

	cut      bool  // the budget cut something: flag and note
	bareNote bool  // cut, but without room for the note
	noData   bool  // the data member is omitted
	limit    int64 // the byte limit that is told where events were dropped
}

// formOf returns the form of the whole payload. The texts are copied to bytes once, in
// one allocation.
func formOf(p *Payload, limit int64) form {
	f := form{p: p, stdout: wholePart(p.Stdout), stderr: wholePart(p.Stderr), limit: limit}
	var from [textCount]string
	from[textCommand] = p.Command
	if e := p.Error; e != nil {
		from[textMessage], from[textReason], from[textCode] = e.Message, e.Reason, e.Code
	}
	if l := p.Log; l != nil {
		f.keepEvents(l.len())
		if l.Tail {
			from[textStop] = string(l.StopReason)
		}
	}
	size := 0
	for _, s := range from {
		size += len(s)
	}
	all := make([]byte, 0, size)
	for i, s := range from {
		n := len(all)
		all = append(all, s...)
		f.texts[i] = all[n:]
	}
	return f
}

func (l *LogData) len() int {
	if l.Events == nil {
		return 0
	}
	return l.Events.Len()
}

// keepEvents keeps the first n events. Their size is looked up here, once: it takes a walk.
func (f *form) keepEvents(n int) {
	f.events, f.eventBytes = n, 0
	if n > 0 {
		f.eventBytes = f.p.Log.Events.Size(n)
	}
}

// dropped says whether events are missing from the form.
func (f *form) dropped() bool { return f.p.Log != nil && f.events < f.p.Log.len() }

// separator says whether the note needs a line end before it.
func (f *form) separator() bool {
	kept := f.stderr.kept()
	return len(kept) > 0 && kept[len(kept)-1] != '\n'
}

// emit hands the form to s, piece by piece. It is the only place that knows the shape:
// counting and writing both go through it, so they cannot differ.
func (f *form) emit(s *sink) {
	p := f.p
	s.text(`{"ok":`)
	s.bool(p.OK)
	if f.cut || p.OutputTruncated {
		s.text(`,"outputTruncated":true`)
	}
	s.text(`,"command":"`)
	s.str(f.texts[textCommand])
	s.text(`","exitCode":`)
	s.num(int64(p.ExitCode))
	s.text(`,"stdout":"`)
	s.part(&f.stdout)
	s.text(`","stderr":"`)
	s.part(&f.stderr)
	if f.cut && !f.bareNote {
		if f.separator() {
			s.text(`\n`)
		}
		s.text(CutNote[:len(CutNote)-1])
		s.text(`\n`)
	}
	s.text(`"`)
	switch {
	case f.noData:
	case p.Log != nil:
		s.text(`,"data":`)
		f.emitLog(s, p.Log)
	case p.Data != nil:
		s.text(`,"data":`)
		s.json(p.Data)
	}
	if p.NotSpawned {
		s.text(`,"spawned":false`)
	}
	if p.Error != nil {
		s.text(`,"error":{"code":"`)
		s.str(f.texts[textCode])
		s.text(`","reason":"`)
		s.str(f.texts[textReason])
		s.text(`","message":"`)
		s.str(f.texts[textMessage])
		s.text(`"}`)
	}
	s.text(`}`)
}

func (f *form) emitLog(s *sink, l *LogData) {
	s.text(`{"events":[`)
	if f.events > 0 {
		s.list(l.Events, f.events, f.eventBytes)
	}
	s.text(`],"count":`)
	s.num(int64(f.events))
	s.text(`,"cutoff":`)
	cutoff := l.Cutoff
	if f.dropped() {
		cutoff = pipeline.Cutoff{Bound: pipeline.BytesBound, Limit: f.limit}
	}
	if cutoff.Bound == pipeline.NoBound || !f.p.OK {
		s.text(`null`)
	} else {
		s.text(`{"bound":"`)
		s.text(cutoff.Bound.String())
		s.text(`","limit":`)
		s.num(cutoff.Limit)
		s.text(`}`)
	}
	if l.Tail {
		s.text(`,"stop_reason":"`)
		s.str(f.texts[textStop])
		s.text(`","duration_ms":`)
		s.num(l.DurationMs)
	}
	s.text(`,"limits":{"tail":`)
	s.optional(l.Limits.Tail)
	if l.Tail {
		s.text(`,"maxEvents":`)
		s.optional(l.Limits.MaxEvents)
		s.text(`,"maxMs":`)
		s.optional(l.Limits.MaxMs)
	}
	s.text(`}}`)
}

// size returns the length of the form as JSON.
func (f *form) size() int {
	s := sink{count: true}
	f.emit(&s)
	return s.n
}

// escapedSize returns the length of the form as the body of a JSON string.
func (f *form) escapedSize() int {
	s := sink{count: true, escape: true}
	f.emit(&s)
	return s.n
}

// append appends the form to dst as JSON.
func (f *form) append(dst []byte) []byte {
	s := sink{dst: dst}
	f.emit(&s)
	return s.dst
}

// appendEscaped appends the form to dst as the body of a JSON string.
func (f *form) appendEscaped(dst []byte) []byte {
	longest := max(f.stdout.n, f.stderr.n)
	for _, t := range f.texts {
		longest = max(longest, len(t))
	}
	s := sink{dst: dst, escape: true, scratch: make([]byte, 0, 2*min(longest, scratchBytes))}
	f.emit(&s)
	return s.dst
}

// AppendPayload appends p to dst as one JSON object, without any budget.
func AppendPayload(dst []byte, p *Payload) []byte {
	f := formOf(p, 0)
	return f.append(slices.Grow(dst, f.size()))
}

// WritePayload writes p to w as one JSON object, without any budget: the bytes of
// [AppendPayload], in pieces, so that they need no memory. It returns the first error of w.
func WritePayload(w io.Writer, p *Payload) error {
	f := formOf(p, 0)
	s := sink{to: w, dst: make([]byte, 0, 2*pieceBytes)}
	f.emit(&s)
	s.spill(0)
	return s.err
}
