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

// TestCapture: both streams are recorded, and what is yielded is what came, as views of
// the recording, in every chunking.
func TestCapture(t *testing.T) {
	in := []pipeline.Chunk{
		piece(0, strings.Repeat("out", 700)), piece(1, "err\n"), piece(0, "x"), piece(1, strings.Repeat("more", 300)), piece(0, "end\n"), {Cut: true},
	}
	var want [2]string
	for _, c := range in {
		want[c.Stream] += string(c.Data)
	}
	for name, chunks := range splits(t, in) {
		for _, most := range []int64{0, sizeOf(in), 10} {
			c := &stages.Capture{MaxBytes: most}
			var got [2]string
			cut := false
			for x := range c.Apply(slices.Values(chunks)) {
				got[x.Stream] += string(x.Data)
				whole := [2][]byte{c.Stdout(), c.Stderr()}[x.Stream]
				if n := len(x.Data); n > 0 && &x.Data[0] != &whole[len(whole)-n] {
					t.Fatalf("%s: a chunk is no view of the recording", name)
				}
				cut = x.Cut
			}
			if got != want || string(c.Stdout()) != want[0] || string(c.Stderr()) != want[1] || !cut {
				t.Errorf("%s: %d and %d bytes, cut %v", name, len(c.Stdout()), len(c.Stderr()), cut)
			}
			balanced(t, c, sizeOf(in))
		}
	}
}

func TestCapture_Truncate(t *testing.T) {
	c := &stages.Capture{}
	pull(c.Apply(slices.Values([]pipeline.Chunk{piece(0, "stdout"), piece(1, "stderr")})))
	c.Truncate(pipeline.Stdout, 3)
	c.Truncate(pipeline.Stdout, 5)
	c.Truncate(pipeline.Stderr, 6)
	if string(c.Stdout()) != "std" || string(c.Stderr()) != "stderr" {
		t.Errorf("%q %q", c.Stdout(), c.Stderr())
	}
	if want := (pipeline.Ledger{In: 12, Kept: 9, Cut: 3}); c.Report().Ledger != want {
		t.Errorf("%+v", c.Report().Ledger)
	}
}

// TestMemory_Capture: adjacent chunks cost nothing; others cost their bytes and what
// growing leaves behind. With the bound known no more than that is reserved at last.
func TestMemory_Capture(t *testing.T) {
	const size = 8 << 20
	in := []pipeline.Chunk{{Data: bytes.Repeat([]byte("x"), size)}}
	for _, c := range []struct {
		name  string
		apart bool
		most  int64
		limit uint64
	}{
		{"adjacent", false, 0, 4 << 10},
		{"apart", true, 0, 5 * size},
		{"apart, with a bound", true, size, 3 * size},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, chunks := split(in, 16<<10, c.apart)
			capture := &stages.Capture{MaxBytes: c.most}
			if got := allocated(func() { pull(capture.Apply(slices.Values(chunks))) }); got > c.limit {
				t.Errorf("%d bytes allocated, want at most %d", got, c.limit)
			}
			if len(capture.Stdout()) != size || c.most > 0 && cap(capture.Stdout()) > size {
				t.Errorf("%d bytes, %d reserved", len(capture.Stdout()), cap(capture.Stdout()))
			}
		})
	}
}

func ExampleCapture() {
	c := &stages.Capture{}
	for range c.Apply(chunksOf("all ", "of it")) {
	}
	fmt.Printf("%s\n", c.Stdout())
	// Output: all of it
}
