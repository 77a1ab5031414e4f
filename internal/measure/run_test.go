package measure

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"time"
)

// A clock moves on by what the ways say they take.
type clock struct{ now time.Time }

func (c *clock) takes(name string, d time.Duration, ran *[]string) Way {
	return Way{Name: name, Run: func(context.Context) error {
		*ran = append(*ran, name)
		c.now = c.now.Add(d)
		return nil
	}}
}

func TestInterleave(t *testing.T) {
	c := &clock{now: time.Unix(0, 0)}
	var ran, steps []string
	series, err := Interleave(t.Context(), []Way{c.takes("a", time.Millisecond, &ran), c.takes("b", 2*time.Millisecond, &ran)},
		Plan{Count: 3, Now: func() time.Time { return c.now }, OnStep: func(way string, done float64) {
			steps = append(steps, way)
			if done < 0 || done > 1 {
				t.Errorf("done is %v", done)
			}
		}})
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(ran, ""); got != "aabb"+"ababab" {
		t.Errorf("ran %s: each twice untimed, then in turn", got)
	}
	if got := strings.Join(steps, ""); got != "ab"+"ababab" {
		t.Errorf("steps %s", got)
	}
	for i, want := range []float64{1e6, 2e6} {
		if n := len(series[i].Times); n != 3 || series[i].Min() != want {
			t.Errorf("%s: %d times, least %v, want 3 of %v", series[i].Name, n, series[i].Min(), want)
		}
	}
	if r := series[1].Ratio(&series[0]); r != 2 {
		t.Errorf("ratio %v, want 2", r)
	}
}

func TestInterleaveRepeatsShortWork(t *testing.T) {
	c := &clock{now: time.Unix(0, 0)}
	var ran []string
	series, err := Interleave(t.Context(), []Way{c.takes("s", 50*time.Microsecond, &ran)}, Plan{Count: 1, Now: func() time.Time { return c.now }})
	if err != nil {
		t.Fatal(err)
	}
	if len(ran) != 2+5 || series[0].Min() != 50e3 {
		t.Errorf("ran %d times, least %v ns: want 5 repeats of 50 µs in one time", len(ran), series[0].Min())
	}
}

func TestInterleaveForATime(t *testing.T) {
	for _, c := range []struct {
		time, takes time.Duration
		rounds      int
	}{{100 * time.Millisecond, 10 * time.Millisecond, 10}, {time.Millisecond, 10 * time.Millisecond, 3}} {
		clock := &clock{now: time.Unix(0, 0)}
		var ran []string
		series, err := Interleave(t.Context(), []Way{clock.takes("a", c.takes, &ran)}, Plan{Count: 99, Time: c.time, Now: func() time.Time { return clock.now }})
		if err != nil || len(series[0].Times) != c.rounds {
			t.Errorf("%v at %v a round: %d rounds, %v; want %d", c.time, c.takes, len(series[0].Times), err, c.rounds)
		}
	}
}

func TestInterleaveErrors(t *testing.T) {
	broken := errors.New("broken")
	_, err := Interleave(t.Context(), []Way{{Name: "good", Run: func(context.Context) error { return nil }}, {Name: "bad", Run: func(context.Context) error { return broken }}}, Plan{Count: 1})
	if !errors.Is(err, broken) || !strings.HasPrefix(err.Error(), "bad: ") {
		t.Errorf("got %v, want the error of the way with its name", err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(broken)
	if _, err := Interleave(ctx, []Way{{Name: "good", Run: func(context.Context) error { return nil }}}, Plan{}); !errors.Is(err, broken) {
		t.Errorf("got %v, want the cause of the context", err)
	}
	if _, err := Interleave(t.Context(), nil, Plan{Count: -1}); !errors.Is(err, ErrPlan) {
		t.Errorf("got %v, want %v", err, ErrPlan)
	}
}

func TestAllocations(t *testing.T) {
	var keep []byte
	series, err := Interleave(t.Context(), []Way{{Name: "one", Run: func(context.Context) error {
		keep = make([]byte, 1<<16)
		return nil
	}}}, Plan{Count: 5})
	if err != nil {
		t.Fatal(err)
	}
	// Others in the process may allocate too, but not in each of five rounds less than none.
	if s := series[0]; s.Allocs < 1 || s.AllocBytes < float64(len(keep)) {
		t.Errorf("%v allocations of %v bytes, want at least 1 of %d", s.Allocs, s.AllocBytes, len(keep))
	}
}

// TestWarm has a run before each that is timed, and one alone where the way is not warm.
func TestWarm(t *testing.T) {
	for warm, want := range map[bool]int{false: 2 + 5, true: 2 + 2*5} {
		clock, runs := time.Time{}, 0
		way := Way{Name: "one", Warm: warm, Run: func(context.Context) error {
			clock = clock.Add(time.Second)
			runs++
			return nil
		}}
		series, err := Interleave(t.Context(), []Way{way}, Plan{Count: 5, Now: func() time.Time { return clock }})
		if err != nil {
			t.Fatal(err)
		}
		if runs != want {
			t.Errorf("warm %v: %d runs, want %d", warm, runs, want)
		}
		if got := series[0].Min(); got != 1e9 {
			t.Errorf("warm %v: the least time is %v ns, want that of one run", warm, got)
		}
	}
}

func TestSeries(t *testing.T) {
	s := &Series{Times: []float64{4, 2, 3, 5, 1, 6, 7, 8, 9, 10}}
	median, spread := s.Median()
	if s.Min() != 1 || median != 5.5 || math.IsInf(spread, 0) || spread <= 0 {
		t.Errorf("least %v, median %v ± %v", s.Min(), median, spread)
	}
	if s.Times[0] != 4 {
		t.Error("the median sorted the times, which are in the order of the rounds")
	}
	few := &Series{Times: []float64{1, 2}}
	if _, spread := few.Median(); !math.IsInf(spread, 1) {
		t.Errorf("two times have an interval of ±%v, want none", spread)
	}
	none := &Series{}
	if m, spread := none.Median(); none.Min() != 0 || m != 0 || !math.IsInf(spread, 1) || none.MBps(1) != 0 || s.Ratio(none) != 0 {
		t.Error("a series without times says something")
	}
	if got := (&Series{Times: []float64{2e9}}).MBps(4e6); got != 2 {
		t.Errorf("4 MB in 2 s are %v MB/s", got)
	}
}
