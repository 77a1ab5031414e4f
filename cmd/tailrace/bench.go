package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tailrace/tailrace/internal/corpus"
	"github.com/tailrace/tailrace/internal/measure"
	"github.com/tailrace/tailrace/internal/plot"
	"github.com/tailrace/tailrace/pipeline"
)

const benchLong = `Measure on this machine what the pipeline costs.

A child process writes an input; the pipeline reads it, from the start of the child to
the last byte of a finished result. Beside it, in the same rounds, the same child is read
to its end and thrown away: the drain, which nothing that reads a child can beat. What is
quoted is the least time of all rounds, and how many times that of the drain it is.

Without more the inputs are six kinds of generated logs, the same bytes on every machine:
  c1  typical compose events of about 350 bytes
  c2  short events of about 110 bytes
  c3  long events of 4 to 64 KiB
  c4  events rich in emoji and escapes
  c5  one line without a line end
  c6  raw text

With --file the input is a file, with -- COMMAND what a command writes: one that ends
well, by itself, within a minute, and writes at most 8 MiB. It is run once a round.

--json keeps every time that was measured. --compare takes such a file from before and
says which medians moved, with the p of the Mann-Whitney U test, as benchstat does; ~ is
a difference that may well be chance. Ten rounds or more make it sharp.

Exit codes: 0 it was measured, 1 it could not be, 2 the command line is wrong.`

const benchExample = `  tailrace bench
  tailrace bench --corpus c1,c4 --count 30 --json before.json
  tailrace bench --corpus c1,c4 --count 30 --compare before.json
  tailrace bench --html bench.html
  tailrace bench --file app.log
  tailrace bench --from new.json --compare old.json`

// benchOptions are the flags of bench.
type benchOptions struct {
	corpora  []string
	size     int64
	count    int
	time     time.Duration
	file     string
	from     string
	compare  string
	peers    string
	json     string
	html     string
	svg      string
	quiet    bool
	command  []string
	selected []corpus.Corpus
}

func newBenchCommand(a *app) *cobra.Command {
	o := &benchOptions{size: corpus.Size, count: 10}
	cmd := &cobra.Command{
		Use:                   "bench [flags] [-- COMMAND [ARGS...]]",
		Short:                 "Measure on this machine what the pipeline costs",
		Long:                  benchLong,
		Example:               benchExample,
		DisableFlagsInUseLine: true,
	}
	f := cmd.Flags()
	f.StringSliceVar(&o.corpora, "corpus", nil, "`NAMES` of the generated inputs: c1 to c6, with commas (default all)")
	f.Var(&byteSize{&o.size}, "size", "`SIZE` of a generated input, from 64KiB to 8MiB")
	f.Var(&count{&o.count}, "count", "`N` rounds")
	f.Var(&span{&o.time}, "time", "rounds for so much `TIME` an input, instead of --count")
	f.StringVar(&o.file, "file", "", "measure `FILE` instead of the generated inputs")
	f.StringVar(&o.from, "from", "", "measure nothing, show the report in `FILE`")
	f.StringVar(&o.compare, "compare", "", "compare with the earlier report in `FILE`")
	f.StringVar(&o.peers, "peers", "", "add the peers in `FILE`, as bench/peers writes it")
	f.StringVar(&o.json, "json", "", "write the report to `FILE`, - for stdout")
	f.StringVar(&o.html, "html", "", "write a page with plots to `FILE`, - for stdout")
	f.StringVar(&o.svg, "svg", "", "write the plots to `FILE`, - for stdout")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "no progress on stderr")
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error {
		text := flagProblem(err)
		var unknown *pflag.NotExistError
		if errors.As(err, &unknown) {
			text += "; flags of COMMAND stand behind --"
		}
		return &usageError{text}
	})
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 && cmd.ArgsLenAtDash() != 0 {
			return &usageError{"put -- before the command: tailrace bench [flags] -- COMMAND [ARGS...]"}
		}
		o.command = args
		return o.check(cmd.Flags())
	}
	cmd.RunE = func(*cobra.Command, []string) error {
		defer brokenPipes()()
		ctx, stop := signal.NotifyContext(context.Background(), endSignals()...)
		defer stop()
		err := runBench(ctx, a, o)
		if ctx.Err() != nil && err != nil {
			return &exitError{code: codeInterrupted, err: errBenchEnded}
		}
		return err
	}
	cmd.AddCommand(newBenchSourceCommand(a))
	return cmd
}

