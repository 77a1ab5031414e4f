package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"time"

	"github.com/tailrace/tailrace/internal/measure"
	"github.com/tailrace/tailrace/internal/memsource"
	"github.com/tailrace/tailrace/pipeline"
	"github.com/tailrace/tailrace/pipeline/source"
	"github.com/tailrace/tailrace/stages"
)

// writerVariable makes the program the child of a measure: it writes a line every so
// often, with the time at which it did.
const writerVariable = "TAILRACE_GOALS_WRITER"

func writer() int {
	every, err := time.ParseDuration(os.Getenv(writerVariable))
	if err != nil {
		return 2
	}
	out := bufio.NewWriter(os.Stdout)
	for next := time.Now(); ; {
		fmt.Fprintf(out, `{"type":"log","at":%d}`+"\n", time.Now().UnixNano())
		if out.Flush() != nil {
			return 0
		}
		// Against the clock, so that being late once does not make all others late.
		next = next.Add(every)
		time.Sleep(time.Until(next))
	}
}

// startWriter starts this program as a writer.
func startWriter(every time.Duration) (*source.Child, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return source.Start(source.Command{Path: exe, Env: append(os.Environ(), writerVariable+"="+every.String())})
}

// runs are the rows of single runs: allocations, scaling, stop, first event, a live tail.
func (b *bench) runs(ctx context.Context) ([]row, error) {
	var rows []row
	for _, f := range []func(context.Context) ([]row, error){b.allocations, b.scaling, b.stop, b.latency, b.live} {
		got, err := f(ctx)
		if err != nil {
			return nil, err
		}
		rows = append(rows, got...)
	}
	return rows, nil
}

// allocations counts what a run allocates beyond what starting and reading its child does.
func (b *bench) allocations(ctx context.Context) ([]row, error) {
	file := b.files["c1"]
	var dst []byte
	command := source.Command{Path: "cat", Args: []string{file}, BufferBytes: pipeline.CaptureLimit + 64<<10}
	bare := func() error {
		c, err := source.Start(command)
		if err != nil {
			return err
		}
		for range c.Chunks(ctx) {
		}
		return c.Close()
	}
	run := func() (err error) {
		dst, err = whole(ctx, file, dst, discard{})
		return err
	}
	count := func(f func() error) (uint64, error) {
		least := ^uint64(0)
		for range 20 {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			if err := f(); err != nil {
				return 0, err
			}
			runtime.ReadMemStats(&after)
			least = min(least, after.Mallocs-before.Mallocs)
		}
		return least, nil
	}
	child, err := count(bare)
	if err != nil {
		return nil, err
	}
	all, err := count(run)
	if err != nil {
		return nil, err
	}
	return []row{{What: "allocations of a run beyond its child, 8 MiB of c1", Value: float64(all) - float64(child), Unit: "", Most: 10,
		Note: fmt.Sprintf("(starting and reading the child: %d)", child)}}, nil
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }

// scaling compares the time of a byte at 8 MiB with that at 64 KiB.
func (b *bench) scaling(ctx context.Context) ([]row, error) {
	var ways []measure.Way
	sizes := []int{64 << 10, 512 << 10, 2 << 20, len(b.data["c1"])}
	for _, size := range sizes {
		src := memsource.New(b.data["c1"][:size], 64<<10)
		ways = append(ways, measure.Way{Name: fmt.Sprint(size), Run: func(ctx context.Context) error {
			_, err := stages.Collect(ctx, src, pipeline.Bounds{}, stages.CollectOptions{})
			return err
		}})
	}
	least, err := b.interleave(ctx, ways)
	if err != nil {
		return nil, err
	}
	var rows []row
	first := least[fmt.Sprint(sizes[0])] / float64(sizes[0])
	for _, size := range sizes[1:] {
		rows = append(rows, times(fmt.Sprintf("time of a byte at %d KiB / at 64 KiB, over memory", (size+512)>>10), least[fmt.Sprint(size)]/float64(size)/first, 0, 0))
	}
	return rows, nil
}

