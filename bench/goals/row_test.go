package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tailrace/tailrace/internal/corpus"
	"github.com/tailrace/tailrace/internal/memsource"
	"github.com/tailrace/tailrace/pipeline"
)

func TestRow(t *testing.T) {
	for _, c := range []struct {
		row  row
		want string
	}{
		{times("a", 1.5, 1.6, 0), "| a | 1.5 x | <= 1.6 x | met |"},
		{times("a", 1.7, 1.6, 0), "| a | 1.7 x | <= 1.6 x | MISSED |"},
		{times("a", 9, 0, 11), "| a | 9 x | >= 11 x | MISSED |"},
		{times("a", 12, 0, 11), "| a | 12 x | >= 11 x | met |"},
		{times("a", 3, 0, 0), "| a | 3 x |  |  |"},
		{row{What: "a", Missing: "it is not there", Least: 11, Unit: "x"}, "| a |  | >= 11 x | not measured: it is not there |"},
		{row{What: "a", Value: 41, Unit: "MiB", Most: 32, Note: "(24 before)"}, "| a | 41 MiB | <= 32 MiB | MISSED (24 before) |"},
	} {
		if got := table([]row{c.row}); !strings.HasSuffix(got, c.want+"\n") {
			t.Errorf("got %s\nwant %s", got, c.want)
		}
	}
}

func TestWritePage(t *testing.T) {
	page := filepath.Join(t.TempDir(), "page.md")
	if err := os.WriteFile(page, []byte("# Page\n"+beginMark+"old\n"+endMark+"end\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := writePage(page, []row{times("new", 1, 2, 0)}); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if text := string(got); !strings.HasPrefix(text, "# Page\n"+beginMark) || !strings.HasSuffix(text, endMark+"end\n") || strings.Contains(text, "old") || !strings.Contains(text, "| new |") {
		t.Errorf("%s", text)
	}
	if err := os.WriteFile(page, []byte("# no marks\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if writePage(page, nil) == nil {
		t.Error("a page without marks is written")
	}
}

// TestSameWork: the loop that is timed against the chain finds the same events.
func TestSameWork(t *testing.T) {
	for _, c := range corpus.All {
		data := c.Bytes(256 << 10)
		chunks := memsource.New(data, 64<<10).Played
		_, want := fused(chunks, data)
		source := func(yield func(pipeline.Chunk) bool) {
			for _, c := range chunks {
				if !yield(c) {
					return
				}
			}
		}
		chain, batched := 0, 0
		for range events()(source) {
			chain++
		}
		for batch := range batches()(source) {
			batched += len(batch)
		}
		if chain != want || batched != want {
			t.Errorf("%s: %d events in one loop, %d in the chain, %d in batches", c.Name, want, chain, batched)
		}
	}
}

func TestPercentile(t *testing.T) {
	all := []time.Duration{5, 1, 4, 2, 3}
	if percentile(all, 50) != 3 || percentile(all, 99) != 5 || percentile(all, 0) != 1 {
		t.Error(all)
	}
}
