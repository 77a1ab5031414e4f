package proptest

import (
	"strings"
	"testing"

	"github.com/tailrace/tailrace/pipeline"
)

// TestReference_CaptureLimit: the real limit, met in the middle of a code point, of a
// line and of a stream, against the reference (rules C1, C3, C5).
func TestReference_CaptureLimit(t *testing.T) {
	line := `{"type":"log","m":"` + strings.Repeat("漢", 20000) + "\"}\n"
	lines := strings.Repeat(line, pipeline.CaptureLimit/len(line)+1)
	for _, size := range []int{pipeline.CaptureLimit, pipeline.CaptureLimit + 2, len(lines)} {
		const errors = 1000
		in := input{maxBytes: pipeline.CaptureLimit, timeAt: -1, tokens: []token{
			{text: lines[:size/2]}, {text: strings.Repeat("é", errors/2), stderr: true}, {text: lines[size/2 : size-errors]},
		}}
		want := in.reference()
		for i, c := range []chunking{chunkings[0], chunkings[2]} {
			got := in.run(c, i == 1, false)
			if spell(got.Outcome) != in.outcome(want) || string(got.Stdout) != string(want.Stdout) || string(got.Stderr) != string(want.Stderr) ||
				len(raws(got)) != len(want.Events) || got.Truncated != (size > pipeline.CaptureLimit) {
				t.Errorf("%d bytes, %s: %v, %d bytes of stdout, %d events; want %s, %d, %d", size, c.name,
					got.Outcome, len(got.Stdout), len(raws(got)), in.outcome(want), len(want.Stdout), len(want.Events))
			}
		}
	}
}
