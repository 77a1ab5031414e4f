package stages_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tailrace/tailrace/pipeline"
	"github.com/tailrace/tailrace/stages"
)

// TestE1E3_LineSplitter has what the rules say of lines, in every chunking.
func TestE1E3_LineSplitter(t *testing.T) {
	for _, c := range []struct {
		name, in string
		cut      bool
		want     []string
		last     bool // the last line has its LF
		consumed int64
	}{
		{"E1 only LF ends a line", "a\rb\u2028c\u2029d\u0085e\vf\fg\x00h\ni", false, []string{"a\rb\u2028c\u2029d\u0085e\vf\fg\x00h", "i"}, false, 22},
		{"E1 a CR stays in the line", "a\r\n", false, []string{"a\r"}, true, 3},
		{"E1 blank lines", "\n\na\n\n", false, []string{"", "", "a", ""}, true, 5},
		{"E1 bytes that are not UTF-8", "\xff\n\xe2\x82\n", false, []string{"\xff", "\xe2\x82"}, true, 5},
		{"E3 the last line counts at a natural end", "a\nb", false, []string{"a", "b"}, false, 3},
		{"E3 not after a cut", "a\nb", true, []string{"a"}, true, 2},
		{"E3 a whole last line counts after a cut", "a\nb\n", true, []string{"a", "b"}, true, 4},
		{"E1 a long line", strings.Repeat("x", 9000) + "\ny\n", false, []string{strings.Repeat("x", 9000), "y"}, true, 9003},
		{"E3 nothing", "", false, nil, false, 0},
		{"E3 nothing, cut", "", true, nil, false, 0},
	} {
		for _, stream := range []pipeline.Stream{pipeline.Stdout, pipeline.Stderr} {
			t.Run(c.name+"/"+stream.String(), func(t *testing.T) {
				in := []pipeline.Chunk{piece(1-stream, "of\nthe other"), piece(stream, c.in), piece(1-stream, " stream\n")}
				if c.cut {
					in = append(in, pipeline.Chunk{Cut: true})
				}
				for name, chunks := range splits(t, in) {
					s := &stages.LineSplitter{Stream: stream}
					var got []string
					terminated := false
					for l := range s.Apply(slices.Values(chunks)) {
						got = append(got, string(l.Data))
						terminated = l.Terminated
					}
					if !slices.Equal(got, c.want) || terminated != c.last || s.Consumed() != c.consumed {
						t.Errorf("%s: %q, terminated %v, consumed %d", name, got, terminated, s.Consumed())
					}
					balanced(t, s, int64(len(c.in)))
				}
			})
		}
	}
}

// TestC6_ConsumedAtAStop: when the consumer stops, the offset is that behind the last line
// it was given, whatever the chunk held beyond.
func TestC6_ConsumedAtAStop(t *testing.T) {
	const in = "one\ntwo\r\n\nfour\nfive"
	for stop, want := range []int64{4, 9, 10, 15} {
		for name, chunks := range splits(t, []pipeline.Chunk{piece(0, in)}) {
			s := &stages.LineSplitter{}
			n := 0
			for range s.Apply(slices.Values(chunks)) {
				if n++; n > stop {
					break
				}
			}
			if s.Consumed() != want {
				t.Errorf("%s: after %d lines %d, want %d", name, n, s.Consumed(), want)
			}
			if r := s.Report().Ledger; !r.Balanced() || r.Kept+r.Dropped != want {
				t.Errorf("%s: ledger-balance: %+v", name, r)
			}
		}
	}
}

// TestLineSplitter_NoCopy: lines of adjacent chunks are views of the source's memory.
func TestLineSplitter_NoCopy(t *testing.T) {
	buffer := []byte(strings.Repeat("a line of some length\n", 50))
	for size := 1; size < 50; size++ {
		var in []pipeline.Chunk
		for rest := buffer; len(rest) > 0; {
			n := min(size, len(rest))
			in = append(in, pipeline.Chunk{Data: rest[:n]})
			rest = rest[n:]
		}
		at := 0
		for l := range (&stages.LineSplitter{}).Apply(slices.Values(in)) {
			if &l.Data[0] != &buffer[at] {
				t.Fatalf("chunks of %d: copied at %d", size, at)
			}
			at += len(l.Data) + 1
		}
	}
}

// TestE1_OneLongLine: one line of 8 MiB in pieces of a few bytes is searched and kept in
// time and memory linear in its bytes. A search that starts over would not end.
func TestE1_OneLongLine(t *testing.T) {
	const size = 8 << 20
	whole := bytes.Repeat([]byte("x"), size)
	for name, step := range map[string]int{"adjacent": 0, "apart": 1} {
		t.Run(name, func(t *testing.T) {
			s := &stages.LineSplitter{}
			var line []byte
			got := allocated(func() {
				for l := range s.Apply(func(yield func(pipeline.Chunk) bool) {
					// Leaving a byte out between two chunks keeps them from being adjacent.
					for at := 0; at+5 < size; at += 5 + step {
						if !yield(pipeline.Chunk{Data: whole[at : at+5]}) {
							return
						}
					}
				}) {
					line = l.Data
				}
			})
			if len(line) < size*4/5 || got > 8*size {
				t.Errorf("a line of %d bytes, %d bytes allocated", len(line), got)
			}
		})
	}
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
