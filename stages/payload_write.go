package stages

import (
	"strconv"

	"github.com/tailrace/tailrace/internal/jsonstr"
	"github.com/tailrace/tailrace/internal/utf8cut"
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
	p     *Payload
	texts [textCount][]byte

	stdout, stderr int // bytes kept
	events         int // events kept

	cut      bool  // the budget cut something: flag and note
	bareNote bool  // cut, but without room for the note
	noData   bool  // the data member is omitted
	limit    int64 // the byte limit that is told where events were dropped
}

// formOf returns the form of the whole payload. The texts are copied to bytes once, in
// one allocation.
func formOf(p *Payload, limit int64) form {
	f := form{p: p, stdout: len(p.Stdout), stderr: len(p.Stderr), limit: limit}
	var from [textCount]string
	from[textCommand] = p.Command
	if e := p.Error; e != nil {
		from[textMessage], from[textReason], from[textCode] = e.Message, e.Reason, e.Code
	}
	if l := p.Log; l != nil {
		f.events = l.len()
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

// dropped says whether events are missing from the form.
func (f *form) dropped() bool { return f.p.Log != nil && f.events < f.p.Log.len() }

// separator says whether the note needs a line end before it.
func (f *form) separator() bool {
	return f.stderr > 0 && f.p.Stderr[f.stderr-1] != '\n'
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
	s.str(p.Stdout[:f.stdout])
	s.text(`","stderr":"`)
	s.str(p.Stderr[:f.stderr])
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
		s.list(l.Events, f.events)
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
	s := sink{dst: dst, escape: true}
	f.emit(&s)
	return s.dst
}

// AppendPayload appends p to dst as one JSON object, without any budget.
func AppendPayload(dst []byte, p *Payload) []byte {
	f := formOf(p, 0)
	return f.append(dst)
}

// A sink takes the pieces of a form: it counts or writes them, as they are or escaped
// once more.
type sink struct {
	count, escape bool

	n       int
	dst     []byte
	scratch []byte
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
		s.dst = jsonstr.Append(s.dst, b)
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
	}
}

// list takes the first n events of l, of which there is at least one.
func (s *sink) list(l *EventList, n int) {
	switch {
	case s.escape:
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
		s.n += l.Size(n)
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
