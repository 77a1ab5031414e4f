package proptest

import (
	"fmt"
	"math/rand"
	"strings"
	"testing"

	"github.com/leanovate/gopter"
	"github.com/leanovate/gopter/gen"
)

// A token is a few bytes of one stream. Streams are slices of tokens, and not bytes, so
// that shrinking takes whole ones away and ends in a case that can be read.
type token struct {
	text   string
	stderr bool
}

func (t token) String() string {
	text := fmt.Sprintf("%+q", t.text)
	if len(text) > 80 {
		text = fmt.Sprintf("%s...(%d bytes)", text[:40], len(t.text))
	}
	if t.stderr {
		return "stderr:" + text
	}
	return text
}

// An input is one run: what is written, the bounds, how the source ends, and the seed of
// what is random in how it is split.
type input struct {
	tokens []token
	// maxBytes and maxEvents are the bounds. A maxEvents of 0 is none.
	maxBytes, maxEvents int
	// timeAt is after how many bytes the time is over, at most; negative for never.
	timeAt int
	code   int
	seed   int64
}

func (in input) String() string {
	return fmt.Sprintf("%v maxBytes=%d maxEvents=%d timeAt=%d code=%d seed=%d", in.tokens, in.maxBytes, in.maxEvents, in.timeAt, in.code, in.seed)
}

func (in input) size() (n int) {
	for _, t := range in.tokens {
		n += len(t.text)
	}
	return n
}

// pieces is what is read before the time is over; timed says that it is over then.
func (in input) pieces() (out []Piece, timed bool) {
	left := in.size()
	if in.timeAt >= 0 {
		left, timed = min(left, in.timeAt), true
	}
	for _, t := range in.tokens {
		data := t.text[:min(len(t.text), left)]
		if left -= len(data); data == "" {
			continue
		}
		if n := len(out); n > 0 && out[n-1].Stderr == t.stderr {
			out[n-1].Data = append(out[n-1].Data, data...)
		} else {
			out = append(out, Piece{Stderr: t.stderr, Data: []byte(data)})
		}
	}
	return out, timed
}

var events = []string{
	`{"type":"log"}`, `{"type":"log","n":1}`, `{"ty\u0070e":"lo\u0067"}`, `{"Type":"log"}`, `{"TYPE":"error","type":"log"}`, `{"type":"start"}`,
	`{"type":"heartbeat"}`, `{"type":"error"}`, `{"type":"error","type":"log"}`, `{"type":"log","type":"error"}`, `{"type":["log"]}`, `{"x":{"type":"error"}}`,
	`{"type":"end","reason":"eof"}`, `{"type":"end","reason":"closed"}`, `{"type":"end"}`, `{"type":"end","reason":"EOF"}`, `{"type":"end","reason":null}`,
	`{"type":"end","reason":"eof","reason":"x"}`, `{"reason":"\u0065of","type":"end"}`, `{"type":"unknown"}`, `{"type":null}`, `{"type":""}`, `{}`, `{"":{}}`,
	`{"x":1.0}`, `{"x":1e3}`, `{"x":-0}`, `{"x":1E+2}`, `{"x":12345678901234567890}`, `{"x":[true,false,null,"\"\\\/\b\f\n\r\t"]}`, ` { "spaced" : [ 1 , 2 ] } `,
	`{"type":"log","m":"\ud83d"}`, `{"type":"log","m":"\ud83d\ude80"}`, `{"\udc00":"\ud800\ud800\udc00"}`, "{\"m\":\"\xff\xe2\x82\"}", `{"m":"🚀漢é"}`, "{\"m\":\"\u2028\x7f<&>\"}",
}

