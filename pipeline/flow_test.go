package pipeline_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	ext "github.com/reugn/go-streams/extension"
	"github.com/reugn/go-streams/flow"
	"go.uber.org/goleak"

	"github.com/tailrace/tailrace/pipeline"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// double is a stage that doubles, and stops after n elements where n is not 0.
func double(n int) pipeline.Stage[int, int] {
	return func(in iter.Seq[int]) iter.Seq[int] {
		return func(yield func(int) bool) {
			seen := 0
			for v := range in {
				if seen++; !yield(2*v) || seen == n {
					return
				}
			}
		}
	}
}

func channelOf(values ...any) chan any {
	ch := make(chan any, len(values))
	for _, v := range values {
		ch <- v
	}
	close(ch)
	return ch
}

func gather(ch chan any) (out []any) {
	for v := range ch {
		out = append(out, v)
	}
	return out
}

func TestFlow(t *testing.T) {
	result := make(chan any, 10)
	f := pipeline.Flow(context.Background(), double(0))
	ext.NewChanSource(channelOf(1, 2, 3)).
		Via(flow.NewMap(func(n int) int { return n + 1 }, 1)).
		Via(f).
		Via(flow.NewPassThrough()).
		To(ext.NewChanSink(result))
	if got := gather(result); !slices.Equal(got, []any{4, 6, 8}) || f.Wait() != nil {
		t.Errorf("%v, %v", got, f.Err())
	}
}

func TestFlowWrongType(t *testing.T) {
	for _, v := range []any{"secret", nil, 1.5} {
		result := make(chan any, 10)
		f := pipeline.Flow(context.Background(), double(0))
		ext.NewChanSource(channelOf(1, v, 3)).Via(f).To(ext.NewChanSink(result))
		got := gather(result)
		var wrong *pipeline.TypeError
		if err := f.Wait(); !errors.As(err, &wrong) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%v", err)
		}
		if !slices.Equal(got, []any{2}) {
			t.Errorf("%v", got)
		}
	}
}

func TestFlowStopsEarlyWithoutBlockingTheSender(t *testing.T) {
	result := make(chan any, 10)
	f := pipeline.Flow(context.Background(), double(1))
	many := make([]any, 1000)
	for i := range many {
		many[i] = i
	}
	ext.NewChanSource(channelOf(many...)).Via(f).To(ext.NewChanSink(result))
	if got := gather(result); len(got) != 1 || f.Wait() != nil {
		t.Errorf("%v, %v", got, f.Err())
	}
}

func TestFlowCancelUnblocks(t *testing.T) {
	cause := errors.New("enough")
	t.Run("waiting for input", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(context.Background())
		f := pipeline.Flow(ctx, double(0))
		cancel(cause)
		if err := f.Wait(); !errors.Is(err, cause) {
			t.Errorf("%v", err)
		}
		if _, open := <-f.Out(); open {
			t.Error("Out is open")
		}
	})
	t.Run("waiting for a reader", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(context.Background())
		f := pipeline.Flow(ctx, double(0))
		f.In() <- 1
		cancel(cause)
		f.Wait()
	})
	t.Run("between two flows", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(context.Background())
		f := pipeline.Flow(ctx, double(0))
		stuck := flow.NewPassThrough() // nobody reads it
		f.Via(stuck)
		f.In() <- 1
		f.In() <- 2
		cancel(cause)
		f.Wait()
		for range stuck.Out() {
		}
	})
}

func TestFlowOfChunksSeesACut(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	var last pipeline.Chunk
	f := pipeline.Flow(ctx, func(in iter.Seq[pipeline.Chunk]) iter.Seq[int] {
		return func(func(int) bool) {
			for c := range in {
				last = c
			}
		}
	})
	f.In() <- pipeline.Chunk{Data: []byte("part")}
	cancel()
	f.Wait()
	if !last.Cut {
		t.Error("E3: a stage behind a cancelled flow takes the end for a natural one")
	}
}

func TestFrom(t *testing.T) {
	e := pipeline.From[int](context.Background(), ext.NewChanSource(channelOf(1, 2, 3)))
	if got := slices.Collect(e.Seq()); !slices.Equal(got, []int{1, 2, 3}) || e.Err() != nil {
		t.Errorf("%v, %v", got, e.Err())
	}
}

func TestFromGuards(t *testing.T) {
	t.Run("wrong type", func(t *testing.T) {
		e := pipeline.From[int](context.Background(), ext.NewChanSource(channelOf(1, "x", 3)))
		got := slices.Collect(e.Seq())
		var wrong *pipeline.TypeError
		if !errors.As(e.Err(), &wrong) || !slices.Equal(got, []int{1}) {
			t.Errorf("%v, %v", got, e.Err())
		}
	})
	t.Run("the consumer stops", func(t *testing.T) {
		f := pipeline.Flow(context.Background(), double(0))
		ext.NewChanSource(channelOf(1, 2, 3, 4, 5)).Via(f)
		for range pipeline.From[int](context.Background(), f).Seq() {
			break
		}
		if err := f.Wait(); err != nil {
			t.Errorf("%v", err)
		}
	})
	t.Run("cancel", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
		defer cancel()
		e := pipeline.From[int](ctx, pipeline.Flow(ctx, double(0)))
		for range e.Seq() {
		}
		if e.Err() == nil {
			t.Error("no error")
		}
	})
}

func TestSourceFrom(t *testing.T) {
	for _, c := range []struct {
		name   string
		values []any
		fails  bool
	}{
		{"chunks", []any{pipeline.Chunk{Data: []byte("a")}, pipeline.Chunk{Data: []byte("b")}}, false},
		{"something else", []any{pipeline.Chunk{Data: []byte("a")}, "b"}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := pipeline.SourceFrom(ext.NewChanSource(channelOf(c.values...)))
			defer s.Close()
			for range s.Chunks(context.Background()) {
			}
			if s.Exit().Failed() != c.fails || c.fails && !errors.Is(s.Exit().Err, pipeline.ErrSourceStream) {
				t.Errorf("%+v", s.Exit())
			}
		})
	}
}

func ExampleFlow() {
	words := func(in iter.Seq[string]) iter.Seq[string] {
		return func(yield func(string) bool) {
			for s := range in {
				for _, w := range strings.Fields(s) {
					if !yield(w) {
						return
					}
				}
			}
		}
	}
	result := make(chan any, 8)
	ext.NewChanSource(channelOf("one two", "three")).
		Via(pipeline.Flow(context.Background(), words)).
		To(ext.NewChanSink(result))
	for w := range result {
		fmt.Println(w)
	}
	// Output:
	// one
	// two
	// three
}

func ExampleFrom() {
	source := ext.NewChanSource(channelOf(1, 2, 3))
	for n := range pipeline.From[int](context.Background(), source).Seq() {
		fmt.Println(n)
	}
	// Output:
	// 1
	// 2
	// 3
}
