package proptest

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tailrace/tailrace/internal/memsource"
	"github.com/tailrace/tailrace/pipeline"
	"github.com/tailrace/tailrace/stages"
)

var pieces = []string{
	`{"type":"log"}`, `{"type":"log","n":1}`, `{"ty\u0070e":"lo\u0067"}`, `{"Type":"log"}`, `{"type":"start"}`, `{"type":"heartbeat"}`,
	`{"type":"error"}`, `{"type":"end","reason":"eof"}`, `{"type":"end"}`, `{"type":"end","reason":"closed"}`, `{"type":"end","reason":"EOF"}`,
	`{"type":"end","reason":null}`, `{"type":"error","type":"log"}`, `{"type":"log","type":"error"}`, `{}`, `{"x":1.0}`, `{"x":1e3}`, `{"x":12345678901234567890}`,
	"{\"type\":\"log\",\"m\":\"\xff\xe2\x82\"}", `{"type":"log","m":"\ud83d"}`, `{"type":"log","m":"\ud83d\ude80"}`, `{"m":"🚀漢é"}`,
	"[1,2]", "text", "null", "1", `{"a":01}`, `{"a":}`, "", "{", "}", " ", "\t", "\r", "\ufeff", "🚀", "漢", "é", "\xf0\x9f", "\xe2", "\x80", "\xff", "\x00", "\x1b[31m",
	`{"a":[[[[]]]]}`, `{"type":"log"} {"type":"log"}`, `{"a":` + "\r1}", "\n", "\n", "\n", "\n",
}

func stream(r *rand.Rand) (out []Piece) {
	for range 1 + r.IntN(4) {
		p := Piece{Stderr: r.IntN(4) == 0}
		for range r.IntN(14) {
			p.Data = append(p.Data, pieces[r.IntN(len(pieces))]...)
			if r.IntN(3) > 0 {
				p.Data = append(p.Data, '\n')
			}
		}
		out = append(out, p)
	}
	return out
}

// chunked splits the pieces into chunks: in one buffer a stream, as a child source does,
// or each in memory of its own.
func chunked(r *rand.Rand, in []Piece, size int, apart bool) []pipeline.Chunk {
	var whole [2][]byte
	for _, p := range in {
		s := 0
		if p.Stderr {
			s = 1
		}
		whole[s] = append(whole[s], p.Data...)
	}
	var out []pipeline.Chunk
	var at [2]int
	for _, p := range in {
		s := 0
		if p.Stderr {
			s = 1
		}
		for left := len(p.Data); left > 0; {
			n := min(left, size)
			if size == 0 {
				n = 1 + r.IntN(left)
			}
			data := whole[s][at[s] : at[s]+n]
			if apart {
				data = slices.Clip(slices.Clone(data))
			}
			out = append(out, pipeline.Chunk{Stream: pipeline.Stream(s), Data: data})
			at[s] += n
			left -= n
		}
	}
	return out
}

// TestLineAgainstReference holds the line against the naive reference, for many inputs,
// limits and chunkings: rules C1 C3 C5 C6, E1-E8, O1-O5, O7, O9.
func TestLineAgainstReference(t *testing.T) {
	for seed := range uint64(20000) {
		r := rand.New(rand.NewPCG(seed, 1))
		in := stream(r)
		total := 0
		for _, p := range in {
			total += len(p.Data)
		}
		maxBytes := 1 + r.IntN(total+10)
		maxEvents := r.IntN(4)
		code := r.IntN(8) / 7
		want := Collect(in, maxBytes, maxEvents, code)
		for _, size := range []int{1 << 20, 1, 0, 2, 3} {
			for _, apart := range []bool{false, true} {
				src := memsource.Of(code, chunked(r, in, size, apart)...)
				got, err := stages.Collect(context.Background(), src, pipeline.Bounds{MaxBytes: int64(maxBytes), MaxEvents: maxEvents}, stages.CollectOptions{})
				if err != nil {
					t.Fatal(err)
				}
				if diff := difference(got, want); diff != "" {
					t.Fatalf("seed %d, chunks of %d, apart %v, %d bytes, %d events, code %d: %s\ninput %+q", seed, size, apart, maxBytes, maxEvents, code, diff, fmt.Sprint(in))
				}
				for _, rep := range got.Reports {
					if !rep.Ledger.Balanced() {
						t.Fatalf("seed %d: ledger-balance: %s: %+v", seed, rep.Stage, rep.Ledger)
					}
				}
			}
		}
	}
}

func difference(got *stages.Collection, want Run) string {
	var events []string
	for raw := range got.Events.All() {
		events = append(events, string(raw))
	}
	outcome := "complete"
	switch {
	case want.Failed:
		outcome = "failed"
	case want.Bound != "":
		outcome = "cut off at " + want.Bound
	}
	gotOutcome := "complete"
	switch o := got.Outcome.(type) {
	case pipeline.Failed:
		gotOutcome = "failed"
	case pipeline.Cutoff:
		gotOutcome = "cut off at " + o.Bound.String()
	}
	switch {
	case gotOutcome != outcome:
		return fmt.Sprintf("outcome %q, want %q", gotOutcome, outcome)
	case got.Truncated != (want.Bound == "bytes"):
		return fmt.Sprintf("C5: truncated %v", got.Truncated)
	case !bytes.Equal(got.Stdout, want.Stdout):
		return fmt.Sprintf("stdout %q, want %q", got.Stdout, want.Stdout)
	case !bytes.Equal(got.Stderr, want.Stderr):
		return fmt.Sprintf("stderr %q, want %q", got.Stderr, want.Stderr)
	case !slices.Equal(events, want.Events):
		return fmt.Sprintf("events %q, want %q", events, want.Events)
	case got.Events.Len() != len(events):
		return "Len"
	}
	joined := 0
	for n := range len(events) + 1 {
		if n > 0 {
			joined += len(events[n-1])
		}
		if n > 1 {
			joined++
		}
		if got.Events.Size(n) != joined || len(got.Events.AppendJSON(nil, n)) != joined {
			return fmt.Sprintf("exact-size: Size(%d) = %d, want %d", n, got.Events.Size(n), joined)
		}
		if fit := got.Events.Fit(joined); fit != n {
			return fmt.Sprintf("maximality: Fit(%d) = %d, want %d", joined, fit, n)
		}
	}
	return ""
}
