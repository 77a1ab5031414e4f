package stages_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/tailrace/tailrace/pipeline"
	"github.com/tailrace/tailrace/stages"
)

// The pieces that the cases are made of, as backends write them.
const (
	caseTS    = `"ts":"2026-01-02T03:04:05.000Z"`
	caseStart = `{"type":"start",` + caseTS + `,"backend":"compose","follow":true}` + "\n"
	caseEnd   = `{"type":"end",` + caseTS + `,"reason":"eof"}` + "\n"
)

// caseLog is a log event with a message that needs no escapes.
func caseLog(msg string) string {
	return fmt.Sprintf(`{"type":"log",%s,"entry":{"source":"compose","message":"%s","raw":"%s"}}`, caseTS, msg, msg) + "\n"
}

func caseLogN(msg string, n int) string {
	return strings.TrimSuffix(caseLog(msg), "}}\n") + fmt.Sprintf(`,"n":%d}}`, n) + "\n"
}

// caseEntry is a log event with the given entry.
func caseEntry(entry string) string {
	return `{"type":"log",` + caseTS + `,"entry":` + entry + "}\n"
}

func each[T any](from []T, f func(T) string) string {
	var b strings.Builder
	for _, v := range from {
		b.WriteString(f(v))
	}
	return b.String()
}

func numbers(from, to int) (out []int) {
	for ; from < to; from++ {
		out = append(out, from)
	}
	return out
}

// A logCase is a stream of a real failure, and what must come out of it.
type logCase struct {
	name, stdout string
	maxEvents    int
	want         pipeline.Outcome
	// logs and all count the events of type log and of any.
	logs, all int
	// check looks at the rest.
	check func(t *testing.T, c *stages.Collection)
}

