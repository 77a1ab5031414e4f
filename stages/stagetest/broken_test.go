package stagetest_test

import (
	"bytes"
	"errors"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/tailrace/tailrace/pipeline"
	"github.com/tailrace/tailrace/stages"
	"github.com/tailrace/tailrace/stages/stagetest"
)

// laws are the laws that an error names.
func laws(err error) (out []string) {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return nil
	}
	for _, e := range joined.Unwrap() {
		var v *stagetest.Violation
		if errors.As(e, &v) {
			out = append(out, v.Law)
		}
	}
	return out
}

// each is a stage that maps each chunk.
func each(f func(c chunk, yield func(chunk) bool) bool) func() chunk1 {
	return func() chunk1 {
		return chunk1{Stage: func(in iter.Seq[chunk]) iter.Seq[chunk] {
			return func(yield func(chunk) bool) {
				for c := range in {
					if !f(c, yield) {
						return
					}
				}
			}
		}}
	}
}

// TestCheck_BrokenStages: the kit finds what is wrong with each of these, and names it.
func TestCheck_BrokenStages(t *testing.T) {
	leak := make(chan struct{})
	t.Cleanup(func() { close(leak) })
	for _, c := range []struct {
		name  string
		law   string
		fresh func() chunk1
	}{
		{"upper case by chunk beginning", stagetest.LawChunkInvariance, each(func(c chunk, yield func(chunk) bool) bool {
			if len(c.Data) > 0 {
				c.Data = append([]byte("|"), c.Data...)
			}
			return yield(c)
		})},
		{"a head that splits code points", stagetest.LawCodePoint, func() chunk1 {
			left := 4
			return each(func(c chunk, yield func(chunk) bool) bool {
				n := min(left, len(c.Data))
				c.Cut = c.Cut || n < len(c.Data)
				c.Data = c.Data[:n]
				left -= n
				return (len(c.Data) == 0 && !c.Cut || yield(c)) && !c.Cut
			})()
		}},
		{"repairs each chunk by itself", stagetest.LawChunkInvariance, each(func(c chunk, yield func(chunk) bool) bool {
			c.Data = bytes.ToValidUTF8(c.Data, []byte("?"))
			return yield(c)
		})},
		{"forgets the cut", stagetest.LawPrefix, each(func(c chunk, yield func(chunk) bool) bool {
			c.Cut = false
			return len(c.Data) == 0 || yield(c)
		})},
		{"stops and says nothing", stagetest.LawPrefix, each(func(c chunk, yield func(chunk) bool) bool {
			yield(c)
			return false
		})},
		{"goes on behind the cut", stagetest.LawPrefix, each(func(c chunk, yield func(chunk) bool) bool {
			return yield(c) && (!c.Cut || yield(chunk{Data: []byte("more")}))
		})},
		{"does not stop", stagetest.LawStop, each(func(c chunk, yield func(chunk) bool) bool {
			yield(c)
			return true
		})},
		{"reads on after the stop", stagetest.LawStop, func() chunk1 {
			return chunk1{Stage: func(in iter.Seq[chunk]) iter.Seq[chunk] {
				return func(yield func(chunk) bool) {
					stopped := false
					for c := range in {
						stopped = stopped || !yield(c)
					}
				}
			}}
		}},
		{"writes to its input", stagetest.LawMemory, each(func(c chunk, yield func(chunk) bool) bool {
			copy(c.Data, bytes.ToUpper(c.Data))
			return yield(c)
		})},
		{"appends to its input", stagetest.LawMemory, func() chunk1 {
			return each(func(c chunk, yield func(chunk) bool) bool {
				_ = append(c.Data, '.')
				return yield(c)
			})()
		}},
		{"uses its memory again", stagetest.LawMemory, func() chunk1 {
			page := make([]byte, 0, 4096)
			return each(func(c chunk, yield func(chunk) bool) bool {
				page = append(page[:0], c.Data...)
				c.Data = page
				return yield(c)
			})()
		}},
		{"yields nothing", stagetest.LawZero, each(func(c chunk, yield func(chunk) bool) bool {
			return yield(chunk{}) && yield(c)
		})},
		{"loses bytes of its ledger", stagetest.LawLedger, func() chunk1 {
			s := &stages.Capture{}
			return chunk1{Stage: s.Apply, Reporter: lossy{s}}
		}},
		{"leaves a goroutine", stagetest.LawStop, func() chunk1 {
			return chunk1{Stage: func(in iter.Seq[chunk]) iter.Seq[chunk] {
				go func() { <-leak }()
				return in
			}}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := stagetest.Check(c.fresh, stagetest.Options[chunk]{Cases: 12})
			if !slices.Contains(laws(err), c.law) {
				t.Errorf("found %v, want %s", err, c.law)
			}
		})
	}
}

// lossy reports one byte less than was kept.
type lossy struct{ pipeline.Reporter }

func (l lossy) Report() pipeline.Report {
	r := l.Reporter.Report()
	r.Ledger.Kept--
	return r
}

// TestCheck_BrokenLineStage: a splitter that flushes an unfinished line at a cut.
func TestCheck_BrokenLineStage(t *testing.T) {
	err := stagetest.Check(func() stagetest.Subject[string] {
		return stagetest.Subject[string]{Stage: func(in iter.Seq[chunk]) iter.Seq[string] {
			return func(yield func(string) bool) {
				var all strings.Builder
				for c := range in {
					if c.Stream == pipeline.Stdout {
						all.Write(c.Data)
					}
				}
				for line := range strings.Lines(all.String()) {
					if !yield(line) {
						return
					}
				}
			}
		}}
	}, stagetest.Options[string]{})
	if got := laws(err); !slices.Contains(got, stagetest.LawPrefix) {
		t.Errorf("found %v", err)
	}
}

// TestCheck_More: the settings are heeded.
func TestCheck_More(t *testing.T) {
	fails := func() chunk1 {
		return each(func(c chunk, yield func(chunk) bool) bool {
			if bytes.Contains(c.Data, []byte("needle")) {
				c.Data = nil
			}
			return yield(c)
		})()
	}
	if err := stagetest.Check(fails, stagetest.Options[chunk]{Cases: -1}); err != nil {
		t.Errorf("found %v", err)
	}
	more := [][]pipeline.Chunk{{{Data: []byte("a needle\n")}}}
	if err := stagetest.Check(fails, stagetest.Options[chunk]{Cases: -1, Streams: more}); err == nil || !strings.Contains(err.Error(), "Streams[0]") {
		t.Errorf("found %v", err)
	}
	count := func() stagetest.Subject[int] {
		return stagetest.Subject[int]{Stage: func(in iter.Seq[chunk]) iter.Seq[int] {
			return func(yield func(int) bool) {
				n := 0
				for c := range in {
					n += len(c.Data)
				}
				yield(n)
			}
		}}
	}
	if err := stagetest.Check(count, stagetest.Options[int]{}); !slices.Contains(laws(err), stagetest.LawPrefix) {
		t.Errorf("found %v", err)
	}
	if err := stagetest.Check(count, stagetest.Options[int]{Summary: true}); err != nil {
		t.Errorf("found %v", err)
	}
}
