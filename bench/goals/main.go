// Command goals measures what tailrace promises of its speed, and prints each value beside
// its goal.
//
// What is compared runs in the same rounds, in one run, and what is quoted is a ratio of
// minima. The peers are those of bench/peers, which it starts; -peers=false leaves them out.
//
//	go run ./bench/goals                          the table
//	go run ./bench/goals -md docs/benchmarks.md   and between the marks of that page
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"

	"github.com/tailrace/tailrace/internal/corpus"
	"github.com/tailrace/tailrace/internal/measure"
)

func main() {
	if os.Getenv(writerVariable) != "" {
		os.Exit(writer())
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "goals:", err)
		os.Exit(1)
	}
}

// A bench is what all measures share.
type bench struct {
	dir, binary string
	count       int
	// files are the corpora by name.
	files map[string]string
	data  map[string][]byte
	// peersReport is what the peers wrote; "" where they were left out.
	peersReport string
}

// options are the command line.
type options struct {
	count    int
	peers    bool
	json, md string
}

func run(ctx context.Context) error {
	var o options
	flag.IntVar(&o.count, "count", 30, "rounds")
	flag.BoolVar(&o.peers, "peers", true, "measure the peers, too")
	flag.StringVar(&o.json, "json", "", "write the rows to this file")
	flag.StringVar(&o.md, "md", "", "write the table between the marks of this page")
	flag.Parse()
	if flag.NArg() > 0 || o.count < 1 {
		return errors.New("it takes no arguments, and a count of at least 1")
	}
	b := &bench{count: o.count, files: map[string]string{}, data: map[string][]byte{}}
	var err error
	if b.dir, err = os.MkdirTemp("", "tailrace-goals-"); err != nil {
		return err
	}
	defer os.RemoveAll(b.dir)
	if err := b.prepare(ctx); err != nil {
		return err
	}
	var rows []row
	for _, part := range []struct {
		name string
		rows func(context.Context) ([]row, error)
	}{
		{"corpora", b.corpora}, {"chains", b.chains}, {"run", b.runs}, {"server", b.server},
		{"peers", func(ctx context.Context) ([]row, error) {
			if !o.peers {
				return nil, nil
			}
			return b.peers(ctx)
		}},
	} {
		fmt.Fprintln(os.Stderr, "measuring:", part.name)
		got, err := part.rows(ctx)
		rows = append(rows, got...)
		if err != nil {
			if ctx.Err() != nil {
				return err
			}
			// The other rows are worth having.
			rows = append(rows, row{What: "part " + part.name, Missing: err.Error()})
		}
	}
	fmt.Print(table(rows))
	if o.json != "" {
		text, err := json.MarshalIndent(map[string]any{"machine": measure.Here(), "rows": rows}, "", " ")
		if err != nil {
			return err
		}
		if err := os.WriteFile(o.json, append(text, '\n'), 0o644); err != nil {
			return err
		}
	}
	if o.md == "" {
		return nil
	}
	fmt.Fprintln(os.Stderr, "measuring: plots")
	return errors.Join(writePage(o.md, rows), b.plots(ctx, strings.TrimSuffix(o.md, ".md")+".svg"))
}

// plots has the program itself draw the corpora, their stages and sizes, and the peers.
func (b *bench) plots(ctx context.Context, path string) error {
	args := []string{"bench", "--count", fmt.Sprint(b.count), "--svg", path}
	if b.peersReport != "" {
		args = append(args, "--peers", b.peersReport)
	}
	_, err := command(ctx, "", b.binary, args...).Output()
	return err
}

// prepare writes the corpora and builds the program.
func (b *bench) prepare(ctx context.Context) error {
	for _, c := range corpus.All {
		b.data[c.Name], b.files[c.Name] = c.Bytes(corpus.Size), filepath.Join(b.dir, c.Name)
		if err := os.WriteFile(b.files[c.Name], b.data[c.Name], 0o600); err != nil {
			return err
		}
	}
	b.binary = filepath.Join(b.dir, "tailrace")
	if text, err := exec.CommandContext(ctx, "go", "build", "-o", b.binary, "github.com/tailrace/tailrace/cmd/tailrace").CombinedOutput(); err != nil {
		return fmt.Errorf("tailrace does not build: %s", text)
	}
	return nil
}

// interleave times ways in the same rounds and returns their minima in ns.
func (b *bench) interleave(ctx context.Context, ways []measure.Way) (map[string]float64, error) {
	series, err := measure.Interleave(ctx, ways, measure.Plan{Count: b.count})
	if err != nil {
		return nil, err
	}
	least := map[string]float64{}
	for _, s := range series {
		least[s.Name] = s.Min()
	}
	return least, nil
}
