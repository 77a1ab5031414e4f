package jsonscan

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

var accepted = []string{
	`{}`, `{ }`, `{"type":"log"}`, `{"ty\u0070e":"lo\u0067","reason":null}`, `{"\u0074\u0079\u0070\u0065":1}`,
	`{"a":[1,2,{"type":"x"}],"type":"end","reason":"eof"}`, `{"type":"a","type":"b"}`, `{"type":"a","ty\u0070e":"b","Type":"c"}`,
	`{"a":-0,"b":1e+5,"c":1.50E-3,"d":12345678901234567890,"e":0.0,"f":0e0,"g":-1.5e-99}`, `{"a":[],"b":{},"c":[[],{}]}`,
	"{\"a\"\t: 1 }", "{ \"a\" : [ 1 , 2 ] , \"b\" : { \"c\" : \"d\" } }", `{"a":true,"b":false,"c":null}`, `{"a":"\"\\\/\b\f\n\r\t\u00e9\u0000"}`,
	`{"type":1}`, `{"type":{"type":"log"}}`, `{"x":{"reason":"no"},"reason":"closed"}`, `{"":""}`, `{"a":"{}[],:"}`, `{"reason":[1,"\"]"]}`,
	`{"a":"\ud83d\ude80"}`, `{"a":"\uD83D\uDE80"}`, `{"a":"\\ud83d"}`, `{"a":"\\\"","b":"\\"}`, "{\"a\":\"é€🚀\x7f\"}", `{"type":" \u006cog"}`,
	`{"a":"#]!^ \u2028"}`, "{\"a\":\"\u2028\u2029\u0085\"}",
	// These need repair.
	"{\"a\":\"\xff\"}", "{\"\xe2\x82\":1,\"type\":\"\xed\xa0\x80\"}", "{\"a\":\"\xf0\x9f\x92\xf0\x9f\x92\xa9\xc0\x80\xf4\x90\x80\x80\"}",
	`{"a":"\ud83d"}`, `{"a":"\ud83d\ud83d\ude80"}`, `{"a":"\ude80\ud83d"}`, `{"\ude80":1}`, `{"a":"\ud83dx\ude80"}`, `{"a":"\ud83d\n\ude80"}`,
	`{"type\ud83d":1}`, `{"a":"\ud83d\\ude80"}`, `{"a":"\uD83D\u0041"}`, `{"type":"\ud83d\"\ude80"}`, `{"a":"\udbff\udfff\udfff"}`,
	"{\"a\":\r1}", "{\"a\":1,\r\n\"b\"\t:\n2\r}", "{\"a\":[\r]\n,\"type\"\r:\r\"log\"\n}", "{\n}",
}

