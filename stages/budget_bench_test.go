package stages_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/tailrace/tailrace/pipeline"
	"github.com/tailrace/tailrace/stages"
)

// typicalPayload is a snapshot of just under size bytes of events as compose writes
// them, whose events lie in stdout as they do after a run.
func typicalPayload(size int) *stages.Payload {
	var out []byte
	for i := 0; ; i++ {
		n := len(out)
		out = fmt.Appendf(out, `{"type":"log","ts":"2026-03-01T10:11:12.%09dZ","project":"shop","backend":"compose","entry":{"source":"compose",`+
			`"message":"request handled after %d ms","raw":"web-1  | 2026-03-01T10:11:12Z {\"level\":\"info\",\"msg\":\"request handled\"}",`+
			`"stream":"stdout","project":"shop","service":"web","instance":"1","level":"info"}}`+"\n", i, i%977)
		if len(out) > size {
			out = out[:n]
			break
		}
	}
	p := &stages.Payload{OK: true, Command: "hack logs --json", Stdout: out, Log: &stages.LogData{Events: new(stages.EventList)}}
	for line := range bytes.Lines(out) {
		p.Log.Events.Append(stages.Event{Raw: line[:len(line)-1], Kind: stages.KindLog})
	}
	return p
}

func BenchmarkBudget(b *testing.B) {
	for _, c := range []struct {
		name   string
		size   int
		budget stages.Budget
	}{
		{"whole/64KiB", 64 << 10, stages.Budget{}},
		{"whole/3MiB", 3 << 20, stages.Budget{}},
		{"view/4.5MiB", 9 << 19, stages.Budget{}},
		{"stdout/8MiB", 8 << 20, stages.Budget{}},
		{"events/8MiB", 8 << 20, stages.Budget{MaxBytes: 6 << 20}},
	} {
		b.Run(c.name, func(b *testing.B) {
			p := typicalPayload(c.size)
			dst, fit := c.budget.AppendResult(nil, p)
			b.SetBytes(int64(len(p.Stdout)))
			b.ReportAllocs()
			for b.Loop() {
				dst, fit = c.budget.AppendResult(dst[:0], p)
			}
			if fit.Bytes != len(dst) {
				b.Fatal(fit)
			}
		})
	}
}

// TestBudgetAllocations: with room in dst, a result of any size costs a few small
// allocations; the events and the output are written straight into dst.
func TestBudgetAllocations(t *testing.T) {
	for _, size := range []int{1 << 10, 1 << 20, 8 << 20} {
		p := typicalPayload(size)
		p.Stderr = []byte("warning\n")
		dst, _ := stages.Budget{}.AppendResult(nil, p)
		n := testing.AllocsPerRun(3, func() { dst, _ = stages.Budget{}.AppendResult(dst[:0], p) })
		if n > 4 {
			t.Errorf("%d bytes: %v allocations", size, n)
		}
		if c := cap(dst); size > 4<<20 && c > pipeline.ResultLimit+64<<10 {
			t.Errorf("%d bytes: a buffer of %d", size, c)
		}
	}
}
