package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/tailrace/tailrace/internal/corpus"
	"github.com/tailrace/tailrace/internal/measure"
	"github.com/tailrace/tailrace/pipeline/source"
)

// benchSmallest is the smallest size of the scaling.
const benchSmallest = 64 << 10

// A benchRun measures one report.
type benchRun struct {
	o        *benchOptions
	dir      string
	sink     *os.File
	progress *benchProgress
	report   *measure.Report
	child    string
}

// benchMeasure measures what was asked for.
func benchMeasure(ctx context.Context, a *app, o *benchOptions) (*measure.Report, error) {
	dir, err := os.MkdirTemp("", "tailrace-bench-")
	if err != nil {
		return nil, errBenchTemp
	}
	defer os.RemoveAll(dir)
	sink, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		return nil, errors.New("the null device of this system cannot be written")
	}
	defer sink.Close()
	r := &benchRun{o: o, dir: dir, sink: sink, progress: newBenchProgress(a, o.quiet), report: &measure.Report{
		Schema: measure.Schema, Time: a.Now().UTC().Truncate(time.Second), Version: thisBuild().Version, Machine: measure.Here(),
	}}
	defer r.progress.erase()
	switch {
	case len(o.command) > 0:
		r.child = "command"
		err = r.input(ctx, &benchInput{name: "command", about: "what the command writes", command: source.Command{Path: o.command[0], Args: o.command[1:], Env: a.Env}})
	case o.file != "":
		var in *benchInput
		if in, r.child, err = userFile(o.file); err == nil {
			err = r.input(ctx, in)
		}
	default:
		err = r.corpora(ctx)
	}
	if err != nil {
		return nil, err
	}
	r.report.Child = r.child
	return r.report, nil
}

// corpora measures the generated inputs, then the first of them in rising sizes.
func (r *benchRun) corpora(ctx context.Context) error {
	sizes := []int{}
	for size := benchSmallest; size < int(r.o.size)/4*3; size *= 2 {
		sizes = append(sizes, size)
	}
	r.progress.parts = len(r.o.selected) + 1
	for _, c := range r.o.selected {
		in, child, err := corpusInput(r.dir, c, int(r.o.size))
		if err != nil {
			return err
		}
		r.child = child
		if err := r.input(ctx, in); err != nil {
			return err
		}
	}
	if len(sizes) == 0 {
		return nil
	}
	return r.scaling(ctx, r.o.selected[0], sizes)
}

// input measures one input: the whole and its limit, and the stages alone.
func (r *benchRun) input(ctx context.Context, in *benchInput) error {
	defer r.progress.part(in.name)()
	if err := in.probe(ctx); err != nil {
		return err
	}
	alone, err := in.stageWays(ctx)
	if err != nil {
		return err
	}
	runtime.GC() // what the preparation left is not collected within the measurement
	ways := append([]measure.Way{in.drain(), in.whole(r.sink), in.memory()}, alone...)
	series, err := measure.Interleave(ctx, ways, r.plan())
	if err != nil {
		return err
	}
	in.info.Drain, in.info.Whole, in.info.Memory, in.info.Stages = series[0], series[1], series[2], series[3:]
	r.report.Inputs = append(r.report.Inputs, in.info)
	return nil
}

// scaling measures one corpus in rising sizes, all in the same rounds. The last size is
// the one that was measured as an input.
func (r *benchRun) scaling(ctx context.Context, c corpus.Corpus, sizes []int) error {
	defer r.progress.part(c.Name + " by size")()
	var inputs []*benchInput
	var ways []measure.Way
	for _, size := range append(slices.Clone(sizes), int(r.o.size)) {
		sized := c
		sized.Name = fmt.Sprintf("%s-%d", c.Name, size)
		in, _, err := corpusInput(r.dir, sized, size)
		if err != nil {
			return err
		}
		if err := in.probe(ctx); err != nil {
			return err
		}
		in.info.Name = c.Name
		inputs, ways = append(inputs, in), append(ways, in.drain(), in.whole(r.sink), in.memory())
	}
	series, err := measure.Interleave(ctx, ways, r.plan())
	if err != nil {
		return err
	}
	for i, in := range inputs {
		in.info.Drain, in.info.Whole, in.info.Memory = series[3*i], series[3*i+1], series[3*i+2]
		r.report.Scaling = append(r.report.Scaling, in.info)
	}
	return nil
}

func (r *benchRun) plan() measure.Plan {
	return measure.Plan{Count: r.o.count, Time: r.o.time, OnStep: r.progress.step}
}

// A benchProgress is the progress line of a benchmark. It is drawn between two
// measurements, never within one.
type benchProgress struct {
	line  *progressLine // nil where nobody would see it
	last  time.Time
	parts int

	over int
	name string
}

func newBenchProgress(a *app, quiet bool) *benchProgress {
	p := &benchProgress{parts: 1}
	if f, ok := a.Stderr.(*os.File); ok && !quiet && term.IsTerminal(int(f.Fd())) && !slices.Contains(a.Env, "TERM=dumb") {
		p.line = &progressLine{w: f}
	}
	return p
}

// part begins a part, and returns what ends it.
func (p *benchProgress) part(name string) (end func()) {
	p.name = name
	p.last = time.Time{}
	p.step("preparing", 0)
	return func() { p.over++ }
}

func (p *benchProgress) step(way string, done float64) {
	if p.line == nil || time.Since(p.last) < progressEvery {
		return
	}
	p.last = time.Now()
	const width = 24
	all := (float64(p.over) + done) / float64(max(p.parts, p.over+1))
	full := int(all * width)
	p.line.draw(fmt.Sprintf("%s%s %3.0f%%  %s: %s", strings.Repeat("█", full), strings.Repeat("░", width-full), 100*all, p.name, way))
}

func (p *benchProgress) erase() { p.line.erase() }
