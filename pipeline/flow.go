package pipeline

import (
	"context"
	"fmt"
	"iter"
	"reflect"
	"sync"

	streams "github.com/reugn/go-streams"
)

// A TypeError says that an element of a stream had another type than its reader takes.
// It names types only, never values.
type TypeError struct {
	Want, Got reflect.Type
}

// Error names the two types.
func (e *TypeError) Error() string {
	return fmt.Sprintf("the stream carries %v where %v is needed; put a flow.Map that converts in between", e.Got, e.Want)
}

// A StageFlow is a [Stage] as a flow of go-streams. Make it with [Flow].
type StageFlow[In, Out any] struct {
	ctx  context.Context
	in   chan any
	out  chan any
	done chan struct{}

	mu  sync.Mutex
	err error
}

// Flow makes a flow of a stage and starts it. Connect it with Via and To as any other.
//
// Let its elements be coarse: chunks, or batches of events. At one line an element the
// channels cost many times what the stages do.
//
// An element of another type than In ends the flow with a [TypeError], which Err
// returns. A done ctx ends it and unblocks both sides; a stage over chunks then sees a
// cut. When the flow has ended, Out is closed, and what still comes in is read and
// thrown away until the sender closes or ctx is done, so that no sender blocks. A panic
// in the stage is not caught.
func Flow[In, Out any](ctx context.Context, stage Stage[In, Out]) *StageFlow[In, Out] {
	f := &StageFlow[In, Out]{ctx: ctx, in: make(chan any), out: make(chan any), done: make(chan struct{})}
	go f.run(stage)
	return f
}

// run owns the stage.
func (f *StageFlow[In, Out]) run(stage Stage[In, Out]) {
	defer close(f.done)
	elements := typed[In](f.ctx, f.in, f.fail)
	for v := range stage(elements) {
		if !send(f.ctx, f.out, v) {
			break
		}
	}
	close(f.out)
	discard(f.ctx, f.in)
}

// In is where the elements go. The sender closes it.
func (f *StageFlow[In, Out]) In() chan<- any { return f.in }

// Out is where the elements come from. It is closed when the flow has ended.
func (f *StageFlow[In, Out]) Out() <-chan any { return f.out }

// Via connects the flow to another one.
func (f *StageFlow[In, Out]) Via(next streams.Flow) streams.Flow {
	go f.stream(next)
	return next
}

// To connects the flow to a sink and waits until the sink is done.
func (f *StageFlow[In, Out]) To(sink streams.Sink) {
	f.stream(sink)
	sink.AwaitCompletion()
}

func (f *StageFlow[In, Out]) stream(inlet streams.Inlet) {
	defer close(inlet.In())
	for v := range f.out {
		if !send(f.ctx, inlet.In(), v) {
			return
		}
	}
}

// Wait waits until the flow has ended and its sender has closed, or ctx is done. It
// returns what Err returns.
func (f *StageFlow[In, Out]) Wait() error {
	<-f.done
	return f.Err()
}

// Err returns why the flow ended early: a [TypeError] or the cause of ctx; nil where it
// ended by itself or has not ended.
func (f *StageFlow[In, Out]) Err() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err
}

func (f *StageFlow[In, Out]) fail(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err == nil {
		f.err = err
	}
}

// typed is the sequence of a channel's elements, until the channel is closed, ctx is
// done, or an element has another type.
func typed[T any](ctx context.Context, ch <-chan any, fail func(error)) iter.Seq[T] {
	return func(yield func(T) bool) {
		for {
			var v any
			var open bool
			select {
			case v, open = <-ch:
			case <-ctx.Done():
				fail(context.Cause(ctx))
				yieldCut(yield)
				return
			}
			if !open {
				return
			}
			t, ok := v.(T)
			if !ok {
				fail(&TypeError{Want: reflect.TypeFor[T](), Got: reflect.TypeOf(v)})
				yieldCut(yield)
				return
			}
			if !yield(t) {
				return
			}
		}
	}
}

// yieldCut marks the end of a sequence of chunks as a cut. Other elements have no mark.
func yieldCut[T any](yield func(T) bool) {
	if cut, ok := any(Chunk{Cut: true}).(T); ok {
		yield(cut)
	}
}

func send(ctx context.Context, ch chan<- any, v any) bool {
	select {
	case ch <- v:
		return true
	case <-ctx.Done():
		return false
	}
}

// discard reads and throws away until the sender closes or ctx is done.
func discard(ctx context.Context, ch <-chan any) {
	for {
		select {
		case _, open := <-ch:
			if !open {
				return
			}
		case <-ctx.Done():
			return
		}
	}
}
