package pipeline_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	streams "github.com/reugn/go-streams"
	ext "github.com/reugn/go-streams/extension"
	"github.com/reugn/go-streams/flow"

	"github.com/tailrace/tailrace/pipeline"
)

func TestFrom(t *testing.T) {
	e := pipeline.From[int](context.Background(), ext.NewChanSource(channelOf(1, 2, 3)))
	if got := slices.Collect(e.Seq()); !slices.Equal(got, []int{1, 2, 3}) || e.Err() != nil {
		t.Errorf("%v, %v", got, e.Err())
	}
	if again := slices.Collect(e.Seq()); again != nil {
		t.Errorf("the second time: %v", again)
	}
}

func TestFromGuards(t *testing.T) {
	t.Run("wrong type", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			e := pipeline.From[int](t.Context(), ext.NewChanSource(channelOf(1, "x", 3)))
			got := slices.Collect(e.Seq())
			var wrong *pipeline.TypeError
			if !errors.As(e.Err(), &wrong) || !slices.Equal(got, []int{1}) {
				t.Errorf("%v, %v", got, e.Err())
			}
		})
	})
	t.Run("the consumer stops", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			e := pipeline.From[int](t.Context(), count(1000).Via(flow.NewPassThrough()))
			for range e.Seq() {
				break
			}
			if e.Err() != nil {
				t.Error(e.Err())
			}
		})
	})
	t.Run("the consumer panics", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			defer func() {
				if recover() != "mine" {
					t.Error("the panic did not come through")
				}
			}()
			for range pipeline.From[int](t.Context(), count(1000)).Seq() {
				panic("mine")
			}
		})
	})
	for name, ch := range map[string]func() chan any{"cancel": func() chan any { return make(chan any) }, "cancel on a nil channel": func() chan any { return nil }} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				e := pipeline.From[int](ctx, ext.NewChanSource(ch()))
				for range e.Seq() {
				}
				if !errors.Is(e.Err(), context.DeadlineExceeded) {
					t.Error(e.Err())
				}
				time.Sleep(pipeline.DrainGrace) // what still reads the outlet ends
				synctest.Wait()
			})
		})
	}
	t.Run("the error of a flow", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			e := pipeline.From[int](t.Context(), ext.NewChanSource(channelOf(1, "x")).Via(pipeline.Flow(t.Context(), double(0))))
			got := slices.Collect(e.Seq())
			var wrong *pipeline.TypeError
			if !errors.As(e.Err(), &wrong) || !slices.Equal(got, []int{2}) {
				t.Errorf("%v, %v", got, e.Err())
			}
		})
	})
}

func TestSourceFrom(t *testing.T) {
	part := pipeline.Chunk{Data: []byte("a")}
	failing := func(ctx context.Context) streams.Outlet {
		return ext.NewChanSource(channelOf(part, "x")).Via(pipeline.Flow(ctx, pass)).Via(flow.NewPassThrough())
	}
	of := func(values ...any) func(context.Context) streams.Outlet {
		return func(context.Context) streams.Outlet { return ext.NewChanSource(channelOf(values...)) }
	}
	for _, c := range []struct {
		name   string
		outlet func(context.Context) streams.Outlet
		want   pipeline.Exit
		chunks int
	}{
		{"chunks", of(part, part), pipeline.Exit{}, 2},
		{"something else", of(part, "b"), pipeline.Exit{Err: pipeline.ErrSourceStream}, 2},
		{"a cut", of(part, pipeline.Chunk{Cut: true}), pipeline.Exit{Err: pipeline.ErrSourceStream}, 2},
		{"a flow of chunks that ended early", failing, pipeline.Exit{Err: pipeline.ErrSourceStream}, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := pipeline.SourceFrom(c.outlet(t.Context()))
				n := 0
				var last pipeline.Chunk
				for last = range s.Chunks(t.Context()) {
					n++
				}
				if s.Exit() != c.want || n != c.chunks || last.Cut != (c.want.Err != nil) {
					t.Errorf("%+v after %d chunks, want %+v after %d", s.Exit(), n, c.want, c.chunks)
				}
				for range s.Chunks(t.Context()) {
					t.Error("a second time")
				}
				s.Close()
				s.Close()
			})
		})
	}
}

func TestSourceFromStops(t *testing.T) {
	chunks := func() streams.Outlet {
		return count(1000).Via(flow.NewMap(func(int) pipeline.Chunk { return pipeline.Chunk{Data: []byte("a")} }, 1))
	}
	silent := func() streams.Outlet { return ext.NewChanSource(make(chan any)) }
	for _, c := range []struct {
		name   string
		outlet func() streams.Outlet
		stop   func(s pipeline.Source, cancel func())
		want   pipeline.End
		cut    bool
	}{
		{"consumer", chunks, nil, pipeline.EndConsumer, false},
		{"context", silent, func(_ pipeline.Source, cancel func()) { cancel() }, pipeline.EndContext, true},
		{"close", silent, func(s pipeline.Source, _ func()) { s.Close() }, pipeline.EndConsumer, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				s := pipeline.SourceFrom(c.outlet())
				defer s.Close()
				if c.stop != nil {
					time.AfterFunc(time.Minute, func() { c.stop(s, cancel) })
				}
				var last pipeline.Chunk
				for last = range s.Chunks(ctx) {
					if c.stop == nil {
						break
					}
				}
				if s.Exit() != (pipeline.Exit{End: c.want}) || last.Cut != c.cut {
					t.Errorf("%+v, cut %v", s.Exit(), last.Cut)
				}
			})
		})
	}
}
