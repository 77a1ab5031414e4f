package pipeline_test

import (
	"context"
	"errors"
	"iter"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	streams "github.com/reugn/go-streams"
	ext "github.com/reugn/go-streams/extension"
	"github.com/reugn/go-streams/flow"
	"go.uber.org/goleak"

	"github.com/tailrace/tailrace/pipeline"
)

// Most tests of the adapters run in a bubble of synctest. It fails by itself where a
// goroutine is left: law stop-leaves-nothing.
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

func gather(ch <-chan any) (out []any) {
	for v := range ch {
		out = append(out, v)
	}
	return out
}

// count is a channel source of the numbers below n, one by one, that knows no context.
func count(n int) streams.Source {
	ch := make(chan any)
	go func() {
		defer close(ch)
		for i := range n {
			ch <- i
		}
	}()
	return ext.NewChanSource(ch)
}

func TestFlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		result := make(chan any, 10)
		f := pipeline.Flow(t.Context(), double(0))
		ext.NewChanSource(channelOf(1, 2, 3)).
			Via(flow.NewMap(func(n int) int { return n + 1 }, 1)).
			Via(f).
			Via(flow.NewPassThrough()).
			To(ext.NewChanSink(result))
		if got := gather(result); !slices.Equal(got, []any{4, 6, 8}) || f.Wait() != nil {
			t.Errorf("%v, %v", got, f.Err())
		}
	})
}

func TestFlowAmongWindowsAndFanOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sum := func(in iter.Seq[[]int]) iter.Seq[int] {
			return func(yield func(int) bool) {
				for batch := range in {
					n := 0
					for _, v := range batch {
						n += v
					}
					if !yield(n) {
						return
					}
				}
			}
		}
		first, sums := pipeline.Flow(t.Context(), double(0)), pipeline.Flow(t.Context(), sum)
		ways := flow.FanOut(count(100).Via(first).Via(flow.NewTumblingWindow[int](time.Second)).Via(sums), 3)
		total := 0
		for v := range pipeline.From[int](t.Context(), flow.Merge(ways...)).Seq() {
			total += v
		}
		if want := 3 * 99 * 100; total != want {
			t.Errorf("%d, want %d", total, want)
		}
		if err := errors.Join(first.Wait(), sums.Wait()); err != nil {
			t.Error(err)
		}
	})
}

func TestFlowWrongType(t *testing.T) {
	for _, v := range []any{"secret", nil, 1.5} {
		synctest.Test(t, func(t *testing.T) {
			result := make(chan any, 10)
			f := pipeline.Flow(t.Context(), double(0))
			ext.NewChanSource(channelOf(1, v, 3)).Via(f).To(ext.NewChanSink(result))
			got := gather(result)
			var wrong *pipeline.TypeError
			if err := f.Wait(); !errors.As(err, &wrong) || strings.Contains(err.Error(), "secret") {
				t.Errorf("%v", err)
			}
			if !slices.Equal(got, []any{2}) {
				t.Errorf("%v", got)
			}
		})
	}
}

func TestFlowTakesNilWhereTheTypeHasIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := pipeline.From[error](t.Context(), ext.NewChanSource(channelOf(nil, context.Canceled)))
		if got := slices.Collect(e.Seq()); !slices.Equal(got, []error{nil, context.Canceled}) || e.Err() != nil {
			t.Errorf("%v, %v", got, e.Err())
		}
	})
}

func TestFlowStopsEarlyWithoutBlockingTheSender(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := pipeline.Flow(t.Context(), double(1))
		count(1000).Via(flow.NewPassThrough()).Via(f)
		if got := gather(f.Out()); len(got) != 1 || f.Wait() != nil {
			t.Errorf("%v, %v", got, f.Err())
		}
	})
}

func TestFlowPanic(t *testing.T) {
	for name, c := range map[string]struct {
		how  func()
		want any
	}{
		"panic": {func() { panic("secret") }, "secret"},
		"exit":  {runtime.Goexit, nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := pipeline.Flow(t.Context(), func(in iter.Seq[int]) iter.Seq[pipeline.Chunk] {
					return func(yield func(pipeline.Chunk) bool) {
						for v := range in {
							if v == 1 {
								c.how()
							}
							yield(pipeline.Chunk{Data: []byte{'x'}})
						}
					}
				})
				count(1000).Via(f)
				got := gather(f.Out())
				var p *pipeline.PanicError
				if err := f.Wait(); !errors.As(err, &p) || p.Value != c.want || len(p.Stack) == 0 || strings.Contains(err.Error(), "secret") {
					t.Errorf("%v", err)
				}
				if len(got) != 2 || !got[1].(pipeline.Chunk).Cut {
					t.Errorf("E3: %v does not end in a cut", got)
				}
			})
		})
	}
}

