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
	streams [2]recording
	in      int64
	cut     int64
}

// Apply is the stage.
func (c *Capture) Apply(in iter.Seq[pipeline.Chunk]) iter.Seq[pipeline.Chunk] {
	return func(yield func(pipeline.Chunk) bool) {
		for chunk := range in {
			c.in += int64(len(chunk.Data))
			chunk.Data = c.streams[chunk.Stream&1].add(chunk.Data)
			if !yield(chunk) {
				return
			}
		}
	}
}

// Stdout returns what was recorded of stdout.
func (c *Capture) Stdout() []byte { return c.streams[pipeline.Stdout].data }

// Stderr returns what was recorded of stderr.
func (c *Capture) Stderr() []byte { return c.streams[pipeline.Stderr].data }

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

// add records b and returns where it lies now.
func (r *recording) add(b []byte) []byte {
	if len(b) == 0 {
		return b
	}
	n := len(r.data)
	if !r.own {
		if joined, ok := adjacent(r.data, b); ok {
			r.data = joined
			return r.data[n:]
		}
		// Appending in place would write into the source's buffer.
		r.data, r.own = append(make([]byte, 0, 2*(n+len(b))), r.data...), true
	}
	r.data = append(r.data, b...)
	return r.data[n:]
}
