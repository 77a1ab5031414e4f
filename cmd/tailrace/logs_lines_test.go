package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/tailrace/tailrace/internal/logline"
)

func split(pieces ...string) []string {
	var s lineSplitter
	var lines []string
	emit := func(line []byte) { lines = append(lines, string(line)) }
	for _, p := range pieces {
		s.feed([]byte(p), emit)
	}
	s.end(emit)
	return lines
}

func TestLineSplitter_PiecesChangeNothing(t *testing.T) {
	const in = "a\r\n\n b\tc \r\r\n\rd\u2028e\nlast"
	want := []string{"a", "", " b\tc \r", "\rd\u2028e", "last"}
	for i := range in {
		for j := i; j < len(in); j++ {
			if got := split(in[:i], in[i:j], in[j:]); !slices.Equal(got, want) {
				t.Fatalf("cut at %d and %d: got %q", i, j, got)
			}
		}
	}
	if got := split("a\n"); !slices.Equal(got, []string{"a"}) {
		t.Errorf("got %q", got)
	}
	if got := split(); got != nil {
		t.Errorf("got %q", got)
	}
}

func TestC3_LongLinesBecomePiecesOfWholeCodePoints(t *testing.T) {
	exact := strings.Repeat("x", maxLogLine)
	long := "ab" + strings.Repeat("日", maxLogLine/3) + strings.Repeat("y", maxLogLine)
	for name, in := range map[string][]string{
		"exact":             {exact, "\n"},
		"exact with CR":     {exact + "\r\n"},
		"exact with CR cut": {exact, "\r", "\n"},
		"exact, no end":     {exact},
		"long at once":      {long + "\n"},
		"long in pieces":    {long[:maxLogLine-1], long[maxLogLine-1 : maxLogLine+1], long[maxLogLine+1:], "\n"},
		"long, no end":      {long},
	} {
		t.Run(name, func(t *testing.T) {
			got := split(in...)
			joined := strings.TrimRight(strings.Join(in, ""), "\r\n")
			if strings.Join(got, "") != joined {
				t.Fatal("bytes are lost or made up")
			}
			if strings.HasPrefix(name, "exact") != (len(got) == 1) {
				t.Errorf("got %d lines", len(got))
			}
			for i, line := range got {
				if len(line) > maxLogLine || !utf8.ValidString(line) {
					t.Errorf("line %d has %d bytes, valid %v", i, len(line), utf8.ValidString(line))
				}
			}
		})
	}
	if got := split(strings.Repeat("\x80", maxLogLine+5)); len(got) != 2 {
		t.Errorf("bytes that are no text: got %d lines", len(got))
	}
}

func TestLastLines_KeepsTheLast(t *testing.T) {
	for _, n := range []int{1, 2, 3, 7} {
		for total := range 20 {
			l := lastLines{n: n}
			var want []string
			for i := range total {
				l.add(logline.Record{Line: fmt.Appendf(nil, "line %d", i), Stream: "stdout"})
				want = append(want, fmt.Sprintf("line %d", i))
			}
			want = want[max(0, len(want)-n):]
			var got []string
			l.each(func(r logline.Record) bool { got = append(got, string(r.Line)); return true })
			if !slices.Equal(got, want) || l.short {
				t.Fatalf("the last %d of %d: got %q", n, total, got)
			}
		}
	}
}

func TestLastLines_BytesAreBounded(t *testing.T) {
	for _, size := range []int{70_000, maxLogLine} {
		l := lastLines{n: 2000}
		line := bytes.Repeat([]byte("x"), size)
		total := 3 * maxHeldBytes / size
		for i := range total {
			line[size-1] = byte('a' + i%26)
			l.add(logline.Record{Line: line, Stream: "stdout"})
			// Short lines between them must not make use of the long ones' memory.
			l.add(logline.Record{Line: []byte("short"), Stream: "stderr"})
			if i%16 != 0 && i < total-16 {
				continue
			}
			held := 0
			for _, slot := range l.ring {
				held += cap(slot.text)
			}
			if held != l.held || held > maxHeldBytes+maxLogLine {
				t.Fatalf("after %d lines of %d: %d bytes counted, %d held", i+1, size, l.held, held)
			}
		}
		var last string
		count := 0
		l.each(func(r logline.Record) bool {
			if r.Stream == "stdout" {
				last, count = string(r.Line), count+1
			}
			return true
		})
		if count < maxHeldBytes/size*3/4 || last != string(line) || !l.short {
			t.Errorf("%d bytes: got %d lines, short %v", size, count, l.short)
		}
	}
}
