package stagetest_test

import (
	"bytes"
	"fmt"
	"iter"

	"github.com/tailrace/tailrace/pipeline"
	"github.com/tailrace/tailrace/stages"
	"github.com/tailrace/tailrace/stages/stagetest"
)

// A Grep passes on the lines that contain a word. It is a stage as anybody would write it.
type Grep struct {
	Word string

	ledger pipeline.Ledger
}

// Apply is the stage.
func (g *Grep) Apply(in iter.Seq[stages.Line]) iter.Seq[stages.Line] {
	return func(yield func(stages.Line) bool) {
		for line := range in {
			n := int64(len(line.Data))
			g.ledger.In += n
			if !bytes.Contains(line.Data, []byte(g.Word)) {
				g.ledger.Dropped += n
				continue
			}
			g.ledger.Kept += n
			if !yield(line) {
				return
			}
		}
	}
}

// Report says what was kept.
func (g *Grep) Report() pipeline.Report { return pipeline.Report{Stage: "grep", Ledger: g.ledger} }

// A stage of one's own is proved with one call; in a test that is stagetest.Run.
func Example() {
	err := stagetest.Check(func() stagetest.Subject[stages.Line] {
		g := &Grep{Word: "log"}
		return stagetest.OfLines[stages.Line](g.Apply, g)
	}, stagetest.Options[stages.Line]{})
	fmt.Println(err)
	// Output: <nil>
}
