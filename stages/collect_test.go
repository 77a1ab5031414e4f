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

	"github.com/tailrace/tailrace/internal/memsource"
	"github.com/tailrace/tailrace/pipeline"
	"github.com/tailrace/tailrace/stages"
)

func collect(t *testing.T, src pipeline.Source, b pipeline.Bounds) *stages.Collection {
	t.Helper()
	c, err := stages.Collect(context.Background(), src, b, stages.CollectOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func raws(c *stages.Collection) (out []string) {
	for raw := range c.Events.All() {
		out = append(out, string(raw))
	}
	return out
}

func chunk(s pipeline.Stream, text string) pipeline.Chunk {
	return pipeline.Chunk{Stream: s, Data: slices.Clip([]byte(text))}
}

// TestByteCap has what rules C1 and C3 say, chunk by chunk.
func TestByteCap(t *testing.T) {
	out, err := pipeline.Stdout, pipeline.Stderr
	for _, c := range []struct {
		name           string
		max            int64
		in             []pipeline.Chunk
		stdout, stderr string
		cut            bool
	}{
		{"C1 exactly the limit is complete", 4, []pipeline.Chunk{chunk(out, "ab"), chunk(err, "cd")}, "ab", "cd", false},
		{"C1 the first byte over it is the cut", 4, []pipeline.Chunk{chunk(out, "ab"), chunk(err, "cde")}, "ab", "cd", true},
		{"C1 in the order of reading", 3, []pipeline.Chunk{chunk(err, "xyz"), chunk(out, "ab")}, "", "xyz", true},
		{"C3 the stream that met the bound", 3, []pipeline.Chunk{chunk(out, "é漢")}, "é", "", true},
		{"C3 the other stream too", 4, []pipeline.Chunk{chunk(err, "e\xe6\xbc"), chunk(out, "ab")}, "a", "e", true},
		{"C3 four bytes less three", 3, []pipeline.Chunk{chunk(out, "🚀x")}, "", "", true},
		{"C3 a code point in two chunks", 5, []pipeline.Chunk{chunk(out, "a\xf0\x9f"), chunk(out, "\x9a\x80b")}, "a🚀", "", true},
		{"C4 invalid bytes at a natural end stay", 9, []pipeline.Chunk{chunk(out, "a\xf0\x9f")}, "a\xf0\x9f", "", false},
		{"C4 invalid bytes inside stay", 9, []pipeline.Chunk{chunk(out, "\xf0\x9f"), chunk(out, "abcdef")}, "\xf0\x9fabcdef", "", false},
		{"C6 a cut from before ends whole", 9, []pipeline.Chunk{chunk(out, "a\xe2\x82"), {Cut: true}}, "a", "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			bc := &stages.ByteCap{MaxBytes: c.max}
			var got [2]string
			for x := range bc.Apply(slices.Values(c.in)) {
				got[x.Stream] += string(x.Data)
			}
			if got[0] != c.stdout || got[1] != c.stderr || bc.Cut() != c.cut {
				t.Errorf("%q %q cut %v", got[0], got[1], bc.Cut())
			}
			if r := bc.Report(); !r.Ledger.Balanced() || (r.Cut.Bound == pipeline.BytesBound) != c.cut {
				t.Errorf("report %+v", r)
			}
		})
	}
}

// TestLines has what rules E1 and E3 say.
func TestLines(t *testing.T) {
	for _, c := range []struct {
		name string
		in   []string
		cut  bool
		want []string
	}{
		{"E1 only LF ends a line", []string{"a\rb\u2028c\u0085d\ne"}, false, []string{"a\rb\u2028c\u0085d", "e"}},
		{"E1 a CR stays in the line", []string{"a\r\n"}, false, []string{"a\r"}},
		{"E3 the last line counts at a natural end", []string{"a\n", "b"}, false, []string{"a", "b"}},
		{"E3 not after a cut", []string{"a\n", "b"}, true, []string{"a"}},
		{"E1 across chunks", []string{"a", "b", "\nc", "\n\n"}, false, []string{"ab", "c", ""}},
		{"nothing", nil, false, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			var in []pipeline.Chunk
			for _, s := range c.in {
				in = append(in, chunk(pipeline.Stdout, s), chunk(pipeline.Stderr, "x\n"))
			}
			if c.cut {
				in = append(in, pipeline.Chunk{Cut: true})
			}
			s := &stages.LineSplitter{}
			var got []string
			for l := range s.Apply(slices.Values(in)) {
				got = append(got, string(l.Data))
			}
			if !slices.Equal(got, c.want) || !s.Report().Ledger.Balanced() {
				t.Errorf("%q, ledger %+v", got, s.Report().Ledger)
			}
		})
	}
}

