package pipeline

import (
	"context"
	"errors"
	"iter"
	"sync"

	streams "github.com/reugn/go-streams"
)

// ErrSourceStream is the error of a [Source] made by [SourceFrom] whose stream carried
// something else than chunks.
var ErrSourceStream = errors.New("the stream behind the source carries something else than chunks; convert its elements first")

// Elements are the elements of a go-streams outlet as a sequence. Make them with [From].
type Elements[T any] struct {
	ctx    context.Context
	outlet streams.Outlet

	mu  sync.Mutex
	err error
}

// From makes a sequence of an outlet: of a source, or of the end of a chain of flows.
//
// When the sequence ends before the outlet has closed, because the consumer stopped, ctx
// is done or an element has another type than T, a goroutine reads and throws away what
// still comes, until the outlet closes or ctx is done. So cancel ctx when you are
// through with an outlet that never closes.
func From[T any](ctx context.Context, outlet streams.Outlet) *Elements[T] {
	return &Elements[T]{ctx: ctx, outlet: outlet}
}

// Seq returns the sequence. It can be ranged over once.
func (e *Elements[T]) Seq() iter.Seq[T] {
	return func(yield func(T) bool) {
		out := e.outlet.Out()
		// Behind a closed outlet this ends at once.
		defer func() { go discard(e.ctx, out) }()
		typed[T](e.ctx, out, e.fail)(yield)
	}
}

// Err returns why the sequence ended early: a [TypeError] or the cause of ctx; nil where
// the outlet closed or the consumer stopped.
func (e *Elements[T]) Err() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.err
}

func (e *Elements[T]) fail(err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.err == nil {
		e.err = err
	}
}

// SourceFrom makes a [Source] of an outlet of chunks.
func SourceFrom(outlet streams.Outlet) Source { return &outletSource{outlet: outlet} }

type outletSource struct {
	outlet streams.Outlet
	cancel context.CancelFunc
	exit   Exit
}

func (s *outletSource) Chunks(ctx context.Context) iter.Seq[Chunk] {
	return func(yield func(Chunk) bool) {
		inner, cancel := context.WithCancel(ctx)
		s.cancel = cancel
		elements := From[Chunk](inner, s.outlet)
		stopped := false
		elements.Seq()(func(c Chunk) bool {
			stopped = !yield(c)
			return !stopped
		})
		var wrong *TypeError
		switch {
		case errors.As(elements.Err(), &wrong):
			s.exit = Exit{End: EndSource, Err: ErrSourceStream}
		case elements.Err() != nil:
			s.exit.End = EndContext
		case stopped:
			s.exit.End = EndConsumer
		}
	}
}

func (s *outletSource) Exit() Exit { return s.exit }

func (s *outletSource) Close() error {
	if s.cancel != nil {
		s.cancel()
	}
	return nil
}
