// Command instructions counts the instructions of the line and of the naive way on the same
// input, and compares how many times as many the naive way takes with a ratio that is kept
// here. Instructions do not depend on the clock or on what else the machine does, so the
// check holds on a noisy machine.
//
//	go run ./bench/instructions
//
// The counting is valgrind's (callgrind). Where it is missing the command says so and fails.
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"

	"github.com/tailrace/tailrace/bench"
	"github.com/tailrace/tailrace/internal/corpus"
	"github.com/tailrace/tailrace/internal/memsource"
	"github.com/tailrace/tailrace/internal/vector"
	"github.com/tailrace/tailrace/pipeline"
	"github.com/tailrace/tailrace/stages"
)

// kept are how many times as many instructions the naive way took, by way of ours, when
// this was written. A change of ours that costs a tenth more shows.
var kept = map[string]float64{"vector": 17.4, "portable": 4.2}

// slack is by how much a ratio may be below the one that is kept.
const slack = 0.10

// size is that of the input in bytes: one that takes some seconds under valgrind.
const size = 1 << 20

func main() {
	var err error
	if len(os.Args) == 5 {
		err = work(os.Args[1], os.Args[2], os.Args[3], os.Args[4])
	} else {
		err = compare()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "instructions:", err)
		os.Exit(1)
	}
}

// work does the work on a part of a corpus as often as it is told.
func work(way, times, input, bytesOf string) error {
	n, err := strconv.Atoi(times)
	if err != nil {
		return err
	}
	length, err := strconv.Atoi(bytesOf)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(corpus.All, func(c corpus.Corpus) bool { return c.Name == input })
	if i < 0 {
		return errors.New("there is no such corpus")
	}
	data := corpus.All[i].Bytes(length)
	src := memsource.New(data, 64<<10)
	vector.Enable(way == "vector")
	var dst []byte
	for range n {
		if way == "naive" {
			if _, err := bench.Naive(bytes.NewReader(data), 0); err != nil {
				return err
			}
			continue
		}
		run, err := stages.Collect(context.Background(), src, pipeline.Bounds{}, stages.CollectOptions{})
		if err != nil {
			return err
		}
		if way == "collect" {
			continue
		}
		dst, _ = stages.Budget{}.AppendResult(dst[:0], stages.PayloadOf(run, "cat", false, stages.LogLimits{}))
	}
	return nil
}

var collected = regexp.MustCompile(`Collected : (\d+)`)

// count returns the instructions of the work done once: those of twice less those of once,
// so that what comes before it does not count.
func count(valgrind, way, input string, length int) (float64, error) {
	exe, err := os.Executable()
	if err != nil {
		return 0, err
	}
	dir, err := os.MkdirTemp("", "tailrace-instructions-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	var counts [2]float64
	for i := range counts {
		cmd := exec.Command(valgrind, "--tool=callgrind", "--callgrind-out-file="+filepath.Join(dir, "out"), exe, way, fmt.Sprint(i+2), input, fmt.Sprint(length))
		// The collector runs when it will, which is no part of the comparison; one thread
		// makes what is left of the runtime's work the same each time.
		cmd.Env = append(os.Environ(), "GOMAXPROCS=1", "GOGC=off", "GODEBUG=asyncpreemptoff=1")
		text, err := cmd.CombinedOutput()
		m := collected.FindSubmatch(text)
		if err != nil || m == nil {
			return 0, fmt.Errorf("valgrind fails on the way %s: %w\n%s", way, err, text)
		}
		if counts[i], err = strconv.ParseFloat(string(m[1]), 64); err != nil {
			return 0, err
		}
	}
	return counts[1] - counts[0], nil
}

func compare() error {
	valgrind, err := exec.LookPath("valgrind")
	if err != nil {
		return errors.New("valgrind is not installed: nothing was counted")
	}
	naive, err := count(valgrind, "naive", "c1", size)
	if err != nil {
		return err
	}
	fmt.Printf("naive     %6.1f instructions a byte\n", naive/size)
	var worse error
	for _, way := range []string{"vector", "portable"} {
		ours, err := count(valgrind, way, "c1", size)
		if err != nil {
			return err
		}
		ratio := naive / ours
		fmt.Printf("%-9s %6.1f instructions a byte, naive is %.1f times that, %.1f are kept\n", way, ours/size, ratio, kept[way])
		if ratio < kept[way]*(1-slack) {
			worse = errors.New("the line takes more instructions than when the ratio was kept: see what changed, or keep the new one")
		}
	}
	for _, c := range corpus.All {
		small, err := count(valgrind, "collect", c.Name, size/4)
		if err != nil {
			return err
		}
		large, err := count(valgrind, "collect", c.Name, size)
		if err != nil {
			return err
		}
		growth := large / small
		fmt.Printf("%s collected: 4 times the bytes take %.2f times the instructions\n", c.Name, growth)
		if growth > 4*(1+slack) {
			worse = errors.New("the line is not linear in the bytes")
		}
	}
	return worse
}
