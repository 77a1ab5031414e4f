package stagetest

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/tailrace/tailrace/pipeline"
)

// pieces are what random streams are made of. Each ends on a code-point boundary, valid
// ones and others apart.
var (
	validPieces = []string{
		`{"type":"log","n":1}` + "\n", `{"type":"log","m":"漢🚀é"}` + "\n", `{"type":"error"}` + "\n", `{"type":"end","reason":"eof"}` + "\n", "{}\n", `{"m":"\ud83d\ude80"}` + "\n",
		"text\n", "[1]\n", "a line\r\n", "\n", "\n", " \t", "{", "}", `"`, `\`, `{"type":"log"`, "é", "漢", "🚀", "漢字🚀🚀", "\ufeff", "\u2028", "\x00", "\x1b[31m",
	}
	invalidPieces = []string{"\xff", "\xe2\x82", "\xf0\x9f\x98", "\x80", "\xc0\xaf", "\xed\xa0\x80", "{\"m\":\"\xff\"}\n", `{"m":"\ud83d"}` + "\n"}
)

// A stream is one input: pieces in the order of their writing.
type stream struct {
	name   string
	pieces []pipeline.Chunk
	valid  bool // each stream of it is UTF-8
}

// streams returns the inputs of a check.
func streams(cases int, seed uint64, more [][]pipeline.Chunk) (out []stream) {
	fixed := []string{
		"", "\n", "x", "x\n", "{}", "{}\n", "漢", "🚀\n🚀", "\n\n\n", "a\r\nb\r\n", `{"type":"log"}` + "\n" + `{"type":"log"}`, "\xff\n\xe2\x82", "\xf0\x9f",
		strings.Repeat(`{"type":"log","m":"漢字"}`+"\n", 12), strings.Repeat("🚀", 300), strings.Repeat("long ", 500) + "\nnext\n",
	}
	for _, text := range fixed {
		out = append(out, newStream(fmt.Sprintf("%+.80q", text), []pipeline.Chunk{{Data: []byte(text)}, {Stream: pipeline.Stderr, Data: []byte("é\nerr")}}))
	}
	for i, pieces := range more {
		out = append(out, newStream(fmt.Sprintf("Streams[%d]", i), pieces))
	}
	if cases == 0 {
		cases = 30
	}
	for i := range cases {
		r := rand.New(rand.NewPCG(seed, uint64(i)))
		from := validPieces
		if i%3 == 2 {
			from = slices.Concat(validPieces, invalidPieces)
		}
		var pieces []pipeline.Chunk
		for range 1 + r.IntN(12) {
			c := pipeline.Chunk{Data: []byte(from[r.IntN(len(from))])}
			if r.IntN(4) == 0 {
				c.Stream = pipeline.Stderr
			}
			pieces = append(pieces, c)
		}
		out = append(out, newStream(fmt.Sprintf("random %d of seed %d", i, seed), pieces))
	}
	return out
}

func newStream(name string, pieces []pipeline.Chunk) stream {
	s := stream{name: name, valid: true}
	for _, p := range pieces {
		if len(p.Data) == 0 {
			continue
		}
		s.valid = s.valid && validUTF8(p.Data)
		s.pieces = append(s.pieces, pipeline.Chunk{Stream: p.Stream, Data: p.Data})
	}
	return s
}

// upTo is the first n pieces.
func (s stream) upTo(n int) stream {
	s.name = fmt.Sprintf("%s, cut behind piece %d", s.name, n)
	s.pieces = s.pieces[:n]
	return s
}

// inside is the stream up to n bytes into piece i.
func (s stream) inside(i, n int) stream {
	last := s.pieces[i]
	last.Data = last.Data[:n]
	cut := s.upTo(i)
	cut.name = fmt.Sprintf("%s and %d bytes", cut.name, n)
	cut.pieces = append(slices.Clone(cut.pieces), last)
	cut.valid = s.valid && validUTF8(last.Data)
	return cut
}

// A splitting is how the pieces of a stream become chunks.
type splitting struct {
	name  string
	apart bool // each chunk lies in memory of its own
	size  func(i int) int
}

var splittings = []splitting{
	{"whole", false, func(int) int { return 1 << 30 }},
	{"whole, apart", true, func(int) int { return 1 << 30 }},
	{"one byte", false, func(int) int { return 1 }},
	{"one byte, apart", true, func(int) int { return 1 }},
	{"two bytes, apart", true, func(int) int { return 2 }},
	{"uneven", false, func(i int) int { return 1 + i*7%5 }},
	{"uneven, apart", true, func(i int) int { return 1 + i*5%7 }},
}

// cutting says how a stream ends.
type cutting uint8

const (
	natural  cutting = iota
	cutAlone         // an empty chunk is the cut
	cutGlued         // the last chunk with bytes is
)

// A play is a stream in chunks, and what was read of it.
type play struct {
	chunks  []pipeline.Chunk
	buffers [2][]byte
	before  [2][]byte

	pulled  int
	bytes   int64
	stopped bool // the stage ended the loop
	late    int  // chunks asked for after that
}

func (s stream) play(how splitting, end cutting) *play {
	p := &play{}
	for _, c := range s.pieces {
		p.buffers[c.Stream&1] = append(p.buffers[c.Stream&1], c.Data...)
	}
	for i := range p.buffers {
		p.buffers[i] = append(p.buffers[i], "read next\n"...)
		p.before[i] = bytes.Clone(p.buffers[i])
	}
	var at [2]int
	for _, c := range s.pieces {
		k := c.Stream & 1
		for left := len(c.Data); left > 0; {
			n := min(left, how.size(len(p.chunks)))
			data := p.buffers[k][at[k] : at[k]+n]
			if how.apart {
				data = slices.Clip(bytes.Clone(data))
			}
			p.chunks = append(p.chunks, pipeline.Chunk{Stream: c.Stream, Data: data})
			at[k] += n
			left -= n
		}
	}
	switch n := len(p.chunks); {
	case end == cutGlued && n > 0:
		p.chunks[n-1].Cut = true
	case end != natural:
		p.chunks = append(p.chunks, pipeline.Chunk{Cut: true})
	}
	return p
}

// seq yields the chunks.
func (p *play) seq(yield func(pipeline.Chunk) bool) {
	if p.stopped {
		p.late++
	}
	for _, c := range p.chunks {
		p.pulled++
		p.bytes += int64(len(c.Data))
		if !yield(c) {
			p.stopped = true
			return
		}
	}
}

// written says whether somebody wrote to the memory of the source.
func (p *play) written() bool {
	return !bytes.Equal(p.buffers[0], p.before[0]) || !bytes.Equal(p.buffers[1], p.before[1])
}
