package main

import (
	"cmp"
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/tailrace/tailrace/internal/measure"
)

// benchTable is the report for people: the whole of each input, the stages of each, the
// scaling, the peers.
func benchTable(r *measure.Report) string {
	var b strings.Builder
	m := r.Machine
	fmt.Fprintf(&b, "tailrace %s, %s, %s/%s, %s", r.Version, m.Go, m.OS, m.Arch, plural(int64(m.CPUs), "CPU"))
	if m.CPU != "" {
		fmt.Fprintf(&b, " (%s)", m.CPU)
	}
	rounds := 0
	if len(r.Inputs) > 0 {
		rounds = len(r.Inputs[0].Whole.Times)
	}
	fmt.Fprintf(&b, "\nThe least time of %s. drain: the child (%s) read to its end and thrown away, the limit.\n", plural(int64(rounds), "round"), cmp.Or(r.Child, "unknown"))

	t := newTable(&b)
	b.WriteByte('\n')
	t.row("input", "MB", "events", "drain ms", "tailrace ms", "x drain", "MB/s", "events/s", "ns/event", "allocs/event", "")
	for i := range r.Inputs {
		in := &r.Inputs[i]
		t.row(in.Name, fmt.Sprintf("%.2f", float64(in.Bytes)/1e6), in.Events, ms(&in.Drain), ms(&in.Whole), times(in.Whole.Ratio(&in.Drain)),
			short(in.Whole.MBps(in.Bytes)), rate(&in.Whole, in.Events), perEvent(in.Whole.Min(), in.Events), perEvent(in.Whole.Allocs, in.Events), in.About)
	}
	t.flush()
	for i := range r.Inputs {
		stageTable(&b, &r.Inputs[i])
	}
	scalingTable(&b, r.Scaling)
	peerTable(&b, r.Peers)
	return b.String()
}

// stageTable has a row for the limit, for each stage alone over memory, for the whole
// over memory and for the whole from the child.
func stageTable(b *strings.Builder, in *measure.Input) {
	if len(in.Stages) == 0 {
		return
	}
	t := newTable(b)
	b.WriteByte('\n')
	t.row(""+in.Name, "ms", "x drain", "MB/s", "events/s", "ns/event", "allocs", "allocs/event", "±")
	row := func(name string, s *measure.Series) {
		_, spread := s.Median()
		t.row(name, ms(s), times(s.Ratio(&in.Drain)), short(s.MBps(in.Bytes)), rate(s, in.Events),
			perEvent(s.Min(), in.Events), fmt.Sprintf("%.0f", s.Allocs), perEvent(s.Allocs, in.Events), percent(spread))
	}
	row("drain", &in.Drain)
	for i := range in.Stages {
		row("  "+in.Stages[i].Name, &in.Stages[i])
	}
	row("all stages, over memory", &in.Memory)
	row("tailrace, from the child", &in.Whole)
	t.flush()
}

func scalingTable(b *strings.Builder, points []measure.Input) {
	if len(points) == 0 {
		return
	}
	t := newTable(b)
	b.WriteByte('\n')
	t.row(""+points[0].Name+" by size", "events", "drain ms", "tailrace ms", "x drain", "MB/s", "ns/byte", "over memory ms", "ns/byte")
	for i := range points {
		in := &points[i]
		t.row(sizeText(in.Bytes), in.Events, ms(&in.Drain), ms(&in.Whole), times(in.Whole.Ratio(&in.Drain)), short(in.Whole.MBps(in.Bytes)),
			perByte(in.Whole.Min(), in.Bytes), ms(&in.Memory), perByte(in.Memory.Min(), in.Bytes))
	}
	t.flush()
}

func peerTable(b *strings.Builder, peers []measure.Peer) {
	if len(peers) == 0 {
		return
	}
	t := newTable(b)
	b.WriteByte('\n')
	t.row("peer", "input", "ms", "tailrace ms", "times as long", "")
	for i := range peers {
		p := &peers[i]
		if p.Missing != "" {
			t.row(p.Name, p.Input, "-", "-", "-", "missing: "+p.Missing)
			continue
		}
		t.row(p.Name, p.Input, ms(&p.Times), ms(&p.Against), times(p.Ratio()), p.About)
	}
	t.flush()
}

