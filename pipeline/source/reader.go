package source

import (
	"context"
	"io"
	"iter"
	"sync"
	"time"

	"github.com/tailrace/tailrace/pipeline"
)

const (
	// wakeTime is how long a stop waits for a read that it has woken. Deadlines work at
	// once where they work at all.
	wakeTime = time.Second
	// closeDelay is how long a read has to return by itself before its reader is closed.
	closeDelay = 100 * time.Millisecond
	// emptyReads is how many reads in a row may give nothing, not even an error.
	emptyReads = 100
)

// A Reader is any io.Reader as a [pipeline.Source]. Chunks is for one goroutine; Close
// may be called from any.
type Reader struct {
	r        io.Reader
	segments *segments
	// release, if not nil, is called when r is not read any more.
	release func()

	chunks   chan []byte
	stop     chan struct{} // closed at a stop
	finished chan struct{} // closed when the reading is over
	// What the reading ended with; set before chunks is closed.
	whole bool
	err   error
	exit  pipeline.Exit

	once    sync.Once
	mu      sync.Mutex
	started bool
	stopped bool
}

// NewReader returns a source that reads r as stdout. A reader that ends is not closed.
//
// A stop while a read is under way wakes that read by SetReadDeadline where r has it and
// it works (pipes, sockets); r can be read on afterwards, without what was read ahead.
// Elsewhere Chunks returns at once all the same, and leaves a goroutine behind that ends
// when the read returns. An r that is an io.Closer is closed for that, 100 ms later, if
// the read still is under way. So only a read that nothing can wake keeps its goroutine.
func NewReader(r io.Reader) *Reader {
	return &Reader{
		r:        r,
		segments: newSegments(64 << 10),
		chunks:   make(chan []byte, 2),
		stop:     make(chan struct{}),
		finished: make(chan struct{}),
	}
}

// start starts the reading, unless it was started or stopped before.
func (s *Reader) start() (started, stopped bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.started || s.stopped {
		return false, s.stopped && !s.started
	}
	s.started = true
	go s.read()
	return true, false
}

// read owns the reading. It ends with the reader, or at a stop.
func (s *Reader) read() {
	defer close(s.finished)
	if s.release != nil {
		defer s.release()
	}
	defer close(s.chunks)
	empty := 0
	for !s.hasStopped() {
		n, err := s.r.Read(s.segments.room())
		if n > 0 {
			empty = 0
			select {
			case s.chunks <- s.segments.take(n):
			case <-s.stop:
				return
			}
		}
		switch {
		case err == io.EOF:
			s.whole = true
			return
		case err == nil && n == 0:
			if empty++; empty < emptyReads {
				continue
			}
			err = io.ErrNoProgress
		}
		if err != nil {
			// A read that a stop has woken did not fail.
			if !s.hasStopped() {
				s.whole, s.err = true, ErrRead
			}
			return
		}
	}
}

func (s *Reader) hasStopped() bool {
	select {
	case <-s.stop:
		return true
	default:
		return false
	}
}

// Chunks yields what the reader gives, read by read.
func (s *Reader) Chunks(ctx context.Context) iter.Seq[pipeline.Chunk] {
	return func(yield func(pipeline.Chunk) bool) {
		started, stopped := s.start()
		if stopped {
			s.exit.End = pipeline.EndConsumer
			yield(pipeline.Chunk{Cut: true})
		}
		if !started {
			return
		}
		defer s.wake() // also where the consumer panics
		for {
			select {
			case data, open := <-s.chunks:
				switch {
				case open:
					if !yield(pipeline.Chunk{Data: data}) {
						s.exit.End = pipeline.EndConsumer
						return
					}
				case s.whole:
					s.exit = pipeline.Exit{End: pipeline.EndSource, Err: s.err}
					return
				default:
					// Closed from elsewhere. Something is missing, so this is a cut.
					s.exit.End = pipeline.EndConsumer
					yield(pipeline.Chunk{Cut: true})
					return
				}
			case <-s.stop:
				s.exit.End = pipeline.EndConsumer
				yield(pipeline.Chunk{Cut: true})
				return
			case <-ctx.Done():
				s.exit.End = pipeline.EndContext
				yield(pipeline.Chunk{Cut: true})
				return
			}
		}
	}
}

// wake stops the reading, and ends a read that is under way where that can be done.
func (s *Reader) wake() {
	s.once.Do(func() {
		s.mu.Lock()
		s.stopped = true
		close(s.stop)
		started := s.started
		s.mu.Unlock()
		if started {
			s.interrupt()
		} else if s.release != nil {
			s.release()
		}
	})
}

func (s *Reader) interrupt() {
	select {
	case <-s.finished:
		return
	default:
	}
	if d, ok := s.r.(interface{ SetReadDeadline(time.Time) error }); ok && d.SetReadDeadline(time.Unix(1, 0)) == nil {
		if s.ends(wakeTime) {
			d.SetReadDeadline(time.Time{})
		}
		return
	}
	if c, ok := s.r.(io.Closer); ok {
		// Behind, since there are closers that wait for the read.
		go func() {
			if !s.ends(closeDelay) {
				c.Close()
			}
		}()
	}
}

// ends says whether the reading is over within a time.
func (s *Reader) ends(within time.Duration) bool {
	t := time.NewTimer(within)
	defer t.Stop()
	select {
	case <-s.finished:
		return true
	case <-t.C:
		return false
	}
}

// Exit returns how the reading ended. Err wraps [ErrRead] where the reader failed.
func (s *Reader) Exit() pipeline.Exit { return s.exit }

// Close stops the reading as a stop does. The error is always nil.
func (s *Reader) Close() error {
	s.wake()
	return nil
}