// TestDecoder has what rules E1, E2, E5 and E6 say of one line.
func TestDecoder(t *testing.T) {
	deep := func(n int) string { return `{"a":` + strings.Repeat("[", n-1) + strings.Repeat("]", n-1) + "}" }
	for _, c := range []struct {
		name, line, want string
		kind             stages.Kind
		reason           stages.Reason
	}{
		{"E2 an object without a type", `{}`, `{}`, stages.KindOther, stages.ReasonNone},
		{"E1 BOM and white space around", "\ufeff \t{\"type\":\"log\"} \r", `{"type":"log"}`, stages.KindLog, stages.ReasonNone},
		{"E1 a second BOM is text", "\ufeff\ufeff{}", "", 0, 0},
		{"E2 array", `[]`, "", 0, 0},
		{"E2 two objects", `{}{}`, "", 0, 0},
		{"E4 spelling stays", `{"a": 1.0 ,"b":1e3,"c":12345678901234567890,"c":2}`, `{"a": 1.0 ,"b":1e3,"c":12345678901234567890,"c":2}`, 0, 0},
		{"E5 512 deep", deep(512), deep(512), 0, 0},
		{"E5 513 deep", deep(513), "", 0, 0},
		{"E5 lone surrogate", `{"a":"\uD83D","b":"\ud83d\ude80"}`, `{"a":"\ufffd","b":"\ud83d\ude80"}`, 0, 0},
		{"E5 bytes that are not UTF-8", "{\"a\":\"\xe2\x82\xff\"}", "{\"a\":\"\ufffd\ufffd\"}", 0, 0},
		{"E6 escaped name and value", `{"t\u0079pe":"l\u006fg"}`, `{"t\u0079pe":"l\u006fg"}`, stages.KindLog, 0},
		{"E6 case matters", `{"Type":"log"}`, `{"Type":"log"}`, 0, 0},
		{"E6 the last duplicate counts", `{"type":"log","type":"error"}`, `{"type":"log","type":"error"}`, stages.KindError, 0},
		{"E6 type that is no string", `{"type":["log"]}`, `{"type":["log"]}`, 0, 0},
		{"E6 nested type", `{"x":{"type":"log"}}`, `{"x":{"type":"log"}}`, 0, 0},
		{"O2 reason eof", `{"type":"end","reason":"eof"}`, `{"type":"end","reason":"eof"}`, stages.KindEnd, stages.ReasonClean},
		{"O2 reason null", `{"type":"end","reason":null}`, `{"type":"end","reason":null}`, stages.KindEnd, stages.ReasonOther},
		{"O2 last reason", `{"type":"end","reason":"x","reason":"closed"}`, `{"type":"end","reason":"x","reason":"closed"}`, stages.KindEnd, stages.ReasonClean},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := &stages.Decoder{}
			got := slices.Collect(d.Apply(slices.Values([]stages.Line{{Data: []byte(c.line), Terminated: true}})))
			if c.want == "" {
				if len(got) != 0 {
					t.Errorf("an event: %s", got[0].Raw)
				}
				return
			}
			if len(got) != 1 || string(got[0].Raw) != c.want || got[0].Kind != c.kind || got[0].Reason != c.reason {
				t.Errorf("%+v", got)
			}
			if !d.Report().Ledger.Balanced() {
				t.Error("ledger-balance")
			}
		})
	}
}

