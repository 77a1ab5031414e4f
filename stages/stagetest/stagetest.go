// Package stagetest proves that a stage keeps the laws of package pipeline, as
// testing/slogtest does for handlers. One call runs it over hostile streams in many
// chunkings, stops it and cuts it at many points, and says which law it breaks:
//
//	func TestMyStage(t *testing.T) {
//		stagetest.Run(t, func() stagetest.Subject[pipeline.Chunk] {
//			s := &MyStage{}
//			return stagetest.Subject[pipeline.Chunk]{Stage: s.Apply, Reporter: s}
//		}, stagetest.Options[pipeline.Chunk]{})
//	}
//
// A stage that reads lines or events and not chunks is put behind [OfLines] or [OfEvents].
//
// The laws are those of package pipeline that a stage can break alone:
//
//   - chunk-invariance: splitting the same bytes differently changes nothing.
//   - code-point: what is yielded of valid UTF-8 is valid UTF-8.
//   - prefix: of a stream that was cut it yields the beginning of what it yields of the
//     whole stream. It flushes nothing unfinished, and says of chunks that they were cut.
//   - stop: when its consumer stops, it yields no more, asks its input for no more, and
//     leaves no goroutine.
//   - ledger: bytes in = kept + cut + dropped, however the run ended.
//   - memory: it never writes to the memory of its input, and never changes what it has
//     yielded.
//   - zero: it yields no chunk that says nothing.
package stagetest

import (
	"errors"
	"fmt"
	"testing"

	"github.com/tailrace/tailrace/pipeline"
)

// The laws that a [Violation] names.
const (
	LawChunkInvariance = "chunk-invariance"
	LawCodePoint       = "code-point"
	LawPrefix          = "prefix"
	LawStop            = "stop"
	LawLedger          = "ledger"
	LawMemory          = "memory"
	LawZero            = "zero"
)

// A Subject is one fresh stage, for one run.
type Subject[Out any] struct {
	// Stage is the stage. It must not be nil.
	Stage pipeline.Stage[pipeline.Chunk, Out]
	// Reporter is asked for the ledger after each run; nil for a stage that has none.
	Reporter pipeline.Reporter
}

// Options are the settings of [Check] and [Run]. The zero value serves most stages.
type Options[Out any] struct {
	// Text says what an element says, for comparing and for the code-point law. nil means
	// the Data of a chunk or a line, the Raw of an event, and the %v form of anything else.
	Text func(Out) string
	// Streams are more inputs, beside the package's own. Each is split and cut like them.
	Streams [][]pipeline.Chunk
	// Cases is how many random streams there are; 0 means 30, a negative value none.
	Cases int
	// Seed makes other random streams. Each seed, 0 too, makes the same ones each time.
	Seed uint64
	// Summary says that the stage yields something about the stream and not the stream
	// itself, so that a cut one has another summary. The prefix law is then not checked.
	Summary bool
}

// A Violation says which law a stage breaks, and with what input.
type Violation struct {
	// Law is one of the constants of this package.
	Law string
	// Input is how the stream was made, and how it was split.
	Input string
	// Detail is what was wrong.
	Detail string
}

// Error tells the law, the input and what was wrong.
func (v *Violation) Error() string {
	return fmt.Sprintf("%s: %s\n\tinput: %s", v.Law, v.Detail, v.Input)
}

// Run checks the stage and fails the test once for each law that it breaks. Nothing else
// may start goroutines meanwhile, so the test must not be parallel.
func Run[Out any](t *testing.T, fresh func() Subject[Out], o Options[Out]) {
	t.Helper()
	if err := Check(fresh, o); err != nil {
		t.Error(err)
	}
}

// Check returns nil for a stage that keeps the laws. Otherwise it returns an error that
// joins one [Violation] for each law that is broken, the first that was found. fresh is
// called for each run.
func Check[Out any](fresh func() Subject[Out], o Options[Out]) error {
	c := &checker[Out]{fresh: fresh, text: o.Text, summary: o.Summary, found: map[string]bool{}}
	if c.text == nil {
		c.text = textOf[Out]
	}
	for _, s := range streams(o.Cases, o.Seed, o.Streams) {
		c.stream(s)
	}
	c.goroutines()
	return errors.Join(c.errs...)
}