// messages checks the messages of the log events, in their order.
func messages(want ...string) func(t *testing.T, c *stages.Collection) {
	return func(t *testing.T, c *stages.Collection) {
		var got []string
		for raw := range c.Events.All() {
			var e struct {
				Type  string
				Entry struct{ Message string }
			}
			if json.Unmarshal(raw, &e) == nil && e.Type == "log" {
				got = append(got, e.Entry.Message)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("messages %.200q, want %.200q", got, want)
		}
	}
}

// order checks the numbers in the entries of the log events.
func order(want ...int) func(t *testing.T, c *stages.Collection) {
	return func(t *testing.T, c *stages.Collection) {
		var got []int
		for raw := range c.Events.All() {
			var e struct {
				Type  string
				Entry struct{ N int }
			}
			if json.Unmarshal(raw, &e) == nil && e.Type == "log" {
				got = append(got, e.Entry.N)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("order %v, want %v", got, want)
		}
	}
}

func logCases() []logCase {
	line := func(n int) string {
		empty := caseEntry(`{"message":""}`)
		return caseEntry(`{"message":"` + strings.Repeat("x", n-len(empty)) + `"}`)
	}
	deep := func(n int) string {
		return caseEntry(`{"message":"m","v":` + strings.Repeat("[", n) + strings.Repeat("]", n) + "}")
	}
	big := strings.TrimSuffix(caseEntry(`{"message":"`+strings.Repeat("k", 40000)+`"}`), "\n")
	var pieces strings.Builder
	for rest := big; rest != ""; {
		n := min(16384, len(rest))
		pieces.WriteString(rest[:n] + "\n")
		rest = rest[n:]
	}
	const pretty = "{\n  \"type\": \"log\",\n  \"entry\": {\n    \"message\": \"m\",\n    \"list\": [\n      {}\n,\n      []\n,\n      null\n,\n      \"x\",\n      1\n\n    ]\n  }\n}\n"
	l := strings.TrimSuffix(caseLog("m"), "\n")
	complete := pipeline.Complete{}
	events := func(n int) pipeline.Outcome { return pipeline.Cutoff{Bound: pipeline.EventsBound, Limit: int64(n)} }
	exact := caseStart + each(numbers(0, 200), func(n int) string { return caseLogN("l", n) }) + caseEnd
	return []logCase{
		{"c1 long lines", caseStart + each([]int{65535, 65536, 65537, 1 << 20, 3 << 20}, line) + strings.Repeat(caseLog("short"), 3) + caseEnd, 0, complete, 8, 10,
			func(t *testing.T, c *stages.Collection) {
				sizes := []int{0, 65534, 65535, 65536, 1<<20 - 1, 3<<20 - 1}
				for i, raw := range slices.Collect(c.Events.All())[:6] {
					if i > 0 && len(raw) != sizes[i] {
						t.Errorf("event %d has %d bytes, want %d", i, len(raw), sizes[i])
					}
				}
			}},
		{"c2 multibyte over the cap", caseStart + each(numbers(0, 3000), func(n int) string {
			return fmt.Sprintf(`{"type":"log",%s,"n":%d,"entry":{"message":"%s"}}`, caseTS, n, strings.Repeat("漢", 1000)) + "\n"
		}) + caseEnd, 0, pipeline.Cutoff{Bound: pipeline.BytesBound, Limit: 8388608}, 2724, 2725,
			func(t *testing.T, c *stages.Collection) {
				if n := len(c.Stdout); n > pipeline.CaptureLimit || n < pipeline.CaptureLimit-3 || !utf8.Valid(c.Stdout) || !c.Truncated {
					t.Errorf("C1 C3 C5: %d bytes, truncated %v", n, c.Truncated)
				}
			}},
		{"e1 BOM and CR LF", "\ufeff" + strings.ReplaceAll(caseStart+caseLog("a")+caseLog("b")+caseLog("c")+caseEnd, "\n", "\r\n"), 0, complete, 3, 5, messages("a", "b", "c")},
		{"e2 Unicode separators", caseStart + caseLog("left\u2028right") + caseLog("left\u2029right") + caseLog("left\u0085right") +
			strings.TrimSuffix(caseLog("x"), "\n") + "\r" + caseLog("y") + caseEnd, 0, complete, 3, 5, messages("left\u2028right", "left\u2029right", "left\u0085right")},
		{"e3 pretty-printed", caseStart + pretty + pretty + caseLog("a") + caseLog("b") + caseEnd, 0, complete, 2, 6, messages("a", "b")},
		{"e4 NaN and others", caseStart + each([]string{"NaN", "Infinity", "-Infinity", "+1", ".5", "01", "0x10", "1.", "'single'", "1,", "1/*c*/"}, func(v string) string {
			return caseEntry(`{"message":"m","v":` + v + "}")
		}) + caseLog("a") + caseLog("b") + caseEnd, 0, complete, 2, 4, messages("a", "b")},
		{"e5 duplicate keys", caseStart + caseEntry(`{"message":"first","message":"second"}`) + `{"type":"error",` + caseTS + `,"type":"log","entry":{"message":"m"}}` + "\n" +
			`{"type":"log",` + caseTS + `,"type":"log","entry":{"message":"m"}}` + "\n" + caseEnd, 0, complete, 3, 5, messages("second", "m", "m")},
		{"e6 deep nesting", caseStart + deep(100) + deep(20000) + strings.Repeat("[", 3_000_000) + "\n" + strings.Repeat(`{"a":`, 300_000) + "\n" + caseLog("plain") + caseEnd, 0, complete, 2, 4, messages("m", "plain")},
		{"e7 partial lines", caseStart + caseLog("slow") + caseLog("b") + caseLog("c") + `{"type":"log","ts":"2026-01`, 0, complete, 3, 4,
			func(t *testing.T, c *stages.Collection) {
				messages("slow", "b", "c")(t, c)
				if !bytes.HasSuffix(c.Stdout, []byte("\n"+`{"type":"log","ts":"2026-01`)) {
					t.Errorf("stdout ends in %q", c.Stdout[len(c.Stdout)-40:])
				}
			}},
		{"e8 ANSI", caseStart + "\x1b[2K" + l + "\n" + "\x1b[36mweb-1  | \x1b[0m" + l + "\n" + l + "\x1b[0m\n" + caseLog(`\u001b[31mred\u001b[0m`) + caseLog("plain") + caseEnd, 0, complete, 2, 4,
			messages("\x1b[31mred\x1b[0m", "plain")},
		{"f1 split at 16 KiB", caseStart + pieces.String() + caseLog("a") + caseLog("b") + caseEnd, 0, complete, 2, 4,
			func(t *testing.T, c *stages.Collection) {
				messages("a", "b")(t, c)
				if !bytes.Contains(c.Stdout, []byte(pieces.String())) {
					t.Error("stdout lost the pieces")
				}
			}},
		{"f2 restart repeats", caseStart + each(numbers(1, 6), func(n int) string { return caseLogN("l", n) }) + "web-1 exited with code 143\n" +
			each(numbers(4, 9), func(n int) string { return caseLogN("l", n) }) + caseEnd, 0, complete, 10, 12, order(1, 2, 3, 4, 5, 4, 5, 6, 7, 8)},
		{"f3 switches to text", caseStart + each(numbers(0, 3), func(n int) string { return caseLogN("j", n) }) +
			each(numbers(0, 50), func(n int) string { return fmt.Sprintf("2026-01-02 03:04:05 INFO plain line %d\n", n) }), 0, complete, 3, 4,
			func(t *testing.T, c *stages.Collection) {
				if n := bytes.Count(c.Stdout, []byte("INFO plain line")); n != 50 {
					t.Errorf("%d lines of text in stdout", n)
				}
			}},
		{"g3 one below the number of logs", exact, 199, events(199), 199, 200, order(numbers(0, 199)...)},
		{"g3 the number of logs", exact, 200, events(200), 200, 201, order(numbers(0, 200)...)},
		{"g3 one above the number of logs", exact, 201, complete, 200, 202, order(numbers(0, 200)...)},
	}
}

// TestCases: streams of real failures, in every chunking, at capture level.
func TestCases(t *testing.T) {
	for _, c := range logCases() {
		t.Run(c.name, func(t *testing.T) {
			stdout := []byte(c.stdout)
			var events []byte // of the first chunking
			for name, chunks := range splits(t, []pipeline.Chunk{{Data: stdout}}) {
				got := collectOf(t, 0, chunks, pipeline.Bounds{MaxEvents: c.maxEvents})
				if got.Outcome != c.want || got.Events.Len() != c.all {
					t.Fatalf("%s: %v, %d events, want %v, %d", name, got.Outcome, got.Events.Len(), c.want, c.all)
				}
				if !bytes.HasPrefix(stdout, got.Stdout) {
					t.Errorf("%s: stdout is no prefix of what was written", name)
				}
				joined := got.Events.AppendJSON(nil, got.Events.Len())
				if events != nil {
					if !bytes.Equal(joined, events) {
						t.Errorf("chunk-invariance: %s give other events", name)
					}
					continue
				}
				events = joined
				logs := 0
				for raw := range got.Events.All() {
					var e struct{ Type string }
					if err := json.Unmarshal(raw, &e); err != nil {
						t.Fatalf("an event that a reader refuses: %v", err)
					}
					if e.Type == "log" {
						logs++
					}
				}
				if logs != c.logs {
					t.Errorf("%d logs, want %d", logs, c.logs)
				}
				if c.check != nil {
					c.check(t, got)
				}
			}
		})
	}
}
