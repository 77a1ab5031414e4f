package source

import (
	"errors"
	"io"
	"os"
	"sync"

	"github.com/tailrace/tailrace/pipeline"
)

// ErrRead is wrapped by the error of a source that could not be read to its end.
var ErrRead = errors.New("reading failed before the end; what was read is kept")

// A reader reads one pipe of a child to its end. It owns the goroutine that run is on.
type reader struct {
	child    *Child
	stream   pipeline.Stream
	file     *os.File
	segments *segments

	mu  sync.Mutex
	err error
}

func newReader(c *Child, s pipeline.Stream, f *os.File, bufferBytes int) *reader {
	if bufferBytes == 0 {
		bufferBytes = 64 << 10
	}
	return &reader{child: c, stream: s, file: f, segments: newSegments(bufferBytes)}
}

// run hands over what one read gives as it comes. After a stop it goes on reading, so
// that the child does not block on a full pipe, and throws away what it reads.
func (r *reader) run() {
	for {
		n, err := r.file.Read(r.segments.room())
		if n > 0 {
			select {
			case <-r.child.dropping:
				r.drop()
				return
			default:
			}
			select {
			case r.child.chunks <- pipeline.Chunk{Stream: r.stream, Data: r.segments.take(n)}:
			case <-r.child.dropping:
				r.drop()
				return
			case <-r.child.over:
				r.drop()
				return
			}
		}
		if err != nil {
			if !errors.Is(err, io.EOF) && !errors.Is(err, os.ErrClosed) {
				r.mu.Lock()
				r.err = ErrRead
				r.mu.Unlock()
			}
			return
		}
	}
}

// drop reads to the end and keeps nothing.
func (r *reader) drop() {
	scratch := make([]byte, 32<<10)
	for {
		if _, err := r.file.Read(scratch); err != nil {
			return
		}
	}
}

func (r *reader) failed() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}
