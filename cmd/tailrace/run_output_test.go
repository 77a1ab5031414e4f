package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tailrace/tailrace/internal/memsource"
	"github.com/tailrace/tailrace/pipeline"
	"github.com/tailrace/tailrace/stages"
)

// A shown is what a run from memory wrote, and what it collected.
type shown struct {
	*stages.Collection
	stdout, stderr string
}

// collectShown runs the inner part of the command on a source from memory.
func collectShown(t *testing.T, src pipeline.Source, o runOptions) shown {
	t.Helper()
	var stdout, stderr bytes.Buffer
	o.command = []string{"none"}
	w := newRunOutput(&app{Stdout: &stdout, Stderr: &stderr, Now: func() time.Time { return time.Unix(0, 0) }}, &o)
	c, err := stages.Collect(t.Context(), src, o.bounds, w.hooks())
	if err != nil {
		t.Fatal(err)
	}
	if err := w.finish(c); err != nil {
		t.Fatal(err)
	}
	return shown{c, stdout.String(), stderr.String()}
}

// pieces plays data in every size of pieces that makes a difference.
func pieces(data string) iter.Seq[*memsource.Source] {
	return func(yield func(*memsource.Source) bool) {
		for size := 1; size <= len(data); size++ {
			if !yield(memsource.New([]byte(data), size)) {
				return
			}
		}
	}
}

const mixed = "text 🚀\n{\"type\":\"start\"}\r\n\n{\"type\":\"log\",\"n\":1}\n{\"type\":\"log\",\"n\":2}\nmore\n{\"type\":\"log\",\"n\":3}\n{\"type\":\"log\",\"n\":4}\nlast"

// The text that is shown ends with the LF of the last event, however it is read.
func TestC6_TextEndsWithTheLastEvent(t *testing.T) {
	for n := 1; n <= 5; n++ {
		want := mixed
		if i := strings.Index(mixed, fmt.Sprintf(`"n":%d}`, n)); i >= 0 {
			want = mixed[:i+len(`"n":1}`)+1]
		}
		for src := range pieces(mixed) {
			got := collectShown(t, src, runOptions{format: "text", bounds: pipeline.Bounds{MaxEvents: n}})
			if got.stdout != want || string(got.Stdout) != want {
				t.Fatalf("%d events: shown %q, kept %q, want %q", n, got.stdout, got.Stdout, want)
			}
		}
	}
}

// What is shown is what is kept, at each byte bound, on both streams.
func TestC3_TextEndsOnCodePoints(t *testing.T) {
	for n := int64(1); n <= int64(len(mixed))+4; n++ {
		for size := 1; size < 9; size++ {
			src := memsource.New([]byte(mixed), size)
			src.Played = append(src.Played, onStream(pipeline.Stderr, "é!"))
			got := collectShown(t, src, runOptions{format: "text", quiet: true, bounds: pipeline.Bounds{MaxBytes: n}})
			want := strings.ToValidUTF8(mixed[:min(int(n), len(mixed))], "")
			if got.stdout != want || got.stdout != string(got.Stdout) || got.stderr != string(got.Stderr) {
				t.Fatalf("%d bytes: shown %q and %q, kept %q and %q, want %q", n, got.stdout, got.stderr, got.Stdout, got.Stderr, want)
			}
		}
	}
}

// The lines that --lines wraps are shown as they were: CR, bytes that are not UTF-8, an
// event that looks like a wrapped line, and no LF at the end.
const odd = "a\r\n\xff\xfe b\n\n{\"type\":\"log\",\"entry\":{\"source\":\"command\",\"raw\":\"no\"}}\n  \n{\"no\":\"type\"}\nend"

func TestRun_LinesAreShownAsTheyWere(t *testing.T) {
	lines := strings.SplitAfter(odd, "\n")
	for n := 1; n <= 6; n++ {
		// Each line is an event, but the blank ones.
		want, left := "", n
		for _, line := range lines {
			if left == 0 {
				break
			}
			if want += line; strings.TrimSpace(line) != "" {
				left--
			}
		}
		for src := range pieces(odd) {
			got := collectShown(t, src, runOptions{format: "text", lines: true, bounds: pipeline.Bounds{MaxEvents: n}})
			if got.stdout != want {
				t.Fatalf("%d events: got %q, want %q", n, got.stdout, want)
			}
		}
	}
}

// A byte bound inside a wrapped line shows nothing of it; one inside a line that passes
// as it is shows what was kept.
func TestRun_LinesThatWereCutAreNotMadeUp(t *testing.T) {
	for n := int64(1); n < 700; n++ {
		got := collectShown(t, memsource.New([]byte(odd), 3), runOptions{format: "text", lines: true, bounds: pipeline.Bounds{MaxBytes: n}})
		if !strings.HasPrefix(odd, got.stdout) {
			t.Fatalf("%d bytes: got %q, which was not written", n, got.stdout)
		}
		if whole := strings.Count(got.stdout, "\n"); whole != bytes.Count(got.Stdout, []byte{'\n'}) && got.stdout != odd {
			t.Fatalf("%d bytes: %d lines are shown, %d were kept", n, whole, bytes.Count(got.Stdout, []byte{'\n'}))
		}
	}
}

