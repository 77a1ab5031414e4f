package stages_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tailrace/tailrace/internal/memsource"
	"github.com/tailrace/tailrace/pipeline"
	"github.com/tailrace/tailrace/stages"
)

func fixedClock() time.Time { return time.UnixMilli(5) }

func wrapped(t *testing.T, chunks []pipeline.Chunk, b pipeline.Bounds) *stages.Collection {
	t.Helper()
	w := &stages.LineWrapper{MaxBytes: b.MaxBytes, Now: fixedClock}
	c, err := stages.Collect(context.Background(), memsource.Of(0, chunks...), b, stages.CollectOptions{Before: w.Apply})
	if err != nil {
		t.Fatal(err)
	}
	if r := w.Report(); !r.Ledger.Balanced() {
		t.Errorf("ledger-balance: %+v", r.Ledger)
	}
	return c
}

// TestLineWrapper: each line of text is one log event that keeps the line, in every
// chunking the same bytes; typed objects, blank lines and stderr pass.
func TestLineWrapper(t *testing.T) {
	in := []pipeline.Chunk{
		piece(0, "one\n\n \t\n{\"type\":\"start\"}\n[1]\n{\"a\":1}\n{\"type\":7}\ntwo\r\n"), piece(1, "not\nwrapped"),
		piece(0, "\xff\n\ufeff{\"type\":\"log\"}\r\n"+strings.Repeat("x", 300)+"\n\"quoted\\\"\x00\x1b\n{\"type\":\nlast"),
	}
	want := []string{"one", "start", "[1]", `{"a":1}`, `{"type":7}`, "two", "\ufffd", "log", strings.Repeat("x", 300), "\"quoted\\\"\x00\x1b", `{"type":`, "last"}
	var first string
	for name, chunks := range splits(t, in) {
		c := wrapped(t, chunks, pipeline.Bounds{})
		if c.Outcome != (pipeline.Complete{}) || string(c.Stderr) != "not\nwrapped" {
			t.Fatalf("%s: %v, stderr %q", name, c.Outcome, c.Stderr)
		}
		var got []string
		for raw := range c.Events.All() {
			var e struct {
				Type  string
				TS    string
				Entry *struct{ Raw, Source, Stream string }
			}
			if err := json.Unmarshal(raw, &e); err != nil {
				t.Fatal(err)
			}
			if e.Entry == nil {
				got = append(got, e.Type)
				continue
			}
			if e.Type != "log" || e.TS != "1970-01-01T00:00:00.005Z" || e.Entry.Source != "command" || e.Entry.Stream != "stdout" {
				t.Errorf("%s: %s", name, raw)
			}
			got = append(got, e.Entry.Raw)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q", name, got)
		}
		if first == "" {
			first = string(c.Stdout)
		}
		if string(c.Stdout) != first {
			t.Errorf("chunk-invariance: %s give other bytes", name)
		}
	}
}

func TestE8_LineWrapperMakesTheEventBoundApply(t *testing.T) {
	for name, chunks := range splits(t, []pipeline.Chunk{piece(0, strings.Repeat("line\n", 100))}) {
		c := wrapped(t, chunks, pipeline.Bounds{MaxEvents: 3})
		if c.Outcome != (pipeline.Cutoff{Bound: pipeline.EventsBound, Limit: 3}) || c.Events.Len() != 3 {
			t.Errorf("%s: %v, %d events", name, c.Outcome, c.Events.Len())
		}
	}
}

