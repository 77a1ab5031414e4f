package measure

import (
	"math"

	"golang.org/x/perf/benchmath"
)

// A Change is how one way of one input changed between two reports.
type Change struct {
	// Input and Way name it.
	Input, Way string
	// Old and New are the medians in nanoseconds; OldSpread and NewSpread half the widths
	// of their 95 % intervals as parts of them, +Inf where the times are too few for one.
	Old, New             float64
	OldSpread, NewSpread float64
	// Delta is the change of the median as text: "~" where the two sets of times may well
	// be of one kind.
	Delta string
	// P is the probability of a difference as large as this one between sets of one kind,
	// by the Mann-Whitney U test.
	P float64
	// Significant says that P is below 5 %.
	Significant bool
	// N1 and N2 are the numbers of times; TooFew says that no difference whatsoever could
	// be significant with so few.
	N1, N2 int
	TooFew bool
}

// A Comparison is how two reports differ.
type Comparison struct {
	Changes []Change
	// Geomean is the geometric mean of new over old of the whole runs, 0 without any.
	Geomean float64
	// Apart are the inputs and ways that only one of the reports has, as "input/way".
	Apart []string
	// Machines says that the two reports are of different machines.
	Machines bool
}

// Compare compares what two reports have in common: drain, the whole and each stage of
// each input of the same name and size.
func Compare(before, after *Report) *Comparison {
	c := &Comparison{Machines: before.Machine != after.Machine}
	logs, n := 0.0, 0
	for i := range after.Inputs {
		in := &after.Inputs[i]
		old := before.input(in.Name, in.Bytes)
		if old == nil {
			c.Apart = append(c.Apart, in.Name)
			continue
		}
		for _, s := range in.series() {
			was := old.find(s.Name)
			if was == nil {
				c.Apart = append(c.Apart, in.Name+"/"+s.Name)
				continue
			}
			change := compare(was, s)
			change.Input = in.Name
			c.Changes = append(c.Changes, change)
			if s == &in.Whole && change.Old > 0 && change.New > 0 {
				logs, n = logs+math.Log(change.New/change.Old), n+1
			}
		}
	}
	for i := range before.Inputs {
		if after.input(before.Inputs[i].Name, before.Inputs[i].Bytes) == nil {
			c.Apart = append(c.Apart, before.Inputs[i].Name)
		}
	}
	if n > 0 {
		c.Geomean = math.Exp(logs / float64(n))
	}
	return c
}

func compare(before, after *Series) Change {
	c := Change{Way: after.Name}
	c.Old, c.OldSpread = before.Median()
	c.New, c.NewSpread = after.Median()
	test := benchmath.AssumeNothing.Compare(before.sample(), after.sample())
	c.Delta = test.FormatDelta(c.Old, c.New)
	c.P, c.N1, c.N2 = test.P, test.N1, test.N2
	c.Significant = test.P <= test.Alpha
	c.TooFew = len(test.Warnings) > 0
	return c
}

// input returns the input of a name and a size, nil where there is none.
func (r *Report) input(name string, bytes int64) *Input {
	for i := range r.Inputs {
		if r.Inputs[i].Name == name && r.Inputs[i].Bytes == bytes {
			return &r.Inputs[i]
		}
	}
	return nil
}

// series are all that were measured of an input.
func (in *Input) series() []*Series {
	all := []*Series{&in.Drain, &in.Whole}
	if len(in.Memory.Times) > 0 {
		all = append(all, &in.Memory)
	}
	for i := range in.Stages {
		all = append(all, &in.Stages[i])
	}
	return all
}

func (in *Input) find(name string) *Series {
	for _, s := range in.series() {
		if s.Name == name && len(s.Times) > 0 {
			return s
		}
	}
	return nil
}