var errBenchEnded = errors.New("the benchmark was interrupted")

// check refuses what does not go together, and selects the corpora.
func (o *benchOptions) check(f *pflag.FlagSet) error {
	inputs := 0
	for _, given := range []bool{len(o.command) > 0, o.file != "", o.from != "", f.Changed("corpus") || f.Changed("size")} {
		if given {
			inputs++
		}
	}
	onStdout := 0
	for _, to := range []string{o.json, o.html, o.svg} {
		if to == "-" {
			onStdout++
		}
	}
	switch {
	case inputs > 1:
		return &usageError{"take one of --corpus and --size, --file, --from and -- COMMAND"}
	case onStdout > 1:
		return &usageError{"only one of --json, --html and --svg can go to stdout"}
	case o.size < 64<<10 || o.size > pipeline.CaptureLimit:
		return &usageError{"--size takes a size from 64KiB to 8MiB"}
	}
	o.selected = corpus.All
	if len(o.corpora) > 0 {
		o.selected = nil
		for _, name := range o.corpora {
			i := slices.IndexFunc(corpus.All, func(c corpus.Corpus) bool { return c.Name == name })
			if i < 0 {
				return &usageError{"--corpus takes c1, c2, c3, c4, c5 and c6, with commas in between"}
			}
			o.selected = append(o.selected, corpus.All[i])
		}
	}
	return nil
}

// runBench measures, or reads, a report and shows it.
func runBench(ctx context.Context, a *app, o *benchOptions) error {
	// What is read is read first: a wrong name is not found out after a minute.
	before, err := readReport(o.compare, "--compare")
	if err != nil {
		return err
	}
	peers, err := readReport(o.peers, "--peers")
	if err != nil {
		return err
	}
	report, err := readReport(o.from, "--from")
	if err != nil {
		return err
	}
	if report == nil {
		if report, err = benchMeasure(ctx, a, o); err != nil {
			return err
		}
	}
	if peers != nil {
		report.Peers = peers.Peers
	}
	for _, out := range []struct {
		to, flag string
		write    func(io.Writer) error
	}{
		{o.json, "--json", report.Write},
		{o.html, "--html", func(w io.Writer) error { return plot.HTML(w, report) }},
		{o.svg, "--svg", func(w io.Writer) error { return plot.SVG(w, report) }},
	} {
		if err := writeReport(a, out.to, out.flag, out.write); err != nil {
			return err
		}
	}
	if o.json == "-" || o.html == "-" || o.svg == "-" {
		return nil
	}
	text := benchTable(report)
	if before != nil {
		text += "\n" + benchComparison(measure.Compare(before, report))
	}
	_, err = io.WriteString(a.Stdout, text)
	return err
}

func readReport(path, flag string) (*measure.Report, error) {
	if path == "" {
		return nil, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, &usageError{"the file of " + flag + " cannot be read: check its name"}
	}
	defer f.Close()
	r, err := measure.Read(f)
	if err != nil {
		return nil, fmt.Errorf("the file of %s is %w", flag, err)
	}
	return r, nil
}

func writeReport(a *app, path, flag string, write func(io.Writer) error) error {
	switch path {
	case "":
		return nil
	case "-":
		return write(a.Stdout)
	}
	var b strings.Builder
	if err := write(&b); err != nil {
		return err
	}
	if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
		return errors.New("the file of " + flag + " cannot be written: check its folder and its rights")
	}
	return nil
}
