package source

import (
	"errors"
	"io"
	"os"
	"sync"
	"time"

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

	finished sync.Once

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
	var p pace
	for {
		n, err := readPipe(r.file, r.segments.room())
		if n > 0 && !r.hand(n) {
			r.drop()
			return
		}
		if err == nil && p.trickles(n, time.Now()) {
			p.wait(r.child.dropping)
		}
		if errors.Is(err, os.ErrDeadlineExceeded) {
			err = r.rest()
		}
		if err != nil {
			if r.fail(err) {
				// Nobody reads on, and a child must not wait for that.
				r.file.Close()
			}
			return
		}
	}
}

// hand hands over the n bytes that were read into the last room. It returns false after
// a stop.
func (r *reader) hand(n int) bool {
	select {
	case <-r.child.dropping:
		return false
	default:
	}
	select {
	case r.child.chunks <- pipeline.Chunk{Stream: r.stream, Data: r.segments.take(n)}:
		return true
	case <-r.child.dropping:
		return false
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

// fail notes why reading ended, and says whether that was before the end.
func (r *reader) fail(err error) bool {
	if errors.Is(err, io.EOF) || errors.Is(err, os.ErrClosed) {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.err = ErrRead
	return true
}

func (r *reader) failed() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}
