package source

import (
	"context"
	"errors"
	"io"
	"iter"
	"os"
	"time"

	"github.com/tailrace/tailrace/pipeline"
)

// A Reader is any io.Reader as a [pipeline.Source].
type Reader struct {
	r        io.Reader
	segments *segments
	stop     chan struct{}
	chunks   chan []byte
	finished chan struct{}
	started  bool
	stopped  bool
	// err is the error that ended the reading; it is set before chunks is closed.
	err  error
	exit pipeline.Exit
}

// NewReader returns a source that reads r to its end as stdout. It does not close r.
//
// A read that is under way when the run is stopped is woken by SetReadDeadline where r
// has that (pipes, sockets). Where it has not, Chunks returns all the same, and the
// goroutine that reads ends when the read returns.
func NewReader(r io.Reader) *Reader {
	return &Reader{
		r:        r,
		segments: newSegments(64 << 10),
		stop:     make(chan struct{}),
		chunks:   make(chan []byte, 2),
		finished: make(chan struct{}),
	}
}

// read owns the reading. It ends with the reader, or at a stop.
func (s *Reader) read() {
	defer close(s.finished)
	defer close(s.chunks)
	for {
		n, err := s.r.Read(s.segments.room())
		if n > 0 {
			select {
			case s.chunks <- s.segments.take(n):
			case <-s.stop:
				return
			}
		}
		if err != nil {
			if !errors.Is(err, io.EOF) && !errors.Is(err, os.ErrDeadlineExceeded) {
				s.err = ErrRead
			}
			return
		}
	}
}

// Chunks yields what the reader gives, read by read.
func (s *Reader) Chunks(ctx context.Context) iter.Seq[pipeline.Chunk] {
	return func(yield func(pipeline.Chunk) bool) {
		s.started = true
		go s.read()
		for {
			select {
			case data, open := <-s.chunks:
				if !open {
					s.exit = pipeline.Exit{End: pipeline.EndSource, Err: s.err}
					return
				}
				if !yield(pipeline.Chunk{Data: data}) {
					s.exit.End = pipeline.EndConsumer
					s.wake()
					return
				}
			case <-ctx.Done():
				s.exit.End = pipeline.EndContext
				yield(pipeline.Chunk{Cut: true})
				s.wake()
				return
			}
		}
	}
}

// wake ends a read that is under way, where that can be done.
func (s *Reader) wake() {
	if s.stopped {
		return
	}
	s.stopped = true
	close(s.stop)
	if d, ok := s.r.(interface{ SetReadDeadline(time.Time) error }); ok && d.SetReadDeadline(time.Unix(1, 0)) == nil {
		<-s.finished
		d.SetReadDeadline(time.Time{})
	}
}

// Exit returns how the reading ended. Err wraps [ErrRead] where the reader failed.
func (s *Reader) Exit() pipeline.Exit { return s.exit }

// Close stops the reading. The error is always nil.
func (s *Reader) Close() error {
	if s.started {
		s.wake()
	}
	return nil
}
