package proptest

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/tailrace/tailrace/pipeline"
	"github.com/tailrace/tailrace/stages"
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

// TestB9_LongTexts: a text of many blocks, cut anywhere, ends with a whole code point and
// is as long as fits (rules B2, B7, B9).
func TestB9_LongTexts(t *testing.T) {
	for _, unit := range []string{"é", "漢", "🚀", "a🚀", "\u2028"} {
		for off := range 4 {
			text := strings.Repeat("x", off) + strings.Repeat(unit, 100_000/len(unit))
			for _, room := range []int{20_000, 33_333, 49_152, 65_536, 80_001} {
				b := stages.Budget{MaxBytes: room, ViewBytes: 1000}
				got, fit := b.AppendResult(nil, &stages.Payload{OK: true, Stdout: []byte(text)})
				var r struct{ StructuredContent struct{ Stdout string } }
				if err := json.Unmarshal(got, &r); err != nil {
					t.Fatal(err)
				}
				stdout := r.StructuredContent.Stdout
				if fit.Bytes != len(got) || !strings.HasPrefix(text, stdout) || len(got) > room || len(got)+len(unit) <= room {
					t.Errorf("%q from %d on, in %d bytes: counted %d, wrote %d, ends with %+q", unit, off, room, fit.Bytes, len(got), stdout[max(0, len(stdout)-8):])
				}
			}
		}
	}
}