func TestE6E8_EventCounter(t *testing.T) {
	log, other := stages.Event{Kind: stages.KindLog}, stages.Event{Kind: stages.KindHeartbeat}
	pulled := 0
	in := func(yield func(stages.Event) bool) {
		for _, e := range []stages.Event{other, log, other, log, other, log} {
			pulled++
			if !yield(e) {
				return
			}
		}
	}
	c := &stages.EventCounter{MaxEvents: 2}
	if n := len(slices.Collect(c.Apply(in))); n != 4 || pulled != 4 || !c.Cut() || c.Logs() != 2 {
		t.Errorf("E8: %d passed, %d pulled, cut %v", n, pulled, c.Cut())
	}
	free := &stages.EventCounter{}
	if n := len(slices.Collect(free.Apply(in))); n != 6 || free.Cut() {
		t.Errorf("%d passed", n)
	}
}

func TestO2_FailureLatch(t *testing.T) {
	f := &stages.FailureDetector{}
	for range f.Apply(slices.Values([]stages.Event{{Kind: stages.KindEnd}, {Kind: stages.KindEnd, Reason: stages.ReasonOther}, {Kind: stages.KindError}, {Kind: stages.KindEnd, Reason: stages.ReasonClean}})) {
	}
	if f.Evidence() != pipeline.EndReason {
		t.Errorf("evidence %v", f.Evidence())
	}
}

// TestOutcomes has what rules O1 to O5 say, over the whole line.
func TestOutcomes(t *testing.T) {
	const log, bad = `{"type":"log"}` + "\n", `{"type":"error"}` + "\n"
	for _, c := range []struct {
		name, text string
		code       int
		b          pipeline.Bounds
		want       pipeline.Outcome
		events     int
	}{
		{"O1 complete", log + log, 0, pipeline.Bounds{}, pipeline.Complete{}, 2},
		{"O2 exit", log, 3, pipeline.Bounds{}, pipeline.Failed{Evidence: pipeline.BadExit}, 1},
		{"O2 error event", log + bad, 0, pipeline.Bounds{}, pipeline.Failed{Evidence: pipeline.ErrorEvent}, 2},
		{"O2 before the event bound", bad + log + log, 0, pipeline.Bounds{MaxEvents: 1}, pipeline.Failed{Evidence: pipeline.ErrorEvent}, 2},
		{"O5 behind the event bound", log + bad, 1, pipeline.Bounds{MaxEvents: 1}, pipeline.Cutoff{Bound: pipeline.EventsBound, Limit: 1}, 1},
		{"O4 in the retained prefix", bad + log, 0, pipeline.Bounds{MaxBytes: int64(len(bad)) + 1}, pipeline.Failed{Evidence: pipeline.ErrorEvent}, 1},
		{"O4 behind the cut", log + bad, 0, pipeline.Bounds{MaxBytes: int64(len(log) + len(bad) - 1)}, pipeline.Cutoff{Bound: pipeline.BytesBound, Limit: int64(len(log) + len(bad) - 1)}, 1},
		{"O9 events before bytes", log + log, 0, pipeline.Bounds{MaxBytes: int64(len(log)), MaxEvents: 1}, pipeline.Cutoff{Bound: pipeline.EventsBound, Limit: 1}, 1},
		{"E8 the bound at the very end", log + log, 0, pipeline.Bounds{MaxEvents: 2}, pipeline.Cutoff{Bound: pipeline.EventsBound, Limit: 2}, 2},
	} {
		for _, size := range []int{1 << 10, 1} {
			t.Run(fmt.Sprintf("%s/%d", c.name, size), func(t *testing.T) {
				src := memsource.New([]byte(c.text), size)
				src.Code = c.code
				got := collect(t, src, c.b)
				if got.Outcome != c.want || got.Events.Len() != c.events {
					t.Errorf("%v, %d events, want %v, %d", got.Outcome, got.Events.Len(), c.want, c.events)
				}
			})
		}
	}
}

func TestC6_StdoutEndsAfterTheLastEvent(t *testing.T) {
	c := collect(t, memsource.New([]byte("text\n{\"type\":\"log\"}\n{\"type\":\"log\"}\nmore"), 1<<10), pipeline.Bounds{MaxEvents: 1})
	if string(c.Stdout) != "text\n{\"type\":\"log\"}\n" || c.Truncated {
		t.Errorf("C6: stdout %q", c.Stdout)
	}
}

