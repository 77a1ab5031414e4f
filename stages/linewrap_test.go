package stages_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/tailrace/tailrace/internal/memsource"
	"github.com/tailrace/tailrace/pipeline"
	"github.com/tailrace/tailrace/stages"
)

func wrapped(t *testing.T, text string, size int, b pipeline.Bounds) *stages.Collection {
	t.Helper()
	w := &stages.LineWrapper{Now: func() time.Time { return time.UnixMilli(5) }}
	c, err := stages.Collect(context.Background(), memsource.New([]byte(text), size), b, stages.CollectOptions{Before: w.Apply})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestLineWrapper(t *testing.T) {
	const text = "one\n\n{\"type\":\"start\"}\n[1]\n{\"a\":1}\ntwo\r\n\xff\nlast"
	want := []string{"one", "", "[1]", `{"a":1}`, "two", "\ufffd", "last"}
	var first string
	for _, size := range []int{1 << 10, 1, 2, 7} {
		c := wrapped(t, text, size, pipeline.Bounds{})
		if _, ok := c.Outcome.(pipeline.Complete); !ok || c.Events.Len() != 7 {
			t.Fatalf("chunks of %d: %v, %d events", size, c.Outcome, c.Events.Len())
		}
		i := 0
		for raw := range c.Events.All() {
			var e struct {
				Type  string
				Entry struct{ Raw string }
			}
			if err := json.Unmarshal(raw, &e); err != nil {
				t.Fatal(err)
			}
			if i == 1 {
				if e.Type != "start" {
					t.Errorf("event %d: %s", i, raw)
				}
			} else if e.Type != "log" || e.Entry.Raw != want[i] {
				t.Errorf("event %d: %s", i, raw)
			}
			i++
		}
		if first == "" {
			first = string(c.Stdout)
		} else if string(c.Stdout) != first {
			t.Errorf("chunk-invariance: chunks of %d give other bytes", size)
		}
	}
}

func TestE8_LineWrapperMakesTheEventBoundApply(t *testing.T) {
	c := wrapped(t, strings.Repeat("line\n", 100), 64, pipeline.Bounds{MaxEvents: 3})
	if c.Outcome != (pipeline.Cutoff{Bound: pipeline.EventsBound, Limit: 3}) || c.Events.Len() != 3 {
		t.Errorf("%v, %d events", c.Outcome, c.Events.Len())
	}
}

func TestC1_LineWrapperIsBoundedByTheCap(t *testing.T) {
	for _, text := range []string{strings.Repeat("x", 5000), strings.Repeat("x\n", 2500), strings.Repeat("y", 1500) + "\nz\n"} {
		for _, size := range []int{1 << 20, 100} {
			w := &stages.LineWrapper{MaxBytes: 1000}
			c, err := stages.Collect(context.Background(), memsource.New([]byte(text), size), pipeline.Bounds{MaxBytes: 1000}, stages.CollectOptions{Before: w.Apply})
			if err != nil {
				t.Fatal(err)
			}
			if c.Outcome != (pipeline.Cutoff{Bound: pipeline.BytesBound, Limit: 1000}) || len(c.Stdout) != 1000 {
				t.Errorf("%.10q in chunks of %d: %v, %d bytes", text, size, c.Outcome, len(c.Stdout))
			}
		}
	}
}

func TestE3_LineWrapperDropsTheLastLineAtACut(t *testing.T) {
	w := &stages.LineWrapper{}
	in := []pipeline.Chunk{{Data: []byte("whole\npart")}, {Cut: true}}
	var out string
	for c := range w.Apply(func(yield func(pipeline.Chunk) bool) {
		for _, c := range in {
			if !yield(c) {
				return
			}
		}
	}) {
		out += string(c.Data)
		if len(c.Data) == 0 && !c.Cut {
			t.Error("an empty chunk")
		}
	}
	if strings.Count(out, "\n") != 1 || strings.Contains(out, "part") {
		t.Errorf("%q", out)
	}
}
