package stages

import (
	"bytes"
	"iter"
	"time"

	"github.com/tailrace/tailrace/internal/jsonscan"
	"github.com/tailrace/tailrace/internal/jsonstr"
	"github.com/tailrace/tailrace/internal/logline"
	"github.com/tailrace/tailrace/pipeline"
)

// A LineWrapper makes each text line of stdout a `log` event, so that the event bound
// applies to any command. It stands before the byte cap, which then counts what it
// writes. A line that is already a JSON object with a type that is a string, a blank
// line, and stderr pass as they are. entry.raw of an event is the line as it was.
//
// An unfinished last line is wrapped at a natural end and dropped at a cut. A line that
// is longer than MaxBytes, as it is or with its escapes, passes unwrapped as it comes: its
// event could not pass a cap of that size, and no byte of it is lost.
//
// The zero value is ready. A LineWrapper serves one run. It holds at most MaxBytes of an
// unfinished line, and yields what it makes of a chunk in pieces.
type LineWrapper struct {
	// MaxBytes is the longest line that is wrapped, in bytes. 0 means [pipeline.CaptureLimit].
	MaxBytes int64
	// Source is entry.source of the events; "" means "command".
	Source string
	// Now is the clock for lines without a time of their own; nil means time.Now.
	Now func() time.Time

	in, kept int64
	open     []byte
	// passing says that the current line is too long and passes as it comes.
	passing bool
	// page is the memory behind what was yielded last.
	page []byte
}

const (
	// wrapBytes is from which size on a piece is yielded: a chunk of tiny lines makes many
	// times its bytes.
	wrapBytes = 64 << 10
	// wrapPage is how much memory is taken at once. Pieces on a page are adjacent.
	wrapPage = 256 << 10
)

// Apply is the stage.
func (w *LineWrapper) Apply(in iter.Seq[pipeline.Chunk]) iter.Seq[pipeline.Chunk] {
	return func(yield func(pipeline.Chunk) bool) {
		for chunk := range in {
			w.in += int64(len(chunk.Data))
			if chunk.Stream != pipeline.Stdout {
				w.kept += int64(len(chunk.Data))
			} else {
				for data := chunk.Data; len(data) > 0; {
					before := len(w.open) + len(data)
					chunk.Data, data = w.wrap(data)
					w.kept += int64(before - len(w.open) - len(data))
					if len(data) > 0 && !yield(pipeline.Chunk{Data: chunk.Data}) {
						return
					}
				}
			}
			if (len(chunk.Data) > 0 || chunk.Cut) && !yield(chunk) || chunk.Cut {
				return
			}
		}
		if len(w.open) > 0 {
			last := w.open
			w.open = nil
			w.kept += int64(len(last))
			yield(pipeline.Chunk{Data: w.line(nil, last, "")})
		}
	}
}

// Report says what was wrapped or passed, after the run, in bytes of the input.
func (w *LineWrapper) Report() pipeline.Report {
	return pipeline.Report{Stage: "line wrapper", Ledger: pipeline.Ledger{In: w.in, Kept: w.kept, Cut: w.in - w.kept}}
}

func (w *LineWrapper) limit() int { return int(pipeline.Bounds{MaxBytes: w.MaxBytes}.Bytes()) }

// wrap returns what the lines that end in data become, and the part of data that is left
// when that is enough for one piece.
func (w *LineWrapper) wrap(data []byte) (out, rest []byte) {
	limit := w.limit()
	if out = w.page; cap(out) < wrapBytes {
		out = make([]byte, 0, wrapPage)
	}
	for len(data) > 0 && len(out) < wrapBytes {
		i := bytes.IndexByte(data, '\n')
		part := data
		if i >= 0 {
			part = data[:i]
		}
		switch {
		case w.passing:
			out = append(out, part...)
		case len(w.open)+len(part) > limit:
			out = append(append(out, w.open...), part...)
			w.open, w.passing = w.open[:0], true
		case i < 0 || len(w.open) > 0:
			w.open = append(w.open, part...)
			part = w.open
		}
		if i < 0 {
			data = nil
			break
		}
		if w.passing {
			out, w.passing = append(out, '\n'), false
		} else {
			out = w.line(out, part, "\n")
			w.open = w.open[:0]
		}
		data = data[i+1:]
	}
	w.page = out[len(out):]
	return out, data
}

// line appends what one whole line becomes; end is its line end where it passes as it is.
func (w *LineWrapper) line(dst, line []byte, end string) []byte {
	if w.passes(line) {
		return append(append(dst, line...), end...)
	}
	source := w.Source
	if source == "" {
		source = "command"
	}
	if len(line) > wrapBytes {
		// The event holds the line twice. Growing step by step would take as much again.
		dst = append(make([]byte, 0, len(dst)+2*jsonstr.Len(line)+1<<10), dst...)
	}
	return logline.AppendEvent(dst, line, logline.Context{Source: source, Stream: "stdout", Now: w.Now})
}

// passes says whether a line is no text to wrap: blank, typed JSON already, or too long.
func (w *LineWrapper) passes(line []byte) bool {
	raw := trim(line)
	if len(raw) == 0 {
		return true
	}
	if info, ok := jsonscan.Object(raw, pipeline.MaxDepth); ok && info.Type.End != 0 && raw[info.Type.Start] == '"' {
		return true
	}
	// An escape takes six bytes at most.
	limit := w.limit()
	return 6*len(line) > limit && jsonstr.Len(line) > limit
}