var junk = []string{
	"[1,2]", "text", "null", "1", `"x"`, `{"a":01}`, `{"a":}`, `{"a":1,}`, `{a:1}`, `{'a':1}`, `{"a":NaN}`, `{"a":"\x"}`, "{\"a\":\"\t\"}", "{\"a\":\r1}", `{"a":1}//`,
	`{"type":"log"} {"type":"log"}`, "{\n  \"type\": \"log\",\n  \"n\": [\n{}\n  ]\n}", "{", "}", `"`, `\`, `\u`, `{"type":"error"`, "web | {}", "\x1b[31m{}\x1b[0m",
}

var bytesOf = []string{
	" ", "\t", "\r", "\v", "\ufeff", "é", "漢", "🚀", "\u0085", "\u2028", "\x00", "\x7f", "\xff", "\xc0\xaf", "\xe2", "\xe2\x82", "\x80", "\xf0\x9f", "\xf0", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe0\x80",
}

// tokens generates one token.
func tokens(p *gopter.GenParameters) *gopter.GenResult {
	r := p.Rng
	one := func(from []string) string { return from[r.Intn(len(from))] }
	var text string
	switch n := r.Intn(1000); {
	case n < 300:
		text = "\n"
	case n < 340:
		text = "\r\n"
	case n < 700:
		text = one(events) + "\n"
	case n < 760:
		text = one(events)
	case n < 850:
		text = one(junk)
	case n < 980:
		text = one(bytesOf)
	case n < 995: // a line around a power of two
		size := 1<<(3+r.Intn(8)) - 1 + r.Intn(3)
		text = `{"type":"log","m":"` + strings.Repeat("m", max(size-22, 0)) + `"}` + "\n"
	default: // around the depth that is still an event
		n := 510 + r.Intn(4)
		if r.Intn(2) == 0 {
			text = `{"a":` + strings.Repeat("[", n) + strings.Repeat("]", n) + "}\n"
		} else {
			text = strings.Repeat(`{"a":`, n) + "1" + strings.Repeat("}", n) + "\n"
		}
	}
	return gopter.NewGenResult(token{text: text, stderr: r.Intn(8) == 0}, gopter.NoShrinker)
}

// inputs generates runs. Each bound is there in some of them, and stands anywhere.
func inputs() gopter.Gen {
	streams := gen.SliceOf(gopter.Gen(tokens))
	return func(p *gopter.GenParameters) *gopter.GenResult {
		r := p.Rng
		value, _ := streams(p).Retrieve()
		in := input{tokens: value.([]token), timeAt: -1, seed: int64(r.Intn(1000))}
		size := in.size()
		in.maxBytes = size + 1 + r.Intn(10)
		if r.Intn(2) == 0 {
			in.maxBytes = 1 + r.Intn(size+2)
		}
		if r.Intn(2) == 0 {
			in.maxEvents = 1 + r.Intn(5)
		}
		if r.Intn(3) == 0 {
			in.timeAt = r.Intn(size + 2)
		}
		if r.Intn(6) == 0 {
			in.code = 3
		}
		return gopter.NewGenResult(in, shrinkInput)
	}
}

// shrinkInput takes tokens away, then one condition after the other, then makes the
// bounds smaller.
func shrinkInput(v any) gopter.Shrink {
	in := v.(input)
	with := func(change func(*input)) gopter.Shrink {
		smaller := in
		change(&smaller)
		if smaller.String() == in.String() {
			return gopter.NoShrink
		}
		done := false
		return func() (any, bool) {
			defer func() { done = true }()
			return smaller, !done
		}
	}
	shrinks := []gopter.Shrink{
		gen.SliceShrinker(shrinkToken)(in.tokens).Map(func(t []token) input {
			smaller := in
			smaller.tokens = t
			return smaller
		}),
		with(func(in *input) { in.maxEvents = 0 }),
		with(func(in *input) { in.timeAt = -1 }),
		with(func(in *input) { in.code = 0 }),
		with(func(in *input) { in.maxBytes = min(in.maxBytes, in.size()+1) }),
		with(func(in *input) { in.maxBytes = max(1, in.maxBytes/2) }),
		with(func(in *input) { in.maxBytes = max(1, in.maxBytes-1) }),
		with(func(in *input) { in.timeAt = max(-1, in.timeAt-1) }),
		with(func(in *input) { in.seed = 0 }),
	}
	return gopter.ConcatShrinks(shrinks...)
}

// shrinkToken moves a token to stdout, and halves a long one.
func shrinkToken(v any) gopter.Shrink {
	t := v.(token)
	var smaller []token
	if t.stderr {
		smaller = append(smaller, token{text: t.text})
	}
	if n := len(t.text); n > 60 {
		smaller = append(smaller, token{t.text[:n/2], t.stderr}, token{t.text[:n-1], t.stderr})
	}
	return func() (any, bool) {
		if len(smaller) == 0 {
			return nil, false
		}
		first := smaller[0]
		smaller = smaller[1:]
		return first, true
	}
}

// TestGenerators_Shrink: a case that fails shrinks to its cause.
func TestGenerators_Shrink(t *testing.T) {
	p := gopter.DefaultTestParametersWithSeed(7)
	p.MaxSize = 40
	g := inputs()
	broken := func(in input) bool {
		text := ""
		for _, t := range in.tokens {
			text += t.text
		}
		return strings.Contains(text, "漢") && in.maxEvents > 0
	}
	for range 200 {
		params := &gopter.GenParameters{MinSize: 1, MaxSize: 40, Rng: rand.New(rand.NewSource(p.Rng.Int63()))}
		result := g(params)
		in := result.Result.(input)
		for shrunk := broken(in); shrunk; {
			shrunk = false
			next := shrinkInput(in)
			for v, ok := next(); ok; v, ok = next() {
				if broken(v.(input)) {
					in, shrunk = v.(input), true
					break
				}
			}
		}
		if broken(in) && (len(in.tokens) != 1 || in.timeAt != -1 || in.code != 0 || len(in.String()) > 120) {
			t.Fatalf("not small: %v", in)
		}
	}
}
