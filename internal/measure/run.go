package measure

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"
)

const (
	// shortest is what one time should last at least: work that takes less is repeated
	// within it, since the clock and the call around it would weigh too much.
	shortest = 200 * time.Microsecond
	// mostRepeats bounds how often work that takes no time at all is repeated.
	mostRepeats = 1000
)

// A Way is one way to do the work.
type Way struct {
	// Name is short and stable: reports are compared by it.
	Name string
	// Run does the work once.
	Run func(context.Context) error
	// Warm is for a way that others cool down, such as one in a process of its own: it runs
	// once untimed before each time, as one that is in steady use would have.
	Warm bool
}

// A Plan says how often.
type Plan struct {
	// Count is the number of rounds; 0 means 10.
	Count int
	// Time, if not 0, takes the place of Count: rounds are made until it is over, but not
	// fewer than 3.
	Time time.Duration
	// OnStep, if not nil, is told of each way that is about to run, on the goroutine of
	// the caller. done is the part of the rounds that is over, from 0 to 1.
	OnStep func(way string, done float64)
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// ErrPlan is returned for a plan that cannot be followed.
var ErrPlan = errors.New("the number of rounds and the time must not be negative")

// Interleave runs each way once untimed, then all of them in turn, round by round. It
// returns one series a way, in their order. An error of a way ends it and names the way.
// It runs one way at a time, on the goroutine of the caller.
func Interleave(ctx context.Context, ways []Way, p Plan) ([]Series, error) {
	if p.Count < 0 || p.Time < 0 {
		return nil, ErrPlan
	}
	if p.Count == 0 {
		p.Count = 10
	}
	if p.Now == nil {
		p.Now = time.Now
	}
	if p.OnStep == nil {
		p.OnStep = func(string, float64) {}
	}
	series := make([]Series, len(ways))
	repeats := make([]int, len(ways))
	for i, w := range ways {
		p.OnStep(w.Name, 0)
		// Twice: the first run faults pages in, and says nothing of what later ones take.
		var took time.Duration
		for range 2 {
			began := p.Now()
			if err := run(ctx, w); err != nil {
				return nil, err
			}
			took = p.Now().Sub(began)
		}
		series[i].Name = w.Name
		repeats[i] = min(int(shortest/max(took, 1))+1, mostRepeats)
	}
	began := p.Now()
	for round := 0; !p.over(round, p.Now().Sub(began)); round++ {
		done := p.done(round, p.Now().Sub(began))
		for i, w := range ways {
			p.OnStep(w.Name, done)
			if err := series[i].time(ctx, w, repeats[i], p.Now); err != nil {
				return nil, err
			}
		}
	}
	return series, nil
}

func (p *Plan) over(rounds int, elapsed time.Duration) bool {
	if p.Time > 0 {
		return rounds >= 3 && elapsed >= p.Time
	}
	return rounds >= p.Count
}

func (p *Plan) done(rounds int, elapsed time.Duration) float64 {
	if p.Time > 0 {
		return min(float64(elapsed)/float64(p.Time), 1)
	}
	return float64(rounds) / float64(p.Count)
}

func run(ctx context.Context, w Way) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	if err := w.Run(ctx); err != nil {
		return fmt.Errorf("%s: %w", w.Name, err)
	}
	return nil
}

// time adds one time, of so many repeats, and what they allocated.
func (s *Series) time(ctx context.Context, w Way, repeats int, now func() time.Time) error {
	if w.Warm {
		if err := run(ctx, w); err != nil {
			return err
		}
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	began := now()
	for range repeats {
		if err := run(ctx, w); err != nil {
			return err
		}
	}
	took := now().Sub(began)
	runtime.ReadMemStats(&after)
	n := float64(repeats)
	s.add(float64(took)/n, float64(after.Mallocs-before.Mallocs)/n, float64(after.TotalAlloc-before.TotalAlloc)/n)
	return nil
}
