package stages_test

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"testing"
	"unicode/utf8"

	"github.com/tailrace/tailrace/internal/memsource"
	"github.com/tailrace/tailrace/pipeline"
	"github.com/tailrace/tailrace/stages"
)

// FuzzLine: for any bytes and bounds, splitting the input differently gives the same run
// (chunk-invariance), events are JSON that every reader takes, stdout is a prefix, and
// each ledger balances. The 0xfe byte switches between the streams.
func FuzzLine(f *testing.F) {
	for _, s := range []string{
		"{\"type\":\"log\"}\n{\"type\":\"end\",\"reason\":\"eof\"}\n", "{\"a\":\"\\ud83d\"}\r\n\xfe\xe6\xbc\xfe\xa2\n", "\ufeff{}\n{}\n\n{}",
		"漢🚀\xfe🚀\xfe\n", "{\"type\":\"error\"}\n{\"type\":\"log\"}", "{\"m\":\"\xff\"}\n{} \n{}\n",
	} {
		f.Add([]byte(s), uint16(12), uint8(1), uint8(3))
		f.Add([]byte(s), uint16(0), uint8(0), uint8(1))
	}
	f.Fuzz(func(t *testing.T, data []byte, maxBytes uint16, maxEvents, size uint8) {
		var in []pipeline.Chunk
		var stream pipeline.Stream
		var whole [2][]byte
		for _, part := range bytes.Split(data, []byte{0xfe}) {
			if len(part) > 0 {
				in = append(in, pipeline.Chunk{Stream: stream, Data: part})
				whole[stream] = append(whole[stream], part...)
			}
			stream = 1 - stream
		}
		b := pipeline.Bounds{MaxBytes: int64(maxBytes), MaxEvents: int(maxEvents)}
		run := func(size int, apart, lines bool) *stages.Collection {
			_, chunks := split(in, size, apart)
			o := stages.CollectOptions{}
			if lines {
				o.Before = (&stages.LineWrapper{MaxBytes: b.MaxBytes, Now: fixedClock}).Apply
			}
			c, err := stages.Collect(context.Background(), memsource.Of(0, chunks...), b, o)
			if err != nil {
				t.Fatal(err)
			}
			return c
		}
		for _, lines := range []bool{false, true} {
			want := run(0, false, lines)
			for _, raw := range raws(want) {
				if !json.Valid([]byte(raw)) || !utf8.ValidString(raw) || raw[0] != '{' {
					t.Fatalf("an event that a reader refuses: %q", raw)
				}
			}
			if !lines && (!bytes.HasPrefix(whole[0], want.Stdout) || !bytes.HasPrefix(whole[1], want.Stderr)) {
				t.Fatalf("no prefix: %q %q", want.Stdout, want.Stderr)
			}
			for _, apart := range []bool{false, true} {
				got := run(int(size%32), apart, lines)
				if got.Outcome != want.Outcome || got.Stop != want.Stop || !bytes.Equal(got.Stdout, want.Stdout) || !bytes.Equal(got.Stderr, want.Stderr) || !slices.Equal(raws(got), raws(want)) {
					t.Fatalf("chunk-invariance: chunks of %d, apart %v, lines %v: %v %q %q, whole: %v %q %q",
						size, apart, lines, got.Outcome, got.Stdout, got.Stderr, want.Outcome, want.Stdout, want.Stderr)
				}
				for _, r := range got.Reports {
					if !r.Ledger.Balanced() {
						t.Fatalf("ledger-balance: %s: %+v", r.Stage, r.Ledger)
					}
				}
			}
		}
	})
}