var refused = []string{
	``, `{`, `}`, `{]`, `[]`, `[{}]`, `1`, `"x"`, `null`, ` {}`, `{} `, `{}{}`, `{},{}`, `{}}`, `{{}}`, `{{}`, `{"a":{}`, `{"a":[}`, `{"a":1]`, `{"a":[1}`, `{"a":[1}}`,
	`{,}`, `{"a"}`, `{"a":}`, `{"a" 1}`, `{"a":1 "b":2}`, `{"a":1,}`, `{"a":[1,]}`, `{"a":[,1]}`, `{"a":1,,"b":2}`, `{"a"::1}`, `{1:2}`, `{a:1}`, `{[]:1}`,
	`{"a":01}`, `{"a":-}`, `{"a":-01}`, `{"a":1.}`, `{"a":1.e5}`, `{"a":.5}`, `{"a":+1}`, `{"a":1e}`, `{"a":1e+}`, `{"a":0x10}`, `{"a":1_0}`, `{"a":--1}`, `{"a":1.2.3}`,
	`{"a":NaN}`, `{"a":Infinity}`, `{"a":-Infinity}`, `{"a":'x'}`, `{'a':1}`, `{"a":1/*c*/}`, "{\"a\":1//c\n}", `{"a":undefined}`,
	`{"a":tru}`, `{"a":truex}`, `{"a":True}`, `{"a":nul}`, `{"a":fals}`, `{"a":t}`, `{"a":falsefalse}`,
	`{"a":"\x"}`, `{"a":"\u12g4"}`, `{"a":"\u12"}`, `{"a":"\U0041"}`, `{"a":"\'"}`, `{"a":"\`, `{"a":"\"}`, `{"a":"x}`, `{"a}`, `{"a":"\ud83d\u"}`, `{"a":"\ud83d\ude8"}`, `{"\":1}`,
	"{\"a\":\"\t\"}", "{\"a\":\"\x00\"}", "{\"a\":\"x\ny\"}", "{\"a\":\"\r\"}", "{\"a\n\":1}", "{\"a\":\"\\\"\x1f\"}",
	"{\xff:1}", "{\"a\":\xff}", "{\"a\":1\xa0}", "{\u00a0}", "{\x00}", "{\"a\":1\v}", "{\f\"a\":1}", "\ufeff{}", "{\"a\":\u2028 1}", "{\"a\":1\x1b[0m}",
}

func TestE2_E5_Accepted(t *testing.T) {
	for _, s := range accepted {
		if _, ok := Object([]byte(s), 512); !ok {
			t.Errorf("E5 refuses %q", s)
		}
		check(t, []byte(s))
	}
}

func TestE2_E5_Refused(t *testing.T) {
	for _, s := range refused {
		if _, ok := Object([]byte(s), 512); ok {
			t.Errorf("E5 accepts %q", s)
		}
		check(t, []byte(s))
	}
}

// Every case at every offset within a block, and with what follows in the same block.
func TestE5_Positions(t *testing.T) {
	for _, s := range append(accepted, refused...) {
		if len(s) < 2 {
			continue
		}
		for pad := range 2*blockBytes + 3 {
			fill := strings.Repeat("-", pad)
			check(t, []byte(`{"`+fill+`":1,`+s[1:]))
			check(t, []byte(`{`+strings.Repeat(" ", pad)+s[1:]))
			check(t, []byte(`{"p":`+s+`,"q":"`+fill+`"}`))
			check(t, []byte(`{"p":[`+strings.Repeat("0,", pad)+s+`]}`))
			check(t, []byte(s[:len(s)-1]+strings.Repeat(" ", pad)+s[len(s)-1:]))
		}
	}
}

// Each prefix of an event is incomplete, with a brace at its end too.
func TestE2_Prefixes(t *testing.T) {
	line := []byte(`{"type":"log","n":-1.5e+3,"s":"\ud83d\ude80\\","a":[true,{"b":null}],"t":"a \"b\" é"}`)
	for i := range line {
		check(t, line[:i])
		check(t, append(line[:i:i], '}'))
		check(t, append(line[:i:i], '"', '}'))
		check(t, line[i:])
	}
}

func TestE5_Depth(t *testing.T) {
	arrays := func(n int) string { return `{"a":` + strings.Repeat("[", n-1) + strings.Repeat("]", n-1) + `}` }
	objects := func(n int) string { return strings.Repeat(`{"a":`, n-1) + `{}` + strings.Repeat(`}`, n-1) }
	mixed := func(n int) string {
		return `{"a":` + strings.Repeat(`[{"b":`, (n-2)/2) + `[]` + strings.Repeat(`}]`, (n-2)/2) + `}`
	}
	for name, nest := range map[string]func(int) string{"arrays": arrays, "objects": objects, "mixed": mixed} {
		for _, c := range []struct {
			depth, max int
			ok         bool
		}{
			{2, 1, false}, {2, 2, true}, {64, 64, true}, {66, 64, false}, {512, 512, true}, {514, 512, false}, {512, 511, false},
			{MaxDepth, MaxDepth, true}, {MaxDepth + 2, MaxDepth + 2, false}, {MaxDepth, 1 << 40, true}, {2, 0, false}, {2, -1, false},
		} {
			if _, ok := Object([]byte(nest(c.depth)), c.max); ok != c.ok {
				t.Errorf("E5 %s of depth %d, at most %d: %v", name, c.depth, c.max, ok)
			}
		}
		for _, n := range []int{62, 64, 66, 126, 128, 130, 510, 512, 514} {
			check(t, []byte(nest(n)))
		}
	}
	if _, ok := Object([]byte(arrays(513)), 512); ok {
		t.Error("E5 accepts depth 513")
	}
}

// What is far too deep is refused without memory for it.
func TestE5_DepthAllocatesNothing(t *testing.T) {
	line := []byte(`{"a":` + strings.Repeat("[", 3_000_000) + "}")
	if n := testing.AllocsPerRun(10, func() {
		if _, ok := Object(line, 512); ok {
			t.Error("E5 accepted")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestAllocations(t *testing.T) {
	line := []byte(`{"type":"lo\u0067","a":["\ud83d","\ud83d\ude80 é 🚀",{"b":1.5}]}`)
	token := []byte(`"\u006c\u006fg"`)
	dst := make([]byte, 0, 2*len(line))
	if n := testing.AllocsPerRun(10, func() {
		if _, ok := Object(line, 512); !ok || !Is(token, "log") {
			t.Error("E6 not recognized")
		}
		dst = Repair(dst[:0], line)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestE6_TextAndIs(t *testing.T) {
	for _, c := range []struct {
		token, text string
		ok          bool
	}{
		{`"log"`, "log", true}, {`"lo\u0067"`, "log", true}, {`"\u006Cog"`, "log", true}, {`""`, "", true}, {`"\ud83d\ude80"`, "🚀", true},
		{`"\ud83d"`, "\ufffd", true}, {"\"a\xe2\x82\"", "a\ufffd", true}, {`"\"\\\/\b\f\n\r\t"`, "\"\\/\b\f\n\r\t", true}, {`"é\n"`, "é\n", true},
		{`"\ufffd"`, "\ufffd", true}, {`"\u0000"`, "\x00", true},
		{`null`, "", false}, {`1`, "", false}, {``, "", false}, {`"`, "", false}, {`{"a":"log"}`, "", false}, {`["log"]`, "", false},
	} {
		text, ok := Text([]byte(c.token))
		if text != c.text || ok != c.ok {
			t.Errorf("E6 Text(%q) = %q, %v", c.token, text, ok)
		}
		if Is([]byte(c.token), c.text) != c.ok {
			t.Errorf("E6 Is(%q, %q) is %v", c.token, c.text, !c.ok)
		}
		for _, other := range []string{"lo", "logs", "LOG", "x"} {
			if Is([]byte(c.token), other) {
				t.Errorf("E6 Is(%q, %q)", c.token, other)
			}
		}
	}
}

func FuzzObject(f *testing.F) {
	for _, s := range append(accepted, refused...) {
		f.Add([]byte(s), uint8(0))
		f.Add([]byte(s), uint8(60))
	}
	f.Fuzz(func(t *testing.T, line []byte, pad uint8) {
		check(t, line)
		if len(line) > 2 {
			check(t, []byte(`{"a":"`+strings.Repeat("x", int(pad))+`",`+string(line[1:])))
		}
	})
}

// FuzzRepair puts any bytes where they are most likely accepted: into a string.
func FuzzRepair(f *testing.F) {
	for _, s := range accepted {
		f.Add([]byte(s), uint8(0))
		f.Add([]byte(s[1:len(s)-1]), uint8(58))
	}
	f.Fuzz(func(t *testing.T, text []byte, pad uint8) {
		fill := strings.Repeat("x", int(pad))
		check(t, []byte(`{"`+fill+`":"`+string(text)+`"}`))
		check(t, []byte(`{"type":"`+fill+string(text)+`","reason":"`+string(text)+`"}`))
		check(t, []byte(`{"`+string(text)+`":1}`))
	})
}

// lines are 1 MiB of events that differ, so that branches cannot be learned by heart.
func lines(kind string) (out [][]byte, size int) {
	r := rand.New(rand.NewPCG(7, 8))
	words := strings.Fields("request handled session token refreshed index scan cache miss retry after backoff queue depth user order payment")
	symbols := strings.Fields(`🚀 ✅ é ü 漢字 \" \\ \n \u00e9 ≤ — 中文 \/ \ud83d\ude80`)
	emoji := strings.Fields(`🚀 ✅ 🔥 é ü 漢字 ≤ — 😀 中文 ok`)
	pick := func(from []string) string { return from[r.IntN(len(from))] }
	sentence := func(from []string, n int) string {
		var s []string
		for range n {
			s = append(s, pick(from))
		}
		return strings.Join(s, " ")
	}
	for size < 1<<20 {
		var line []byte
		switch kind {
		case "events":
			line = fmt.Appendf(nil, `{"type":"log","ts":"2026-03-01T10:%02d:%02d.%09dZ","project":"shop","backend":"compose","entry":{"source":"compose","message":"%s","raw":"web-1  | {\"level\":\"info\",\"msg\":\"%s\"}","stream":"stdout","service":"%s","level":"info","instance":"1","port":%d}}`,
				r.IntN(60), r.IntN(60), r.IntN(1e9), sentence(words, 3+r.IntN(4)), pick(words), pick(words), r.IntN(65536))
		case "emoji":
			line = fmt.Appendf(nil, `{"type":"log","entry":{"message":"%s"}}`, sentence(emoji, 60))
		case "escapes":
			line = fmt.Appendf(nil, `{"type":"log","entry":{"message":"%s"}}`, sentence(symbols, 60))
		case "long":
			line = fmt.Appendf(nil, `{"type":"log","entry":{"message":"%s"}}`, sentence(words, 2000))
		}
		out, size = append(out, line), size+len(line)
	}
	return out, size
}

func BenchmarkObject(b *testing.B) {
	for _, kind := range []string{"events", "emoji", "escapes", "long"} {
		lines, size := lines(kind)
		b.Run(kind, func(b *testing.B) {
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				for _, line := range lines {
					if _, ok := Object(line, 512); !ok {
						b.Fatal("refused")
					}
				}
			}
		})
	}
}

func BenchmarkRepair(b *testing.B) {
	for _, kind := range []string{"events", "escapes"} {
		lines, size := lines(kind)
		dst := make([]byte, 0, 2*size)
		b.Run(kind, func(b *testing.B) {
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				for _, line := range lines {
					dst = Repair(dst[:0], line)
				}
			}
		})
	}
}

func BenchmarkIs(b *testing.B) {
	for name, token := range map[string]string{"plain": `"log"`, "escaped": `"\u006cog"`, "other": `"heartbeat"`} {
		token := []byte(token)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			is := false
			for b.Loop() {
				is = Is(token, "log")
			}
			if is != (name != "other") {
				b.Fatal("wrong")
			}
		})
	}
}
