package measure

import (
	"math"
	"slices"

	"golang.org/x/perf/benchmath"
)

// A Series is what was measured of one way.
type Series struct {
	// Name is that of the way.
	Name string `json:"name"`
	// Times are those of the rounds, in their order, in nanoseconds a run.
	Times []float64 `json:"times_ns"`
	// Allocs and AllocBytes are the fewest allocations, and bytes of them, of any round,
	// a run. They are those of the whole process, what starting a child takes included.
	Allocs     float64 `json:"allocs"`
	AllocBytes float64 `json:"alloc_bytes"`
}

// add adds a round.
func (s *Series) add(ns, allocs, bytes float64) {
	if len(s.Times) == 0 {
		s.Allocs, s.AllocBytes = allocs, bytes
	}
	s.Times = append(s.Times, ns)
	s.Allocs, s.AllocBytes = min(s.Allocs, allocs), min(s.AllocBytes, bytes)
}

// Min returns the least time in nanoseconds; 0 for a series without times.
func (s *Series) Min() float64 {
	if len(s.Times) == 0 {
		return 0
	}
	return slices.Min(s.Times)
}

// Median returns the median in nanoseconds and half the width of its 95 % confidence
// interval as a part of it; the latter is +Inf where the times are too few for one.
func (s *Series) Median() (ns, spread float64) {
	if len(s.Times) == 0 {
		return 0, math.Inf(1)
	}
	sum := benchmath.AssumeNothing.Summary(s.sample(), confidence)
	if sum.Center == 0 || math.IsInf(sum.Lo, 0) || math.IsInf(sum.Hi, 0) {
		return sum.Center, math.Inf(1)
	}
	return sum.Center, max(sum.Hi/sum.Center-1, 1-sum.Lo/sum.Center)
}

// sample is the series for the statistics, which sort what they are given.
func (s *Series) sample() *benchmath.Sample {
	return benchmath.NewSample(slices.Clone(s.Times), &benchmath.DefaultThresholds)
}

// confidence is the level of all intervals.
const confidence = 0.95

// Ratio returns how many times as long s takes as to, by their minima; 0 where either
// has no times.
func (s *Series) Ratio(to *Series) float64 {
	if to.Min() == 0 {
		return 0
	}
	return s.Min() / to.Min()
}

// MBps returns bytes per run as 10⁶ bytes a second, by the least time.
func (s *Series) MBps(bytes int64) float64 {
	if s.Min() == 0 {
		return 0
	}
	return float64(bytes) / s.Min() * 1e3
}