// TestFlowCancelUnblocks: wherever the flow waits, a done context ends it.
func TestFlowCancelUnblocks(t *testing.T) {
	cause := errors.New("enough")
	for _, c := range []struct {
		name string
		// play sets the flow up and leaves it blocked.
		play func(f *pipeline.StageFlow[int, int])
	}{
		{"waiting for input", func(*pipeline.StageFlow[int, int]) {}},
		{"waiting for a reader", func(f *pipeline.StageFlow[int, int]) { f.In() <- 1 }},
		{"the sender blocked as well", func(f *pipeline.StageFlow[int, int]) { count(10).Via(f) }},
		{"the flow behind it stuck", func(f *pipeline.StageFlow[int, int]) {
			stuck := flow.NewPassThrough()
			count(10).Via(f).Via(stuck)
			go func() {
				time.Sleep(time.Minute)
				gather(stuck.Out())
			}()
		}},
		{"a sink that does not read", func(f *pipeline.StageFlow[int, int]) {
			count(10).Via(f)
			go f.To(ext.NewChanSink(make(chan any)))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				f := pipeline.Flow(ctx, double(0))
				c.play(f)
				synctest.Wait()
				cancel(cause)
				start := time.Now()
				if err := f.Wait(); !errors.Is(err, cause) {
					t.Errorf("%v", err)
				}
				if d := time.Since(start); d > pipeline.DrainGrace {
					t.Errorf("ended after %v", d)
				}
				gather(f.Out()) // closed
				time.Sleep(time.Hour)
			})
		})
	}
}

// TestFlowAfterCancelTheSenderHasTimeToClose: no sender stays blocked that closes.
func TestFlowAfterCancelTheSenderHasTimeToClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		f := pipeline.Flow(ctx, double(0))
		cancel()
		sent := 0
		for range 4 {
			time.Sleep(pipeline.DrainGrace / 5)
			f.In() <- 1
			sent++
		}
		close(f.In())
		if f.Wait(); sent != 4 {
			t.Errorf("%d", sent)
		}
	})
}

// TestFlowOfChunksCut: E3, also where the context ends a flow in the middle of a line
// of flows.
func TestFlowOfChunksCut(t *testing.T) {
	pass := func(in iter.Seq[pipeline.Chunk]) iter.Seq[pipeline.Chunk] { return in }
	for name, end := range map[string]func(cancel func(), in chan<- any){
		"cancel":     func(cancel func(), _ chan<- any) { cancel() },
		"wrong type": func(_ func(), in chan<- any) { in <- "x" },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				in := make(chan any)
				out := ext.NewChanSource(in).
					Via(pipeline.Flow(ctx, pass)).Via(flow.NewPassThrough()).Via(pipeline.Flow(ctx, pass)).Via(flow.NewPassThrough()).Out()
				in <- pipeline.Chunk{Data: []byte("part")}
				first := (<-out).(pipeline.Chunk)
				end(cancel, in)
				close(in)
				rest := gather(out)
				if string(first.Data) != "part" || first.Cut || len(rest) != 1 || !rest[0].(pipeline.Chunk).Cut {
					t.Errorf("E3: %v, then %v: one cut at the end is wanted", first, rest)
				}
			})
		})
	}
}

func BenchmarkFlowGrain(b *testing.B) {
	const bytes = 8 << 20
	line := make([]byte, 350)
	pass := func(in iter.Seq[[]byte]) iter.Seq[[]byte] {
		return func(yield func([]byte) bool) {
			for v := range in {
				if !yield(v) {
					return
				}
			}
		}
	}
	for name, size := range map[string]int{"line": len(line), "64KiB": 64 << 10} {
		data := make([]byte, size)
		b.Run(name, func(b *testing.B) {
			b.SetBytes(bytes)
			b.ReportAllocs()
			for b.Loop() {
				f := pipeline.Flow(b.Context(), pass)
				go func() {
					defer close(f.In())
					for range bytes / size {
						f.In() <- data
					}
				}()
				for range f.Out() {
				}
			}
		})
	}
}
