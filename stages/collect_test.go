package stages_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tailrace/tailrace/internal/memsource"
	"github.com/tailrace/tailrace/pipeline"
	"github.com/tailrace/tailrace/stages"
)

// TestC3_EndCompletesTheLastEvent: where the end of the stream completes the event that
// reaches the bound, what was held back of the other stream is cut as at any other stop.
func TestC3_EndCompletesTheLastEvent(t *testing.T) {
	got := collectOf(t, 0, []pipeline.Chunk{piece(1, "é\xf0\x9f"), piece(0, `{"type":"log"}`)}, pipeline.Bounds{MaxEvents: 1})
	if want := (pipeline.Cutoff{Bound: pipeline.EventsBound, Limit: 1}); got.Outcome != want || got.Events.Len() != 1 {
		t.Errorf("%v, %d events, want %v", got.Outcome, got.Events.Len(), want)
	}
	if string(got.Stderr) != "é" || string(got.Stdout) != `{"type":"log"}` {
		t.Errorf("stdout %q, stderr %q", got.Stdout, got.Stderr)
	}
	for _, r := range got.Reports {
		if !r.Ledger.Balanced() {
			t.Errorf("%s: %+v", r.Stage, r.Ledger)
		}
	}
}

// TestO1_Outcomes has what rules O1 to O5, O7 and O9 say, over the whole line and in
// every chunking.
func TestO1_Outcomes(t *testing.T) {
	const log, bad, end, killed = `{"type":"log"}` + "\n", `{"type":"error"}` + "\n", `{"type":"end","reason":"eof"}` + "\n", `{"type":"end","reason":"killed"}` + "\n"
	cutoff := func(b pipeline.Bound, limit int) pipeline.Outcome {
		return pipeline.Cutoff{Bound: b, Limit: int64(limit)}
	}
	failed := func(e pipeline.Evidence) pipeline.Outcome { return pipeline.Failed{Evidence: e} }
	for _, c := range []struct {
		name, text string
		code       int
		maxBytes   int
		maxEvents  int
		want       pipeline.Outcome
		stop       pipeline.StopReason
		events     int
		truncated  bool
	}{
		{"O1 complete", log + log + end, 0, 0, 0, pipeline.Complete{}, pipeline.StopEOF, 3, false},
		{"O1 complete below the event bound", log + log + end, 0, 0, 3, pipeline.Complete{}, pipeline.StopEOF, 3, false},
		{"O1 nothing at all", "", 0, 0, 0, pipeline.Complete{}, pipeline.StopEOF, 0, false},
		{"O2 exit", log, 3, 0, 0, failed(pipeline.BadExit), pipeline.StopEOF, 1, false},
		{"O2 error event", log + bad, 0, 0, 0, failed(pipeline.ErrorEvent), pipeline.StopEOF, 2, false},
		{"O2 end reason", log + killed, 143, 0, 0, failed(pipeline.EndReason), pipeline.StopEOF, 2, false},
		{"O2 before the event bound", bad + log + log, 0, 0, 1, failed(pipeline.ErrorEvent), pipeline.StopMaxEvents, 2, false},
		{"O3 exit in answer to the stop", log + log, 143, 0, 1, cutoff(pipeline.EventsBound, 1), pipeline.StopMaxEvents, 1, false},
		{"O4 in the retained prefix", bad + log, 0, len(bad) + 1, 0, failed(pipeline.ErrorEvent), pipeline.StopOutputLimit, 1, true},
		{"O4 behind the cut", log + bad, 0, len(log+bad) - 1, 0, cutoff(pipeline.BytesBound, len(log+bad)-1), pipeline.StopOutputLimit, 1, true},
		{"O5 behind the event bound", log + bad, 1, 0, 1, cutoff(pipeline.EventsBound, 1), pipeline.StopMaxEvents, 1, false},
		{"O9 events before bytes", log + log, 0, len(log), 1, cutoff(pipeline.EventsBound, 1), pipeline.StopMaxEvents, 1, false},
		{"O9 bytes before events", log + log, 0, len(log) + 1, 2, cutoff(pipeline.BytesBound, len(log)+1), pipeline.StopOutputLimit, 1, true},
		{"E8 the bound at the very end", log + log, 0, 0, 2, cutoff(pipeline.EventsBound, 2), pipeline.StopMaxEvents, 2, false},
		{"E3 the end completes a last event", log + log[:len(log)-1], 0, 0, 0, pipeline.Complete{}, pipeline.StopEOF, 2, false},
		{"E3 a cut does not", log + log[:len(log)-1] + " ", 0, len(log+log) - 1, 0, cutoff(pipeline.BytesBound, len(log+log)-1), pipeline.StopOutputLimit, 1, true},
		{"C1 exactly the limit", log + log, 0, len(log + log), 0, pipeline.Complete{}, pipeline.StopEOF, 2, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			for name, chunks := range splits(t, []pipeline.Chunk{piece(0, c.text)}) {
				got := collectOf(t, c.code, chunks, pipeline.Bounds{MaxBytes: int64(c.maxBytes), MaxEvents: c.maxEvents})
				if got.Outcome != c.want || got.Stop != c.stop || got.Events.Len() != c.events || got.Truncated != c.truncated {
					t.Errorf("%s: %v, stop %s, %d events, truncated %v, want %v, %s", name, got.Outcome, got.Stop, got.Events.Len(), got.Truncated, c.want, c.stop)
				}
			}
		})
	}
}

