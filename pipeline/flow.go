package pipeline

import (
	"context"
	"fmt"
	"iter"
	"reflect"
	"runtime/debug"
	"sync"
	"time"

	streams "github.com/reugn/go-streams"
)

// A TypeError says that an element of a stream had another type than its reader takes.
// It names types only, never values. Got is nil for a nil element.
type TypeError struct {
	Want, Got reflect.Type
}

// Error names the two types.
func (e *TypeError) Error() string {
	return fmt.Sprintf("the stream carries %v where %v is needed; put a flow.Map that converts in between", e.Got, e.Want)
}

// A PanicError says that the stage of a flow panicked. Its text does not hold the value
// of the panic, which may hold data.
type PanicError struct {
	// Value is what the stage panicked with, nil where it ended its goroutine.
	Value any
	// Stack is where that was.
	Stack []byte
}

// Error says that there was a panic.
func (e *PanicError) Error() string {
	return "the stage of a flow panicked; the fields of the PanicError say with what and where"
}

// A StageFlow is a [Stage] as a flow of go-streams. Make it with [Flow]. Its methods may
// be called from any goroutine; what connects it, Via or To, once.
type StageFlow[In, Out any] struct {
	ctx  context.Context
	in   chan any
	out  chan any
	done chan struct{}

	failure failure
}

var _ streams.Flow = (*StageFlow[int, int])(nil)

// Flow makes a flow of a stage and starts it. Connect it with Via and To as any other.
//
// Let its elements be coarse: chunks, or batches of events. At one line an element a flow
// moves a hundred times fewer bytes a second than at 64 KiB (BenchmarkFlowGrain), and its
// channels cost far more than what stages do with a line.
//
// The flow ends early where an element has another type than In, where ctx is done, and
// where the stage panics; Err says which. Whoever sends and whoever reads is unblocked. A
// stage over chunks sees the end as a cut, and a reader of chunks gets a last one that is
// marked as a cut. A flow of other elements just closes Out, so ask Err before you take
// its output for all.
//
// However the flow ended, what still comes in is read and thrown away, until the sender
// closes. After ctx is done, the sender has [DrainGrace] to close. Then nobody reads any
// more: a sender that has no context of its own and goes on is left blocked.
func Flow[In, Out any](ctx context.Context, stage Stage[In, Out]) *StageFlow[In, Out] {
	f := &StageFlow[In, Out]{ctx: ctx, in: make(chan any), out: make(chan any), done: make(chan struct{})}
	go f.run(stage)
	return f
}

// run owns the stage.
func (f *StageFlow[In, Out]) run(stage Stage[In, Out]) {
	defer close(f.done)
	defer discard(f.ctx, f.in)
	defer close(f.out)
	finished, cut := false, false
	defer func() {
		if !finished {
			f.failure.set(&PanicError{Value: recover(), Stack: debug.Stack()})
		}
		if f.Err() != nil && !cut {
			sendCut[Out](f.out)
		}
	}()
	for v := range stage(typed[In](f.ctx, f.in, f.failure.set)) {
		if !send(f.ctx, f.out, v) {
			f.failure.set(context.Cause(f.ctx))
			break
		}
		cut = isCut(v)
	}
	finished = true
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
	missing := false
	for v := range f.out {
		if missing = missing || !send(f.ctx, inlet.In(), v); missing && isCut(v) {
			sendCut[Out](inlet.In())
		}
	}
}

// Wait waits until the flow has ended and its sender has closed, at the longest until
// [DrainGrace] after ctx is done. It returns what Err returns.
func (f *StageFlow[In, Out]) Wait() error {
	<-f.done
	return f.Err()
}

// Err returns why the flow ended early: a [*TypeError], a
// [*PanicError] or the cause of ctx; nil
// where it ended by itself or has not ended. It is final when Out is closed.
func (f *StageFlow[In, Out]) Err() error { return f.failure.get() }

// A failure is the first error of several goroutines.
type failure struct {
	mu  sync.Mutex
	err error
}

func (f *failure) set(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err == nil {
		f.err = err
	}
}

func (f *failure) get() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err
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
			if !ok && !(v == nil && reflect.TypeFor[T]().Kind() == reflect.Interface) {
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
	if reflect.TypeFor[T]() == reflect.TypeFor[Chunk]() {
		yield(any(Chunk{Cut: true}).(T))
	}
}

func isCut(v any) bool {
	c, ok := v.(Chunk)
	return ok && c.Cut
}

func send(ctx context.Context, ch chan<- any, v any) bool {
	select {
	case ch <- v:
		return true
	case <-ctx.Done():
		return false
	}
}

// sendCut marks the end of a channel of chunks as a cut. A reader has [DrainGrace] to take
// the mark, also when its context is done: without it the end would read as a natural one.
func sendCut[T any](ch chan<- any) {
	yieldCut(func(v T) bool {
		t := time.NewTimer(DrainGrace)
		defer t.Stop()
		select {
		case ch <- v:
			return true
		case <-t.C:
			return false
		}
	})
}

// discard reads and throws away until the sender closes, or [DrainGrace] after ctx is done.
func discard(ctx context.Context, ch <-chan any) {
	done := ctx.Done()
	var over <-chan time.Time
	for {
		select {
		case _, open := <-ch:
			if !open {
				return
			}
		case <-done:
			done = nil
			t := time.NewTimer(DrainGrace)
			defer t.Stop()
			over = t.C
		case <-over:
			return
		}
	}
}