// stop measures the time from the last event that a bound allows until the child's group is
// gone.
func (b *bench) stop(ctx context.Context) ([]row, error) {
	const runs = 200
	took := make([]time.Duration, 0, runs)
	for range runs {
		c, err := source.Start(source.Command{Path: "sh", Args: []string{"-c", `echo '{"type":"log"}'; exec sleep 60`}})
		if err != nil {
			return nil, err
		}
		var reached time.Time
		if _, err := stages.Collect(ctx, c, pipeline.Bounds{MaxEvents: 1}, stages.CollectOptions{OnEvent: func(stages.Event) { reached = time.Now() }}); err != nil {
			return nil, err
		}
		if err := c.Close(); err != nil {
			return nil, err
		}
		<-c.Done()
		took = append(took, time.Since(reached))
	}
	return []row{
		{What: "stop at an event bound until the group is gone, p50 of 200", Value: ms(percentile(took, 50)), Unit: "ms"},
		{What: "stop at an event bound until the group is gone, p99 of 200", Value: ms(percentile(took, 99)), Unit: "ms", Most: 20},
	}, nil
}

func ms(d time.Duration) float64 { return float64(d) / 1e6 }

func percentile(all []time.Duration, p int) time.Duration {
	slices.Sort(all)
	return all[min(len(all)*p/100, len(all)-1)]
}

var errWriter = errors.New("the child of the measure writes something else")

// latency measures how far an event of a slow child is behind its writing.
func (b *bench) latency(ctx context.Context) ([]row, error) {
	var behind []time.Duration
	for range 5 {
		c, err := startWriter(10 * time.Millisecond)
		if err != nil {
			return nil, err
		}
		_, err = stages.Collect(ctx, c, pipeline.Bounds{MaxEvents: 40}, stages.CollectOptions{OnEvent: func(e stages.Event) {
			now := time.Now().UnixNano()
			var line struct{ At int64 }
			if json.Unmarshal(e.Raw, &line) == nil && line.At != 0 {
				behind = append(behind, time.Duration(now-line.At))
			}
		}})
		if err := errors.Join(err, c.Close()); err != nil {
			return nil, err
		}
	}
	if len(behind) != 200 {
		return nil, errWriter
	}
	return []row{
		{What: "an event of a slow child behind its writing, p50 of 200", Value: ms(percentile(behind, 50)), Unit: "ms"},
		{What: "an event of a slow child behind its writing, p99 of 200", Value: ms(percentile(behind, 99)), Unit: "ms", Most: 5},
	}, nil
}

// live measures what of a core a tail of 1,000 events takes, one a ms. Beside it is what of
// that is the start and the end of the child.
func (b *bench) live(ctx context.Context) ([]row, error) {
	tail := func(events int) (cpu, took time.Duration, err error) {
		before, err := processCPU()
		if err != nil {
			return 0, 0, err
		}
		began := time.Now()
		c, err := startWriter(time.Millisecond)
		if err != nil {
			return 0, 0, err
		}
		_, err = stages.Collect(ctx, c, pipeline.Bounds{MaxEvents: events}, stages.CollectOptions{})
		err = errors.Join(err, c.Close())
		took = time.Since(began)
		after, cpuErr := processCPU()
		return after - before, took, errors.Join(err, cpuErr)
	}
	best, of, start := time.Hour, time.Duration(0), time.Hour
	for range 5 {
		cpu, took, err := tail(1000)
		if err != nil {
			return nil, err
		}
		if cpu < best {
			best, of = cpu, took
		}
		if cpu, _, err = tail(1); err != nil {
			return nil, err
		}
		start = min(start, cpu)
	}
	return []row{{What: "CPU of a tail of 1,000 events, one a ms", Value: 100 * float64(best) / float64(of), Unit: "% of a core", Most: 2,
		Note: fmt.Sprintf("(%.1f s; starting and ending the child is %.1f ms of the %.1f ms)", of.Seconds(), ms(start), ms(best))}}, nil
}

// command is a command that is run for its effect.
func command(ctx context.Context, dir, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	return cmd
}