// TestC6_StdoutEndsAfterTheLastEvent: at an events stop, whatever was read beyond is gone,
// and stderr ends on a code point.
func TestC6_StdoutEndsAfterTheLastEvent(t *testing.T) {
	const kept = "text\n{\"type\":\"start\"}\n\ufeff{\"type\":\"log\"}\r\n"
	in := []pipeline.Chunk{piece(1, "a\xe6\xbc"), piece(0, kept+"{\"type\":\"log\"}\nmore"), piece(1, "\xa2b")}
	for name, chunks := range splits(t, in) {
		c := collectOf(t, 0, chunks, pipeline.Bounds{MaxEvents: 1})
		if string(c.Stdout) != kept || string(c.Stderr) != "a" || c.Truncated {
			t.Errorf("C6, %s: stdout %q, stderr %q", name, c.Stdout, c.Stderr)
		}
	}
}

// A stuck source yields its chunks and then nothing until the context is done.
type stuck struct {
	*memsource.Source
	ended bool
}

func (s *stuck) Chunks(ctx context.Context) iter.Seq[pipeline.Chunk] {
	return func(yield func(pipeline.Chunk) bool) {
		for _, c := range s.Played {
			if !yield(c) {
				return
			}
		}
		<-ctx.Done()
		s.ended = true
		yield(pipeline.Chunk{Cut: true})
	}
}

func (s *stuck) Exit() pipeline.Exit {
	return pipeline.Exit{End: pipeline.EndContext, Code: 143}
}

// TestO7_TimeBound: silence ends at the bound; what is incomplete then is no event, even
// where it is valid JSON, and no half code point.
func TestO7_TimeBound(t *testing.T) {
	for name, chunks := range splits(t, []pipeline.Chunk{piece(0, "{\"type\":\"log\"}\n{\"type\":\"error\"}"), piece(1, "漢\xe6")}) {
		synctest.Test(t, func(t *testing.T) {
			c := collect(t, &stuck{Source: memsource.Of(0, chunks...)}, pipeline.Bounds{MaxTime: 3 * time.Second})
			if c.Outcome != (pipeline.Cutoff{Bound: pipeline.TimeBound, Limit: 3000}) || c.Stop != pipeline.StopTimeout || c.Elapsed != 3*time.Second {
				t.Errorf("%s: %v, stop %s, after %v", name, c.Outcome, c.Stop, c.Elapsed)
			}
			if c.Events.Len() != 1 || !bytes.HasSuffix(c.Stdout, []byte(`error"}`)) || string(c.Stderr) != "漢" || c.Truncated {
				t.Errorf("%s: %d events, %q, %q", name, c.Events.Len(), c.Stdout, c.Stderr)
			}
		})
	}
}

