// Command peers measures other ways to do the work of tailrace, on the same file and in
// the same rounds: the naive way in Go, go-streams with a line an element, Benthos, the
// same script under Node and Bun, and jq.
//
// Each reads the file, splits it into lines, parses each line as JSON, counts the log
// events, and makes a result that fits the size limit, as far as it can; what it leaves
// out is said beside its name, and is to its advantage. Its result is checked before it is
// timed. A peer that is not there is reported with the reason. What runs warm has a process
// of its own, so that no one pays for the garbage of another.
//
// It is a module of its own, so that what it requires does not weigh on users.
//
//	npm ci                      Bun, into node_modules
//	go run . -json peers.json
//	tailrace bench --peers peers.json
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tailrace/tailrace/internal/corpus"
	"github.com/tailrace/tailrace/internal/measure"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	name := flag.String("corpus", "c1", "the input, c1 to c6")
	size := flag.Int("size", corpus.Size, "its size in bytes")
	count := flag.Int("count", 10, "rounds")
	out := flag.String("json", "", "write the report to this file, for tailrace bench --peers")
	binary := flag.String("tailrace", "", "the tailrace to measure as a whole process; built if not given")
	scripts := flag.String("scripts", ".", "the folder of work.mjs and node_modules")
	way := flag.String("stay", "", "be the process of one way in Go; started by this program")
	flag.Parse()
	if *way != "" {
		return stay(ctx, *way, flag.Arg(0))
	}
	i := slices.IndexFunc(corpus.All, func(c corpus.Corpus) bool { return c.Name == *name })
	if i < 0 || flag.NArg() > 0 {
		return errors.New("-corpus takes c1 to c6, and there are no arguments")
	}
	dir, err := os.MkdirTemp("", "tailrace-peers-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	in, err := newInput(dir, corpus.All[i], *size)
	if err != nil {
		return err
	}
	if *binary == "" {
		*binary = filepath.Join(dir, "tailrace")
		build := exec.CommandContext(ctx, "go", "build", "-o", *binary, "./cmd/tailrace")
		build.Dir = "../.."
		if text, err := build.CombinedOutput(); err != nil {
			return fmt.Errorf("tailrace does not build: %s", text)
		}
	}
	report, err := measurePeers(ctx, in, peersOf(*binary, *scripts), *count)
	if err != nil {
		return err
	}
	for _, p := range report.Peers {
		if p.Missing != "" {
			fmt.Printf("%-28s missing: %s\n", p.Name, p.Missing)
			continue
		}
		fmt.Printf("%-28s %9.2f ms  %s %7.2f ms  %6.2f times as long\n", p.Name, p.Times.Min()/1e6, p.Against.Name, p.Against.Min()/1e6, p.Ratio())
	}
	if *out == "" {
		return nil
	}
	f, err := os.Create(*out)
	if err != nil {
		return err
	}
	return errors.Join(report.Write(f), f.Close())
}

// measurePeers checks each peer, then times those that are there in the same rounds, with
// each of our own ways that one of them is held against.
func measurePeers(ctx context.Context, in *input, peers []*peer, count int) (*measure.Report, error) {
	report := &measure.Report{Schema: measure.Schema, Time: time.Now().UTC().Truncate(time.Second), Machine: measure.Here(), Child: "cat"}
	var ways []measure.Way
	at := map[string]int{}
	add := func(p *peer) error {
		defer fmt.Fprint(os.Stderr, "\r\x1b[K")
		fmt.Fprintf(os.Stderr, "\rchecking %s", p.name)
		if err := p.start(ctx, in); err != nil {
			return err
		}
		got, err := p.check(ctx, in)
		if err != nil {
			return err
		}
		p.got = got
		at[p.name] = len(ways)
		ways = append(ways, measure.Way{Name: p.name, Warm: p.warm, Run: func(ctx context.Context) error { return p.run(ctx, in) }})
		return nil
	}
	for _, p := range peers {
		defer p.end()
		if p.against == "" {
			// Without our own there is nothing to hold the others against.
			if err := add(p); err != nil {
				return nil, fmt.Errorf("%s: %w", p.name, err)
			}
		} else if err := add(p); err != nil {
			p.missing = strings.TrimSpace(err.Error())
		}
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
	}
	series, err := measure.Interleave(ctx, ways, measure.Plan{Count: count, OnStep: func(way string, done float64) {
		fmt.Fprintf(os.Stderr, "\r\x1b[K%3.0f%% %s", 100*done, way)
	}})
	fmt.Fprint(os.Stderr, "\r\x1b[K")
	if err != nil {
		return nil, err
	}
	for _, p := range peers {
		if p.against == "" {
			continue
		}
		row := measure.Peer{Name: p.name, About: p.about, Version: p.version, Input: in.name, Missing: p.missing}
		row.Times.Name, row.Against.Name = p.name, p.against
		if p.missing == "" {
			row.Events, row.Bytes = p.got.events, p.got.bytes
			row.Times, row.Against = series[at[p.name]], series[at[p.against]]
		}
		report.Peers = append(report.Peers, row)
	}
	return report, nil
}