func TestRun_NDJSONIsTheEvents(t *testing.T) {
	for src := range pieces(mixed) {
		got := collectShown(t, src, runOptions{format: "ndjson", bounds: pipeline.Bounds{MaxEvents: 2}})
		if want := "{\"type\":\"start\"}\n{\"type\":\"log\",\"n\":1}\n{\"type\":\"log\",\"n\":2}\n"; got.stdout != want {
			t.Fatalf("got %q, want %q", got.stdout, want)
		}
	}
}

// A watched source looks at what has been shown of a chunk when the next one is asked for.
type watched struct {
	*memsource.Source
	look func(chunks int)
}

func (w watched) Chunks(ctx context.Context) iter.Seq[pipeline.Chunk] {
	return func(yield func(pipeline.Chunk) bool) {
		n := 0
		for c := range w.Source.Chunks(ctx) {
			if !yield(c) {
				return
			}
			n++
			w.look(n)
		}
	}
}

// Output is shown as it comes and not at the end.
func TestRun_OutputIsShownAsItComes(t *testing.T) {
	for format, want := range map[string][]string{
		"text":   {"a\n", "a\n{}\nb", "a\n{}\nb\n{\"x\":1}\n"},
		"ndjson": {"", "{}\n", "{}\n{\"x\":1}\n"},
		"json":   {"", "", ""},
	} {
		var stdout, stderr bytes.Buffer
		w := newRunOutput(&app{Stdout: &stdout, Stderr: &stderr, Now: time.Now}, &runOptions{format: format, command: []string{"none"}})
		src := watched{memsource.Of(0, onStream(pipeline.Stdout, "a\n"), onStream(pipeline.Stdout, "{}\nb"), onStream(pipeline.Stdout, "\n{\"x\":1}\n")), func(n int) {
			if stdout.String() != want[n-1] {
				t.Errorf("%s: after %d chunks %q is shown, want %q", format, n, stdout.String(), want[n-1])
			}
		}}
		if _, err := stages.Collect(t.Context(), src, pipeline.Bounds{}, w.hooks()); err != nil {
			t.Fatal(err)
		}
	}
}

// On a terminal nothing of a log acts on it, and JSON stays the same JSON.
func TestRun_TerminalShowsControls(t *testing.T) {
	const in = "\x1b[2Jred\u202e\r\n{\"type\":\"log\",\"m\":\"\u009b\U000e0041\"}\npart\x07"
	for format, want := range map[string]string{
		"text":   `\x1b[2Jred\u202e` + "\n" + `{"type":"log","m":"\x9b\U000e0041"}` + "\n" + `part\x07`,
		"ndjson": `{"type":"log","m":"\u009b\udb40\udc41"}` + "\n",
	} {
		var stdout bytes.Buffer
		w := newRunOutput(&app{Stdout: &stdout, Stderr: io.Discard, Now: time.Now}, &runOptions{format: format, command: []string{"none"}})
		w.terminal[pipeline.Stdout] = true
		c, err := stages.Collect(t.Context(), memsource.New([]byte(in), 64), pipeline.Bounds{}, w.hooks())
		if err != nil {
			t.Fatal(err)
		}
		if err := w.finish(c); err != nil || stdout.String() != want {
			t.Errorf("%s: got %q, %v; want %q", format, stdout.String(), err, want)
		}
	}
}

// A reader that went away ends the run, and the program quietly; a full disk does not.
func TestRun_OutputThatBreaksEndsTheRun(t *testing.T) {
	for want, broken := range map[int]error{codeBrokenPipe: syscall.EPIPE, codeFailed: syscall.ENOSPC} {
		ctx, cancel := context.WithCancelCause(t.Context())
		var stderr bytes.Buffer
		w := newRunOutput(&app{Stdout: brokenPipe{broken}, Stderr: &stderr, Now: time.Now}, &runOptions{format: "text"})
		w.onBroken = func() { cancel(errReaderGone) }
		src := memsource.New(bytes.Repeat([]byte("line\n"), 100), 5)
		c, err := stages.Collect(ctx, src, pipeline.Bounds{}, w.hooks())
		if err != nil {
			t.Fatal(err)
		}
		var exit *exitError
		if err := w.finish(c); !errors.As(err, &exit) || exit.code != want || (exit.err == nil) != (want == codeBrokenPipe) {
			t.Errorf("got %v, want exit code %d", err, want)
		}
		if len(c.Stdout) != len("line\n") || stderr.Len() != 0 {
			t.Errorf("the run went on for %d bytes and wrote %q", len(c.Stdout), stderr.String())
		}
	}
}

func TestRun_ProgressSaysWhatThereIs(t *testing.T) {
	w := newRunOutput(&app{Stdout: io.Discard, Stderr: io.Discard}, &runOptions{bounds: pipeline.Bounds{MaxTime: 5 * time.Second}})
	w.bytes.Store(64 << 10)
	w.events.Store(1)
	if got, want := w.progressText(2*time.Second), "64KiB  1 event  32KiB/s  2s  3s left"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := w.progressText(0), "64KiB  1 event  62.5MiB/s  0s  5s left"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	w.o.bounds.MaxTime = 0
	if got, want := w.progressText(4*time.Second), "64KiB  1 event  16KiB/s  4s"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
