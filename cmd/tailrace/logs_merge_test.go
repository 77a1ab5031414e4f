package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tailrace/tailrace/internal/logline"
)

// Snapshots are merged by time; lines without a time stay behind the line before them, and
// sources without any time come first.
func TestLogs_SnapshotIsMergedByTime(t *testing.T) {
	var out bytes.Buffer
	_, err := play(t, t.Context(), &logsOptions{tail: 200}, &out,
		played{name: "a", from: text("2026-03-01T10:00:00Z a1\n\tat a1\n2026-03-01T10:00:02Z a2\n2026-03-01T09:00:00Z a3 is late\n2026-03-01T10:00:04Z a4\n")},
		played{name: "b", from: text("2026-03-01T10:00:01Z b1\n2026-03-01T10:00:02Z b2\n2026-03-01T10:00:03Z b3\n b3 goes on\n")},
		played{name: "c", from: text("no time\n")},
	)
	wantCode(t, err, 0)
	var got []string
	for line := range strings.Lines(out.String()) {
		line = strings.TrimSpace(line)
		got = append(got, line[strings.LastIndexByte(line, ' ')+1:])
	}
	if want := []string{"time", "a1", "a1", "b1", "a2", "late", "b2", "b3", "on", "a4"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v\n%s", got, want, out.String())
	}
}

// Whatever the sources hold, the merge has each line once, each source in its order, and
// ordered sources come out ordered.
func TestLogs_MergeIsStable(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		var sources []played
		total := 0
		for i := range 1 + random.IntN(5) {
			var b strings.Builder
			at := time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
			n := random.IntN(40)
			for j := range n {
				at = at.Add(time.Duration(random.IntN(3)) * time.Second)
				fmt.Fprintf(&b, "%s s%d %d\n", at.Format(time.RFC3339), i, j)
			}
			total += n
			sources = append(sources, played{name: fmt.Sprintf("s%d", i), from: text(b.String())})
		}
		var out bytes.Buffer
		_, err := play(t, t.Context(), &logsOptions{tail: 200}, &out, sources...)
		wantCode(t, err, 0)
		next := map[string]int{}
		var last time.Time
		for line := range strings.Lines(out.String()) {
			if _, rest, ok := strings.Cut(line, " | "); ok {
				line = rest
			}
			var stamp, name string
			var n int
			if _, err := fmt.Sscan(line, &stamp, &name, &n); err != nil {
				t.Fatal(err)
			}
			at, ok := logline.Stamp([]byte(line))
			if !ok || at.Before(last) || n != next[name] {
				t.Fatalf("out of order: %q after %v", line, last)
			}
			last = at
			next[name]++
			total--
		}
		if total != 0 {
			t.Fatalf("%d lines are missing", total)
		}
	}
}
