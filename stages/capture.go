package stages

import (
	"iter"

	"github.com/tailrace/tailrace/pipeline"
)

// A Capture records both streams and passes the chunks on, as views of what it recorded.
// Chunks that lie in one buffer are recorded without a copy; others are gathered into
// memory of the capture's own.
//
// The zero value is ready. A Capture serves one run; its bytes are valid until the
// source is closed.
type Capture struct {
	// MaxBytes is the most that will come, in bytes, as a [ByteCap] before it lets through:
	// no memory is reserved beyond it. 0 means that it is not known.
	MaxBytes int64

	streams [2]recording
	in      int64
	cut     int64
}

// Apply is the stage.
func (c *Capture) Apply(in iter.Seq[pipeline.Chunk]) iter.Seq[pipeline.Chunk] {
	return func(yield func(pipeline.Chunk) bool) {
		for chunk := range in {
			c.in += int64(len(chunk.Data))
			chunk.Data = c.streams[chunk.Stream&1].add(chunk.Data, int(c.MaxBytes))
			if !yield(chunk) {
				return
			}
		}
	}
}

// Stdout returns what was recorded of stdout.
func (c *Capture) Stdout() []byte { return c.of(pipeline.Stdout) }

// Stderr returns what was recorded of stderr.
func (c *Capture) Stderr() []byte { return c.of(pipeline.Stderr) }

func (c *Capture) of(s pipeline.Stream) []byte { return c.streams[s&1].data }

// Truncate forgets what was recorded of a stream from offset n on, in bytes. It does
// nothing where less was recorded.
func (c *Capture) Truncate(s pipeline.Stream, n int64) {
	r := &c.streams[s&1]
	if n < int64(len(r.data)) {
		c.cut += int64(len(r.data)) - n
		r.data = r.data[:n]
	}
}

// Report says what the capture holds, after the run.
func (c *Capture) Report() pipeline.Report {
	return pipeline.Report{Stage: "capture", Ledger: pipeline.Ledger{In: c.in, Kept: c.in - c.cut, Cut: c.cut}}
}

// A recording is one stream in one piece of memory: the source's as long as chunks are
// adjacent there, its own from the first that is not.
type recording struct {
	data []byte
	own  bool
}

// smallestRecording is the least memory of its own that a recording reserves, in bytes.
const smallestRecording = 4 << 10

// add records b and returns where it lies now. most is the most that will come; 0 where
// that is not known.
func (r *recording) add(b []byte, most int) []byte {
	if len(b) == 0 {
		return b
	}
	n := len(r.data)
	need := n + len(b)
	if !r.own {
		if joined, ok := adjacent(r.data, b); ok {
			r.data = joined
			return r.data[n:]
		}
	}
	if !r.own || need > cap(r.data) {
		// What was yielded before keeps the memory that it lies in. Doubling keeps the sum
		// of what is left behind below what is reserved last.
		size := max(2*need, smallestRecording)
		if most > 0 {
			size = max(need, min(size, most))
		}
		// Appending in place would write into the source's buffer.
		r.data, r.own = append(make([]byte, 0, size), r.data...), true
	}
	r.data = append(r.data, b...)
	return r.data[n:]
}
