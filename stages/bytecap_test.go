package stages_test

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/tailrace/tailrace/pipeline"
	"github.com/tailrace/tailrace/stages"
)

// TestC1C3_ByteCap has what the rules say of one run, in every chunking.
func TestC1C3_ByteCap(t *testing.T) {
	out, err := pipeline.Stdout, pipeline.Stderr
	cut := pipeline.Chunk{Cut: true}
	for _, c := range []struct {
		name           string
		max            int64
		in             []pipeline.Chunk
		stdout, stderr string
		cut            bool
	}{
		{"C1 nothing", 1, nil, "", "", false},
		{"C1 exactly the limit is complete", 4, []pipeline.Chunk{piece(out, "ab"), piece(err, "cd")}, "ab", "cd", false},
		{"C1 exactly the limit, of code points", 5, []pipeline.Chunk{piece(out, "é"), piece(err, "漢")}, "é", "漢", false},
		{"C1 the first byte over it is the cut", 4, []pipeline.Chunk{piece(out, "ab"), piece(err, "cde")}, "ab", "cd", true},
		{"C1 the first byte over it, in a piece of its own", 4, []pipeline.Chunk{piece(out, "ab"), piece(err, "cd"), piece(out, "e")}, "ab", "cd", true},
		{"C1 in the order of reading", 3, []pipeline.Chunk{piece(err, "xyz"), piece(out, "ab")}, "", "xyz", true},
		{"C1 bytes that are held back count when they are read", 6, []pipeline.Chunk{piece(out, "a\xe6\xbc"), piece(err, "bcd"), piece(out, "\xa2")}, "a", "bcd", true},
		{"C1 an end inside a limit that is 0: the default", 0, []pipeline.Chunk{piece(out, "ab")}, "ab", "", false},
		{"C3 the stream that met the bound", 3, []pipeline.Chunk{piece(out, "é漢")}, "é", "", true},
		{"C3 the other stream too", 4, []pipeline.Chunk{piece(err, "e\xe6\xbc"), piece(out, "ab")}, "a", "e", true},
		{"C3 four bytes less three", 3, []pipeline.Chunk{piece(out, "🚀x")}, "", "", true},
		{"C3 four bytes less one", 4, []pipeline.Chunk{piece(out, "🚀x")}, "🚀", "", true},
		{"C3 a code point in two pieces", 5, []pipeline.Chunk{piece(out, "a\xf0\x9f"), piece(out, "\x9a\x80b")}, "a🚀", "", true},
		{"C3 a code point around the other stream", 20, []pipeline.Chunk{piece(out, "a\xf0\x9f"), piece(err, "x\xe6"), piece(out, "\x9a\x80b"), piece(err, "\xbc\xa2")}, "a🚀b", "x漢", false},
		{"C3 invalid bytes are no code point to hold", 3, []pipeline.Chunk{piece(out, "a\xff\xfeb")}, "a\xff\xfe", "", true},
		{"C3 a refuted beginning", 4, []pipeline.Chunk{piece(out, "\xf0\x9f"), piece(out, "ab"), piece(out, "c")}, "\xf0\x9fab", "", true},
		{"C3 a beginning upon a beginning", 6, []pipeline.Chunk{piece(out, "\xf0\x9f"), piece(out, "\xf0\x9f\x9a\x80"), piece(out, "c")}, "\xf0\x9f🚀", "", true},
		{"C4 invalid bytes at a natural end stay", 9, []pipeline.Chunk{piece(out, "a\xf0\x9f"), piece(err, "\xe6")}, "a\xf0\x9f", "\xe6", false},
		{"C4 invalid bytes inside stay", 9, []pipeline.Chunk{piece(out, "\xf0\x9f"), piece(out, "abcdef")}, "\xf0\x9fabcdef", "", false},
		{"C6 a cut from before ends whole", 9, []pipeline.Chunk{piece(out, "a\xe2\x82"), piece(err, "b\xe2"), cut}, "a", "b", false},
		{"C6 a cut with data", 9, []pipeline.Chunk{{Data: []byte("aé\xe2"), Cut: true}}, "aé", "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			for name, in := range splits(t, c.in) {
				bc := &stages.ByteCap{MaxBytes: c.max}
				var got [2]string
				last, read := false, 0
				for x := range bc.Apply(counted(in, &read)) {
					if last {
						t.Errorf("%s: a chunk behind Cut", name)
					}
					if len(x.Data) == 0 && !x.Cut {
						t.Errorf("%s: an empty chunk", name)
					}
					got[x.Stream] += string(x.Data)
					last = x.Cut
				}
				if got[0] != c.stdout || got[1] != c.stderr || bc.Cut() != c.cut {
					t.Errorf("%s: %q %q cut %v", name, got[0], got[1], bc.Cut())
				}
				if asked := len(c.in) > 0 && c.in[len(c.in)-1].Cut; last != (c.cut || asked) {
					t.Errorf("%s: Cut %v on the last chunk", name, last)
				}
				balanced(t, bc, sizeOf(in[:read]))
				want := pipeline.Cutoff{}
				if c.cut {
					want = pipeline.Cutoff{Bound: pipeline.BytesBound, Limit: c.max}
				}
				if r := bc.Report(); r.Cut != want {
					t.Errorf("%s: report %+v", name, r)
				}
			}
		})
	}
}

