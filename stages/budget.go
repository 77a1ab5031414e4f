package stages

import (
	"iter"
	"slices"

	"github.com/tailrace/tailrace/pipeline"
)

// A Budget fits results into a size on the wire. The zero value has the limits of the
// contract. It is a plain value and safe for concurrent use.
//
// A result that fits is written unchanged. Of one that does not, first the text content
// becomes a smaller view of the same shape. Then, and only as far as needed, the
// structured content loses the end of stdout, then whole events from the end, then the
// end of stderr. A command without events loses its data, then the end of stdout, then
// the end of stderr. A payload that was cut says so: outputTruncated is true and stderr
// ends with [CutNote]; where events of a successful collection were dropped, the cutoff
// is the byte limit.
//
// As a last resort the command, the texts of the error and the stop reason are cut too,
// then the note and the data are left out. A payload is never smaller than that form,
// about 100 bytes, so a result is larger than MaxBytes only where MaxBytes is below
// [MinResultBytes].
type Budget struct {
	// MaxBytes is the largest serialized result; 0 means [pipeline.ResultLimit].
	MaxBytes int
	// ViewBytes is the largest text view of a result that was cut; 0 means
	// [pipeline.TextViewLimit]. It is never more than a quarter of the room for the
	// result, since escaping can double a view and structured content comes first.
	ViewBytes int
	// StderrFloor is how much of stderr is kept while events are dropped; 0 means
	// [pipeline.StderrFloor], a negative value means nothing.
	StderrFloor int
	// Reserve is how many of MaxBytes something else on the same frame needs. It makes
	// the room smaller, but not the limit that a result tells. 0 means none.
	Reserve int
}

// MinResultBytes is a size that the smallest form of every result fits into.
const MinResultBytes = 512

// A Fit says what a budget did to a result.
type Fit struct {
	// Bytes is the size of the result, as counted before it was written.
	Bytes int
	// Cut says that structuredContent was cut, ViewCut that the text view was.
	Cut, ViewCut bool
	// Events and ViewEvents are how many events each channel holds.
	Events, ViewEvents int
}

// The pieces of a result around its two channels.
const (
	resultHead    = `{"content":[{"type":"text","text":"`
	resultMiddle  = `"}],"structuredContent":`
	resultEnd     = `}`
	resultFailure = `,"isError":true}`
)

// AppendResult appends p to dst as the JSON of a tool result (content, structuredContent,
// isError), cut to the budget. It does not keep dst or p.
func (b Budget) AppendResult(dst []byte, p *Payload) ([]byte, Fit) {
	end := resultEnd
	if !p.OK {
		end = resultFailure
	}
	view, content, size := b.plan(p, len(resultHead)+len(resultMiddle)+len(end))
	dst = slices.Grow(dst, size)
	dst = append(dst, resultHead...)
	dst = view.appendEscaped(dst)
	dst = append(dst, resultMiddle...)
	dst = content.append(dst)
	dst = append(dst, end...)
	return dst, Fit{
		Bytes: size,
		Cut:   content.cut, ViewCut: view.cut,
		Events: content.events, ViewEvents: view.events,
	}
}

// Stage returns the budget as a stage: payloads in, results out, each in memory of its own.
func (b Budget) Stage() pipeline.Stage[*Payload, []byte] {
	return func(in iter.Seq[*Payload]) iter.Seq[[]byte] {
		return func(yield func([]byte) bool) {
			for p := range in {
				result, _ := b.AppendResult(nil, p)
				if !yield(result) {
					return
				}
			}
		}
	}
}

// plan decides what both channels hold, and counts the result that they make with an
// envelope of that many bytes around them.
func (b Budget) plan(p *Payload, envelope int) (view, content form, size int) {
	maxBytes := orDefault(b.MaxBytes, pipeline.ResultLimit)
	viewBytes := min(orDefault(b.ViewBytes, pipeline.TextViewLimit), maxBytes/4)
	floor := orDefault(b.StderrFloor, pipeline.StderrFloor)
	room := maxBytes - max(b.Reserve, 0) - envelope

	whole := formOf(p, int64(maxBytes))
	half := room / 2 // the escaped channel is never smaller than the plain one
	if left := whole.room(half); left >= 0 {
		plain := half - left
		if escaped := whole.escapedSize(); plain+escaped <= room {
			return whole, whole, envelope + plain + escaped
		}
	}
	// A quarter for the view leaves room for the smallest content: escaping adds less
	// than a view's own length.
	view = whole
	view.limit = int64(viewBytes)
	view = view.fit(min(viewBytes, (room+envelope)/4), floor)
	escaped := view.escapedSize()
	content = whole.fit(room-escaped, floor)
	plain := content.size()
	return view, content, envelope + plain + escaped
}

func orDefault(value, standard int) int {
	if value == 0 {
		return standard
	}
	return max(value, 0)
}
