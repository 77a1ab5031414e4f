package bench

import (
	"os/exec"
	"testing"
	"time"

	"github.com/tailrace/tailrace/internal/vector"
)

// drain reads the same child to its end and throws the bytes away: the limit.
func drain(tb testing.TB, file string, buf []byte) {
	cmd := exec.Command("cat", file)
	out, err := cmd.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	for err == nil {
		_, err = out.Read(buf)
	}
	if err := cmd.Wait(); err != nil {
		tb.Fatal(err)
	}
}

// minima takes turns at a and b, n times each, and returns the shortest of each. On a
// machine with other work the shortest is what repeats.
func minima(n int, a, b func()) (minA, minB time.Duration) {
	minA, minB = time.Hour, time.Hour
	for range n {
		start := time.Now()
		a()
		middle := time.Now()
		b()
		minA, minB = min(minA, middle.Sub(start)), min(minB, time.Since(middle))
	}
	return minA, minB
}

// BenchmarkRatio: the whole way of a corpus, from the start of a child to the bytes of
// the result, as a multiple of the drain, with the vector unit and without. Both take turns in one process, and the
// multiple is that of their minima over the iterations, so use -benchtime 30x or more.
func BenchmarkRatio(b *testing.B) {
	for _, unit := range []struct {
		name string
		on   bool
	}{{"vector", true}, {"portable", false}} {
		if unit.on && !vector.On() {
			continue
		}
		for _, c := range Corpora {
			file := corpusFile(b, c)
			b.Run(unit.name+"/"+c.Name, func(b *testing.B) {
				defer vector.Enable(vector.Enable(unit.on))
				var dst []byte
				buf := make([]byte, 256<<10)
				whole, limit := time.Hour, time.Hour
				for b.Loop() {
					w, l := minima(1, func() { dst = child(b, file, dst) }, func() { drain(b, file, buf) })
					whole, limit = min(whole, w), min(limit, l)
				}
				b.ReportMetric(float64(whole)/float64(limit), "x-drain")
				b.ReportMetric(float64(limit)/1e6, "ms-drain")
				b.ReportMetric(float64(whole)/1e6, "ms-whole")
			})
		}
	}
}