func TestBoundsAreChecked(t *testing.T) {
	_, err := stages.Collect(context.Background(), memsource.New(nil, 1), pipeline.Bounds{MaxEvents: -1}, stages.CollectOptions{})
	if !errors.Is(err, pipeline.ErrBounds) {
		t.Errorf("%v", err)
	}
}

// TestMemory: a list of millions of tiny events costs a small multiple of their bytes.
func TestMemory_TinyEvents(t *testing.T) {
	text := bytes.Repeat([]byte("{}\r\n"), 1<<20)
	var n int
	allocated := testing.AllocsPerRun(1, func() { n = collect(t, memsource.New(text, 64<<10), pipeline.Bounds{}).Events.Len() })
	if n != 1<<20 {
		t.Fatalf("%d events", n)
	}
	if allocated > 1000 {
		t.Errorf("%v allocations for %d events", allocated, n)
	}
}

func TestAllocations(t *testing.T) {
	line := `{"type":"log","ts":"2026-01-02T03:04:05.000Z","entry":{"message":"` + strings.Repeat("m", 300) + `"}}` + "\n"
	text := []byte(strings.Repeat(line, 20000))
	if n := testing.AllocsPerRun(3, func() { collect(t, memsource.New(text, 64<<10), pipeline.Bounds{}) }); n > 200 {
		t.Errorf("%v allocations for 20,000 events", n)
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

func chunksOf(texts ...string) iter.Seq[pipeline.Chunk] {
	return func(yield func(pipeline.Chunk) bool) {
		for _, s := range texts {
			if !yield(pipeline.Chunk{Data: []byte(s)}) {
				return
			}
		}
	}
}

func ExampleByteCap() {
	c := &stages.ByteCap{MaxBytes: 6}
	for chunk := range c.Apply(chunksOf("né ", "漢字")) {
		fmt.Printf("%q %v\n", chunk.Data, chunk.Cut)
	}
	// Output:
	// "né " false
	// "" true
}

func ExampleLineSplitter() {
	for line := range (&stages.LineSplitter{}).Apply(chunksOf("one\ntw", "o\nthree")) {
		fmt.Printf("%s %v\n", line.Data, line.Terminated)
	}
	// Output:
	// one true
	// two true
	// three false
}

func ExampleDecoder() {
	events := pipeline.Then((&stages.LineSplitter{}).Apply, (&stages.Decoder{}).Apply)
	for e := range events(chunksOf("plain text\n{\"type\":\"log\"}\n{\"type\":\"end\",\"reason\":\"eof\"}\n")) {
		fmt.Println(string(e.Raw), e.Kind == stages.KindLog)
	}
	// Output:
	// {"type":"log"} true
	// {"type":"end","reason":"eof"} false
}

func ExampleEventCounter() {
	events := []stages.Event{{Kind: stages.KindStart}, {Kind: stages.KindLog}, {Kind: stages.KindLog}}
	c := &stages.EventCounter{MaxEvents: 1}
	fmt.Println(len(slices.Collect(c.Apply(slices.Values(events)))), c.Cut())
	// Output: 2 true
}

func ExampleFailureDetector() {
	f := &stages.FailureDetector{}
	for range f.Apply(slices.Values([]stages.Event{{Kind: stages.KindError}, {Kind: stages.KindLog}})) {
	}
	fmt.Println(f.Evidence())
	// Output: error event
}

func ExampleCapture() {
	c := &stages.Capture{}
	for range c.Apply(chunksOf("all ", "of it")) {
	}
	fmt.Printf("%s\n", c.Stdout())
	// Output: all of it
}

func ExampleLineWrapper() {
	w := &stages.LineWrapper{}
	events := pipeline.Then(pipeline.Then(w.Apply, (&stages.LineSplitter{}).Apply), (&stages.Decoder{}).Apply)
	for e := range events(chunksOf("plain text\n")) {
		fmt.Println(e.Kind == stages.KindLog)
	}
	// Output: true
}
