package stagetest_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/tailrace/tailrace/pipeline"
	"github.com/tailrace/tailrace/stages"
	"github.com/tailrace/tailrace/stages/stagetest"
)

type (
	chunk  = pipeline.Chunk
	chunk1 = stagetest.Subject[pipeline.Chunk]
)

// TestLaw_StageAlone: each stage of this module keeps the laws by itself.
func TestLaw_StageAlone(t *testing.T) {
	for _, n := range []int64{1, 5, 20, 0} {
		t.Run(fmt.Sprintf("byte cap of %d", n), func(t *testing.T) {
			stagetest.Run(t, func() chunk1 {
				s := &stages.ByteCap{MaxBytes: n}
				return chunk1{Stage: s.Apply, Reporter: s}
			}, stagetest.Options[chunk]{})
		})
		t.Run(fmt.Sprintf("event counter of %d", n), func(t *testing.T) {
			stagetest.Run(t, func() stagetest.Subject[stages.Event] {
				s := &stages.EventCounter{MaxEvents: int(n)}
				return stagetest.OfEvents[stages.Event](s.Apply, s)
			}, stagetest.Options[stages.Event]{})
		})
	}
	for _, n := range []int64{50, 0} { // each run takes a page of memory, so they are few
		t.Run(fmt.Sprintf("line wrapper of %d", n), func(t *testing.T) {
			stagetest.Run(t, func() chunk1 {
				s := &stages.LineWrapper{MaxBytes: n, Now: func() time.Time { return time.UnixMilli(7) }}
				return chunk1{Stage: s.Apply, Reporter: s}
			}, stagetest.Options[chunk]{Cases: 9})
		})
	}
	t.Run("capture", func(t *testing.T) {
		stagetest.Run(t, func() chunk1 {
			s := &stages.Capture{}
			return chunk1{Stage: s.Apply, Reporter: s}
		}, stagetest.Options[chunk]{})
	})
	for _, s := range []pipeline.Stream{pipeline.Stdout, pipeline.Stderr} {
		t.Run("line splitter of "+s.String(), func(t *testing.T) {
			stagetest.Run(t, func() stagetest.Subject[stages.Line] {
				s := &stages.LineSplitter{Stream: s}
				return stagetest.Subject[stages.Line]{Stage: s.Apply, Reporter: s}
			}, stagetest.Options[stages.Line]{})
		})
	}
	t.Run("decoder", func(t *testing.T) {
		stagetest.Run(t, func() stagetest.Subject[stages.Event] {
			s := &stages.Decoder{}
			return stagetest.OfLines[stages.Event](s.Apply, s)
		}, stagetest.Options[stages.Event]{})
	})
	t.Run("failure detector", func(t *testing.T) {
		stagetest.Run(t, func() stagetest.Subject[stages.Event] {
			s := &stages.FailureDetector{}
			return stagetest.OfEvents[stages.Event](s.Apply, s)
		}, stagetest.Options[stages.Event]{})
	})
}
