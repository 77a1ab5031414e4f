package pipeline

import (
	"context"
	"errors"
	"iter"
	"sync"

	streams "github.com/reugn/go-streams"
)

// ErrSourceStream is the error of a [Source] made by [SourceFrom] whose stream carried
// something else than chunks, or ended with an error or a cut.
var ErrSourceStream = errors.New("the stream behind the source failed, or carries something else than chunks; ask the error of its flows")

// Elements are the elements of a go-streams outlet as a sequence. Make them with [From].
type Elements[T any] struct {
	ctx     context.Context
	outlet  streams.Outlet
	failure failure
	// drained is closed when nobody reads the outlet any more.
	drained chan struct{}
	once    sync.Once
}

// From makes a sequence of an outlet: of a source, or of the end of a chain of flows.
//
// When the sequence ends before the outlet has closed, because the consumer stopped, ctx
// is done or an element has another type than T, a goroutine reads and throws away what
// still comes, until the outlet closes, or [DrainGrace] after ctx is done. So cancel ctx
// when you are through with an outlet that never closes. A sequence of chunks that ended
// early ends with one that is marked as a cut.
func From[T any](ctx context.Context, outlet streams.Outlet) *Elements[T] {
	return &Elements[T]{ctx: ctx, outlet: outlet, drained: make(chan struct{})}
}

// Seq returns the sequence. It can be ranged over once; after that it is empty.
func (e *Elements[T]) Seq() iter.Seq[T] {
	return func(yield func(T) bool) {
		e.once.Do(func() { e.read(yield) })
	}
}

func (e *Elements[T]) read(yield func(T) bool) {
	out := e.outlet.Out()
	closed := false
	defer func() {
		if closed {
			close(e.drained)
			return
		}
		go func() {
			defer close(e.drained)
			discard(e.ctx, out)
		}()
	}()
	stopped := false
	typed[T](e.ctx, out, e.failure.set)(func(v T) bool {
		stopped = !yield(v)
		return !stopped
	})
	if closed = !stopped && e.failure.get() == nil; !closed {
		return
	}
	// The end of a flow of ours that failed looks like any other.
	if f, ok := e.outlet.(interface{ Err() error }); ok && f.Err() != nil {
		e.failure.set(f.Err())
	}
}

// Err returns why the sequence ended early: a [*TypeError], the cause of ctx, or the error
// of an outlet that has a method Err, as a [StageFlow] has; nil where the outlet closed or
// the consumer stopped.
func (e *Elements[T]) Err() error { return e.failure.get() }

// SourceFrom makes a [Source] of an outlet of chunks. An outlet that ends with a cut, or
// has a method Err that returns an error at the end, ends the source badly: something is
// missing, and no bound of this run is the reason.
func SourceFrom(outlet streams.Outlet) Source {
	s := &outletSource{outlet: outlet}
	s.open, s.close = context.WithCancel(context.Background())
	return s
}

type outletSource struct {
	outlet streams.Outlet
	open   context.Context // done once the source is closed
	close  context.CancelFunc
	once   sync.Once
	exit   Exit

	mu sync.Mutex
	// drained is closed when nobody reads the outlet any more; nil before Chunks is over.
	drained chan struct{}
}

func (s *outletSource) Chunks(ctx context.Context) iter.Seq[Chunk] {
	return func(yield func(Chunk) bool) {
		s.once.Do(func() { s.exit = s.read(ctx, yield) })
	}
}

func (s *outletSource) read(ctx context.Context, yield func(Chunk) bool) Exit {
	// It outlives the loop, since what still comes is thrown away until Close.
	inner, cancel := context.WithCancel(ctx)
	context.AfterFunc(s.open, cancel)
	elements := From[Chunk](inner, s.outlet)
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.drained = elements.drained
	}()
	stopped, cut := false, false
	for c := range elements.Seq() {
		cut = c.Cut
		if stopped = !yield(c); stopped {
			break
		}
	}
	err := elements.Err()
	var wrong *TypeError
	switch {
	case errors.As(err, &wrong):
		return Exit{Err: ErrSourceStream}
	case err == nil && stopped:
		return Exit{End: EndConsumer}
	case err == nil && !cut:
		return Exit{}
	case err != nil && ctx.Err() != nil:
		return Exit{End: EndContext}
	case err != nil && inner.Err() != nil:
		return Exit{End: EndConsumer} // closed from elsewhere
	}
	return Exit{Err: ErrSourceStream}
}

func (s *outletSource) Exit() Exit { return s.exit }

// Close ends the reading of the outlet, and waits for it where the loop is over: at most
// [DrainGrace].
func (s *outletSource) Close() error {
	s.close()
	s.mu.Lock()
	drained := s.drained
	s.mu.Unlock()
	if drained != nil {
		<-drained
	}
	return nil
}
