// Package corpus generates the inputs that are measured: six kinds of log, each the same
// bytes on every machine.
package corpus

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
)

// Size is how large a corpus is, in bytes: just under the capture limit, so that a run
// over it is complete.
const Size = 8<<20 - 64<<10

// A Corpus is one kind of input.
type Corpus struct {
	// Name is short and stable, for benchmark names.
	Name string
	// About says what the corpus is like.
	About string

	line func(r *rand.Rand, dst []byte) []byte
}

// All are the inputs, from the most typical to the odd ones.
var All = []Corpus{
	{"c1", "typical compose events of about 350 bytes", typical},
	{"c2", "short events of about 110 bytes", short},
	{"c3", "long events of 4 to 64 KiB", long},
	{"c4", "events rich in emoji and escapes", emoji},
	{"c5", "one line without a line end", nil},
	{"c6", "raw text", text},
}

// Bytes generates the corpus: the same bytes each time, at most size of them, ending
// with a whole line.
func (c Corpus) Bytes(size int) []byte {
	r := rand.New(rand.NewPCG(20, 26))
	if c.line == nil {
		return bytes.Repeat([]byte("abcdefgh"), size/8)
	}
	dst := make([]byte, 0, size+128<<10)
	for {
		n := len(dst)
		dst = c.line(r, dst)
		if len(dst) > size {
			return dst[:n]
		}
	}
}

var (
	services = []string{"web", "api", "worker", "db", "cache", "mailer"}
	words    = strings.Fields("request handled session token refreshed query plan index scan cache miss retry after backoff queue depth user order payment shipped invoice created updated connection pool exhausted timeout reading upstream response header body bytes written flush commit rollback")
	levels   = []string{"debug", "info", "info", "info", "warn", "error"}
	symbols  = strings.Fields(`🚀 ✅ 🔥 é ü 漢字 \" \\ \n \t \u00e9 ≤ — 😀 中文 \/`)
)

func sentence(r *rand.Rand, dst []byte, from []string, n int) []byte {
	for i := range n {
		if i > 0 {
			dst = append(dst, ' ')
		}
		dst = append(dst, from[r.IntN(len(from))]...)
	}
	return dst
}

func stamp(r *rand.Rand) string {
	return fmt.Sprintf("2026-03-01T%02d:%02d:%02d.%09dZ", r.IntN(24), r.IntN(60), r.IntN(60), r.IntN(1e9))
}

func typical(r *rand.Rand, dst []byte) []byte {
	ts, service, level := stamp(r), services[r.IntN(len(services))], levels[r.IntN(len(levels))]
	message := string(sentence(r, nil, words, 4+r.IntN(3)))
	return fmt.Appendf(dst, `{"type":"log","ts":"%s","project":"shop","backend":"compose","entry":{"source":"compose","message":"%s","raw":"%s-1  | %s {\"level\":\"%s\",\"msg\":\"%s\"}","stream":"stdout","project":"shop","service":"%s","instance":"1","timestamp":"%s","level":"%s"}}`+"\n",
		ts, message, service, ts, level, message[:len(message)/4], service, ts, level)
}

func short(r *rand.Rand, dst []byte) []byte {
	return fmt.Appendf(dst, `{"type":"log","ts":"%s","entry":{"message":"%s %d","level":"info"}}`+"\n", stamp(r), words[r.IntN(len(words))], r.IntN(100000))
}

func long(r *rand.Rand, dst []byte) []byte {
	dst = append(dst, `{"type":"log","entry":{"message":"`...)
	for end := len(dst) + 4<<10 + r.IntN(60<<10); len(dst) < end; {
		dst = append(sentence(r, dst, words, 16), ' ')
	}
	return append(dst, `"}}`+"\n"...)
}

func emoji(r *rand.Rand, dst []byte) []byte {
	dst = fmt.Appendf(dst, `{"type":"log","ts":"%s","entry":{"message":"`, stamp(r))
	dst = sentence(r, dst, symbols, 40)
	dst = append(dst, `","raw":"`...)
	dst = sentence(r, dst, symbols, 40)
	return append(dst, `"}}`+"\n"...)
}

func text(r *rand.Rand, dst []byte) []byte {
	dst = fmt.Appendf(dst, "%s %s ", stamp(r), strings.ToUpper(levels[r.IntN(len(levels))]))
	return append(sentence(r, dst, words, 8+r.IntN(10)), '\n')
}