// benchComparison is a comparison for people, as benchstat lays it out.
func benchComparison(c *measure.Comparison) string {
	var b strings.Builder
	if c.Machines {
		b.WriteString("The two reports are of different machines or versions of Go.\n")
	}
	t := newTable(&b)
	t.row("compared", "before ms", "±", "now ms", "±", "change", "p", "n", "")
	few := false
	for _, d := range c.Changes {
		mark := ""
		if d.TooFew {
			mark, few = "too few rounds", true
		}
		t.row(d.Input+"/"+d.Way, fmt.Sprintf("%.3f", d.Old/1e6), percent(d.OldSpread), fmt.Sprintf("%.3f", d.New/1e6), percent(d.NewSpread),
			d.Delta, fmt.Sprintf("%.3f", d.P), fmt.Sprintf("%d+%d", d.N1, d.N2), mark)
	}
	t.flush()
	if c.Geomean > 0 {
		fmt.Fprintf(&b, "tailrace, geometric mean of the medians: %+.2f%%\n", 100*(c.Geomean-1))
	}
	for _, name := range c.Apart {
		fmt.Fprintf(&b, "only in one of the two, or of another size: %s\n", name)
	}
	if few {
		b.WriteString("With so few rounds no difference can be told from chance: 4 in each are the least, 10 are good.\n")
	}
	return b.String()
}

// A table lays out cells in columns: the first to the left, numbers to the right, and
// what stands in a last column without a head to the left again.
type table struct {
	to   *strings.Builder
	rows [][]string
}

func newTable(b *strings.Builder) *table { return &table{to: b} }

func (t *table) row(cells ...any) {
	row := make([]string, len(cells))
	for i, c := range cells {
		row[i] = fmt.Sprint(c)
	}
	t.rows = append(t.rows, row)
}

func (t *table) flush() {
	widths := make([]int, len(t.rows[0]))
	for _, row := range t.rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range t.rows {
		line := ""
		for i, cell := range row {
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			switch {
			case i == 0:
				line = cell + pad
			case t.rows[0][i] == "":
				line += "  " + cell
			default:
				line += "  " + pad + cell
			}
		}
		fmt.Fprintln(t.to, strings.TrimRight(line, " "))
	}
}

// ms is the least time in milliseconds, with three digits at least.
func ms(s *measure.Series) string {
	if v := s.Min() / 1e6; v >= 0.1 || v == 0 {
		return fmt.Sprintf("%.3f", v)
	}
	return fmt.Sprintf("%.3g", s.Min()/1e6)
}

func times(ratio float64) string {
	if ratio == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f", ratio)
}

// rate is events a second, with a unit.
func rate(s *measure.Series, events int64) string {
	if s.Min() == 0 || events == 0 {
		return "-"
	}
	return short(float64(events) / s.Min() * 1e9)
}

// short writes a rate, a large one with a prefix.
func short(v float64) string {
	switch {
	case v >= 1e12:
		return fmt.Sprintf("%.1fT", v/1e12)
	case v >= 1e9:
		return fmt.Sprintf("%.1fG", v/1e9)
	case v >= 1e6:
		return fmt.Sprintf("%.2fM", v/1e6)
	case v >= 1e4:
		return fmt.Sprintf("%.1fk", v/1e3)
	}
	return fmt.Sprintf("%.0f", v)
}

func perEvent(v float64, events int64) string {
	if events == 0 {
		return "-"
	}
	if v = v / float64(events); v >= 100 {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.3g", v)
}

func perByte(ns float64, bytes int64) string {
	if bytes == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f", ns/float64(bytes))
}

func percent(part float64) string {
	if math.IsInf(part, 0) {
		return "∞"
	}
	return fmt.Sprintf("%.0f%%", 100*part)
}