func TestBounds_AreChecked(t *testing.T) {
	for _, b := range []pipeline.Bounds{{MaxEvents: -1}, {MaxBytes: -1}, {MaxTime: time.Microsecond}} {
		if _, err := stages.Collect(context.Background(), memsource.New(nil, 1), b, stages.CollectOptions{}); !errors.Is(err, pipeline.ErrBounds) {
			t.Errorf("%+v: %v", b, err)
		}
	}
}

// TestCollectOptions: the hooks see each event, and each chunk that was kept whole after
// its events, in order.
func TestCollectOptions(t *testing.T) {
	for _, c := range []struct {
		max  int
		want []string
	}{
		{0, []string{"{}", "stdout {}\n{", "stderr e", `{"type":"log"}`, "stdout \"type\":\"log\"}\n", "stdout z"}},
		{1, []string{"{}", "stdout {}\n{", "stderr e", `{"type":"log"}`}},
	} {
		var seen []string
		src := memsource.Of(0, piece(0, "{}\n{"), piece(1, "e"), piece(0, "\"type\":\"log\"}\n"), piece(0, "z"))
		run, err := stages.Collect(context.Background(), src, pipeline.Bounds{MaxEvents: c.max}, stages.CollectOptions{
			OnChunk: func(c pipeline.Chunk) { seen = append(seen, c.Stream.String()+" "+string(c.Data)) },
			OnEvent: func(e stages.Event) { seen = append(seen, string(e.Raw)) },
		})
		if err != nil || !slices.Equal(seen, c.want) || run.Events.Len() != 2 {
			t.Errorf("at most %d: %q, %v", c.max, seen, err)
		}
	}
}

// TestMemory_Line: what the whole line allocates beside the bytes of its source, at the
// most hostile shapes: nothing for adjacent chunks, little more than one copy for others.
func TestMemory_Line(t *testing.T) {
	const size = 8 << 20
	for _, c := range []struct {
		name, line string
		apart      bool
		limit      uint64
	}{
		{"usual", `{"type":"log","m":"` + strings.Repeat("m", 330) + `"}` + "\n", false, 64 << 10},
		{"tiny events", "{}\r\n", false, 20 << 20},
		{"tiny events, apart", "{}\r\n", true, 3*size + 20<<20},
		{"one line", strings.Repeat("x", size), false, 64 << 10},
		{"one line, apart", strings.Repeat("x", size), true, 12 * size},
		{"blank lines, apart", "\n", true, 3 * size},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, chunks := split([]pipeline.Chunk{{Data: bytes.Repeat([]byte(c.line), size/len(c.line))}}, 16<<10, c.apart)
			if got := allocated(func() { collectOf(t, 0, chunks, pipeline.Bounds{}) }); got > c.limit {
				t.Errorf("%d bytes allocated, want at most %d", got, c.limit)
			}
		})
	}
}

// TestAllocations_Line: nothing is allocated per event.
func TestAllocations_Line(t *testing.T) {
	line := `{"type":"log","ts":"2026-01-02T03:04:05.000Z","entry":{"message":"` + strings.Repeat("m", 280) + `"}}` + "\n"
	data := []byte(strings.Repeat(line, 8<<20/len(line)))
	src := memsource.New(data, 64<<10)
	if n := testing.AllocsPerRun(3, func() { collect(t, src, pipeline.Bounds{}) }); n > 100 {
		t.Errorf("%v allocations for %d events", n, len(data)/len(line))
	}
}

func ExampleCollect() {
	src := memsource.New([]byte(`{"type":"log","n":1}`+"\n"+`{"type":"log","n":2}`+"\n"), 16)
	run, err := stages.Collect(context.Background(), src, pipeline.Bounds{MaxEvents: 1}, stages.CollectOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(run.Outcome, run.Stop)
	for raw := range run.Events.All() {
		fmt.Printf("%s\n", raw)
	}
	// Output:
	// cut off at events 1 max_events
	// {"type":"log","n":1}
}
