package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/tailrace/tailrace/internal/measure"
)

// peerGoals are how many times as long as ours a peer should take, by its name.
var peerGoals = []struct {
	name  string
	least float64
}{
	{"naive Go", 35}, {"go-streams, per line", 9}, {"Bun, warm", 11}, {"Bun, whole process", 9},
	{"Node, warm", 0}, {"Node, whole process", 25}, {"jq -c .", 15}, {"Benthos", 0},
}

// peers runs the program of bench/peers, which checks each peer before it times it.
func (b *bench) peers(ctx context.Context) ([]row, error) {
	out := filepath.Join(b.dir, "peers.json")
	root, err := command(ctx, "", "go", "list", "-m", "-f", "{{.Dir}}", "github.com/tailrace/tailrace").Output()
	if err != nil {
		return nil, err
	}
	run := command(ctx, filepath.Join(strings.TrimSpace(string(root)), "bench", "peers"), "go", "run", ".", "-count", fmt.Sprint(max(b.count*2/3, 3)), "-json", out, "-tailrace", b.binary)
	if err := run.Run(); err != nil {
		return nil, err
	}
	b.peersReport = out
	f, err := os.Open(out)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	report, err := measure.Read(f)
	if err != nil {
		return nil, err
	}
	byName := map[string]measure.Peer{}
	ours := 0.0
	for _, p := range report.Peers {
		byName[p.Name] = p
		if p.Against.Name == "tailrace, warm" && p.Missing == "" {
			ours = p.Against.Min()
		}
	}
	var rows []row
	for _, g := range peerGoals {
		p := byName[g.name]
		r := times(strings.TrimSpace("c1, "+g.name+" "+p.Version)+" / tailrace warm", 0, 0, g.least)
		switch {
		case p.Missing != "" || p.Name == "":
			r.Missing = p.Missing
		case p.Against.Name == "tailrace, whole process":
			// A process of another kind is held against the same work as the warm ones. Beside
			// it is what our own program takes, from its start to its end.
			r.Value, r.Note = p.Times.Min()/ours, fmt.Sprintf("(%.1f x the whole process of tailrace run -o json, which writes all of stdout, too)", p.Ratio())
		default:
			r.Value = p.Ratio()
		}
		rows = append(rows, r)
	}
	return rows, nil
}