// TestC1_LineWrapperAndTheCap: the cap counts what the wrapper writes; a line that cannot
// be wrapped within it passes raw.
func TestC1_LineWrapperAndTheCap(t *testing.T) {
	cut := pipeline.Cutoff{Bound: pipeline.BytesBound, Limit: 1000}
	for _, c := range []struct {
		name, in string
		want     pipeline.Outcome
		prefix   string // of stdout
		events   int
	}{
		{"a line over the bound", strings.Repeat("x", 5000), cut, strings.Repeat("x", 1000), 0},
		{"a line over the bound, and more", strings.Repeat("y", 1500) + "\nz\n", cut, strings.Repeat("y", 1000), 0},
		{"many lines", strings.Repeat("x\n", 2500), cut, `{"type":"log",`, 8},
		{"an event over the bound", strings.Repeat("x", 900) + "\nz\n", cut, `{"type":"log",`, 0},
		{"a line that its escapes take over the bound", strings.Repeat("\x01", 300) + "\nz\n", pipeline.Complete{}, strings.Repeat("\x01", 300) + "\n{", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			for name, chunks := range splits(t, []pipeline.Chunk{piece(0, c.in)}) {
				got := wrapped(t, chunks, pipeline.Bounds{MaxBytes: 1000})
				if got.Outcome != c.want || got.Events.Len() != c.events || !bytes.HasPrefix(got.Stdout, []byte(c.prefix)) {
					t.Errorf("%s: %v, %d events, %.40q", name, got.Outcome, got.Events.Len(), got.Stdout)
				}
			}
		})
	}
}

func TestE3_LineWrapperDropsTheLastLineAtACut(t *testing.T) {
	for name, chunks := range splits(t, []pipeline.Chunk{piece(0, "whole\npart"), {Cut: true}}) {
		w := &stages.LineWrapper{Now: fixedClock}
		var out string
		cut := false
		for c := range w.Apply(slices.Values(chunks)) {
			out += string(c.Data)
			if len(c.Data) == 0 && !c.Cut {
				t.Errorf("%s: an empty chunk", name)
			}
			cut = c.Cut
		}
		if strings.Count(out, "\n") != 1 || strings.Contains(out, "part") || !cut {
			t.Errorf("%s: %q, cut %v", name, out, cut)
		}
		if r := w.Report().Ledger; r != (pipeline.Ledger{In: 10, Kept: 6, Cut: 4}) {
			t.Errorf("%s: ledger-balance: %+v", name, r)
		}
	}
}

// TestC2_LineWrapperStopsInsideAChunk: a chunk of very many lines is wrapped only as far
// as it is asked for.
func TestC2_LineWrapperStopsInsideAChunk(t *testing.T) {
	data := bytes.Repeat([]byte("x\n"), 4<<20)
	w := &stages.LineWrapper{}
	got := allocated(func() {
		for range w.Apply(slices.Values([]pipeline.Chunk{{Data: data}})) {
			break
		}
	})
	if r := w.Report().Ledger; !r.Balanced() || r.Kept > 64<<10 || got > 1<<20 {
		t.Errorf("%+v, %d bytes allocated", r, got)
	}
}

// TestMemory_LineWrapper: the worst lines cost a small multiple of the bound.
func TestMemory_LineWrapper(t *testing.T) {
	const size = 8 << 20
	for _, c := range []struct {
		name, line string
		limit      uint64
	}{
		{"tiny lines", "x\n", 6 * size},
		{"a line of half the bound", strings.Repeat("x", size/2) + "\n", 6 * size},
		{"a line whose escapes go over the bound", strings.Repeat("\x00", size/2) + "\n", 6 * size},
		{"a line over the bound", strings.Repeat("x", size+1), 9 * size},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, chunks := split([]pipeline.Chunk{{Data: bytes.Repeat([]byte(c.line), size/len(c.line)+1)}}, 64<<10, false)
			if got := allocated(func() { wrapped(t, chunks, pipeline.Bounds{}) }); got > c.limit {
				t.Errorf("%d bytes allocated, want at most %d", got, c.limit)
			}
		})
	}
}

func ExampleLineWrapper() {
	w := &stages.LineWrapper{Source: "web", Now: func() time.Time { return time.UnixMilli(0) }}
	lines := pipeline.Then(w.Apply, (&stages.LineSplitter{}).Apply)
	for line := range lines(chunksOf("[error] disk full\n", `{"type":"end","reason":"eof"}`+"\n")) {
		fmt.Printf("%s\n", line.Data)
	}
	// Output:
	// {"type":"log","ts":"1970-01-01T00:00:00.000Z","entry":{"source":"web","message":"[error] disk full","raw":"[error] disk full","stream":"stdout","level":"error"}}
	// {"type":"end","reason":"eof"}
}
