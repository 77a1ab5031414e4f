package stages

import (
	"bytes"
	"iter"
	"time"

	"github.com/tailrace/tailrace/internal/jsonscan"
	"github.com/tailrace/tailrace/internal/logline"
	"github.com/tailrace/tailrace/pipeline"
)

// A LineWrapper makes each text line of stdout a `log` event, so that the event bound
// applies to any command. It stands before the byte cap, which then counts what it
// writes. A line that is already a JSON object with a type that is a string, a blank
// line, and stderr pass as they are. entry.raw of an event is the line as it was.
//
// An unfinished last line is wrapped at a natural end and dropped at a cut. A line of
// more than MaxBytes passes unwrapped: the cap cuts inside it.
//
// The zero value is ready. A LineWrapper serves one run. It holds at most MaxBytes of an
// unfinished line.
type LineWrapper struct {
	// MaxBytes is the longest line that is wrapped, in bytes. 0 means [pipeline.CaptureLimit].
	MaxBytes int64
	// Source is entry.source of the events; "" means "command".
	Source string
	// Now is the clock for lines without a time of their own; nil means time.Now.
	Now func() time.Time

	open []byte
	// passing says that the current line is too long and passes as it comes.
	passing bool
}

// Apply is the stage.
func (w *LineWrapper) Apply(in iter.Seq[pipeline.Chunk]) iter.Seq[pipeline.Chunk] {
	return func(yield func(pipeline.Chunk) bool) {
		for chunk := range in {
			if chunk.Stream == pipeline.Stdout {
				chunk.Data = w.wrap(chunk.Data)
			}
			if (len(chunk.Data) > 0 || chunk.Cut) && !yield(chunk) || chunk.Cut {
				return
			}
		}
		if len(w.open) > 0 {
			last := w.open
			w.open = nil
			yield(pipeline.Chunk{Data: w.line(nil, last, "")})
		}
	}
}

// wrap returns what data makes of the lines that end in it. The result is fresh memory.
func (w *LineWrapper) wrap(data []byte) []byte {
	limit := int(pipeline.Bounds{MaxBytes: w.MaxBytes}.Bytes())
	var out []byte
	for len(data) > 0 {
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
			w.open, w.passing = nil, true
		case i < 0 || len(w.open) > 0:
			w.open = append(w.open, part...)
			part = w.open
		}
		if i < 0 {
			return out
		}
		if w.passing {
			out, w.passing = append(out, '\n'), false
		} else {
			out = w.line(out, part, "\n")
			w.open = w.open[:0]
		}
		data = data[i+1:]
	}
	return out
}

// line appends what one whole line becomes; end is its line end where it passes as it is.
func (w *LineWrapper) line(dst, line []byte, end string) []byte {
	raw := trim(line)
	if info, ok := jsonscan.Object(raw, pipeline.MaxDepth); len(raw) == 0 || ok && info.Type.End != 0 && raw[info.Type.Start] == '"' {
		return append(append(dst, line...), end...)
	}
	source := w.Source
	if source == "" {
		source = "command"
	}
	return logline.AppendEvent(dst, line, logline.Context{Source: source, Stream: "stdout", Now: w.Now})
}