// TestC3_AnyStop: whoever stops the run, and after whichever chunk, what the cap has
// passed on is valid UTF-8 in both streams.
func TestC3_AnyStop(t *testing.T) {
	words := []string{"a", "é", "漢", "🚀", "\n", "\u2028"}
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 4))
		var in []pipeline.Chunk
		for range 1 + r.IntN(6) {
			var b strings.Builder
			for range r.IntN(8) {
				b.WriteString(words[r.IntN(len(words))])
			}
			in = append(in, piece(pipeline.Stream(r.IntN(2)), b.String()))
		}
		for name, chunks := range splits(t, in) {
			bc := &stages.ByteCap{MaxBytes: int64(1 + r.IntN(80))}
			stop := r.IntN(40)
			var got [2]string
			for x := range bc.Apply(slices.Values(chunks)) {
				got[x.Stream] += string(x.Data)
				if stop--; stop < 0 {
					break
				}
			}
			if !utf8.ValidString(got[0]) || !utf8.ValidString(got[1]) {
				t.Fatalf("seed %d, %s: code-point: %q %q", seed, name, got[0], got[1])
			}
			if rep := bc.Report(); !rep.Ledger.Balanced() || rep.Ledger.Kept != int64(len(got[0])+len(got[1])) {
				t.Fatalf("seed %d, %s: ledger-balance: %+v", seed, name, rep.Ledger)
			}
		}
	}
}

// TestC2_TheCutStopsTheSource: nothing is asked for behind the chunk that went over.
func TestC2_TheCutStopsTheSource(t *testing.T) {
	read := 0
	in := []pipeline.Chunk{piece(0, "abc"), piece(1, "def"), piece(0, "ghi"), piece(0, "jkl")}
	pull((&stages.ByteCap{MaxBytes: 6}).Apply(counted(in, &read)))
	if read != 3 {
		t.Errorf("%d chunks read, want 3", read)
	}
}

// TestByteCap_NoCopy: of chunks that are adjacent no byte is moved, code points that are
// split by their borders included.
func TestByteCap_NoCopy(t *testing.T) {
	buffer := []byte(strings.Repeat("漢é🚀a", 100))
	var in []pipeline.Chunk
	for i := range buffer {
		in = append(in, pipeline.Chunk{Data: buffer[i : i+1]})
	}
	at := 0
	for x := range (&stages.ByteCap{}).Apply(slices.Values(in)) {
		if &x.Data[0] != &buffer[at] {
			t.Fatalf("copied at %d", at)
		}
		at += len(x.Data)
	}
	if at != len(buffer) {
		t.Errorf("%d bytes of %d", at, len(buffer))
	}
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
	fmt.Println(c.Report().Ledger)
	// Output:
	// "né " false
	// "" true
	// {10 4 6 0}
}
