package stages_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/tailrace/tailrace/stages"
)

// layout puts events into memory in one of the ways in which they come out of a line:
// neighbours in one buffer, neighbours with something between, or each on its own.
func layout(r *rand.Rand, texts []string) []stages.Event {
	var buffer []byte
	at := make([]int, len(texts))
	for i, s := range texts {
		buffer = append(buffer, []string{"\n", "\n", "\n", "\r\n", "text\n", ",", ""}[r.IntN(7)]...)
		at[i] = len(buffer)
		buffer = append(buffer, s...)
	}
	events := make([]stages.Event, len(texts))
	for i, s := range texts {
		switch raw := buffer[at[i] : at[i]+len(s)]; r.IntN(8) {
		case 0:
			events[i].Raw = slices.Clip(slices.Clone(raw))
		case 1:
			events[i].Raw = slices.Clip(raw)
		default:
			events[i].Raw = raw
		}
	}
	return events
}

// TestEventList_ExactSize holds the list against a slice of strings, for every way to lie in memory.
func TestEventList_ExactSize(t *testing.T) {
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 2))
		texts := make([]string, r.IntN(60))
		for i := range texts {
			size := []int{2, 3, 20, 250, 254, 255, 256, 257, 400, 3000}[r.IntN(10)]
			texts[i] = "{" + strings.Repeat(string(rune('a'+i%26)), size-2) + "}"
		}
		var l stages.EventList
		for _, e := range layout(r, texts) {
			l.Append(e)
		}
		if l.Len() != len(texts) {
			t.Fatalf("seed %d: Len %d, want %d", seed, l.Len(), len(texts))
		}
		var all []string
		for raw := range l.All() {
			all = append(all, string(raw))
		}
		if !slices.Equal(all, texts) {
			t.Fatalf("seed %d: All differs", seed)
		}
		want := ""
		for n := 0; n <= len(texts); n++ {
			if n > 0 {
				want = strings.TrimPrefix(want+","+texts[n-1], ",")
			}
			if got := l.AppendJSON([]byte("x\n"), n); string(got) != "x\n"+want {
				t.Fatalf("seed %d: AppendJSON(%d) differs", seed, n)
			}
			if l.Size(n) != len(want) {
				t.Fatalf("seed %d: Size(%d) = %d, want %d", seed, n, l.Size(n), len(want))
			}
			// Maximality: the event fits from its own size on, and up to one byte less than the next.
			rooms := []int{len(want)}
			if n < len(texts) {
				rooms = append(rooms, len(want)+1, len(want)+len(texts[n])-1)
			}
			for _, room := range rooms {
				if got := l.Fit(room); got != n {
					t.Fatalf("seed %d: Fit(%d) = %d, want %d", seed, room, got, n)
				}
			}
		}
		if got := l.Fit(l.Size(l.Len()) + 1); got != l.Len() {
			t.Fatalf("seed %d: all fit, Fit = %d", seed, got)
		}
		if got := l.Fit(-1); got != 0 {
			t.Fatalf("seed %d: Fit(-1) = %d", seed, got)
		}
		if l.Size(-1) != 0 || l.Size(len(texts)+9) != l.Size(len(texts)) || len(l.AppendJSON(nil, -1)) != 0 {
			t.Fatalf("seed %d: sizes out of range", seed)
		}
	}
}

// TestEventList_WritesOnlyItsOwnMemory: packing and writing leave the captured bytes as
// they are, also those between and behind the events.
func TestEventList_WritesOnlyItsOwnMemory(t *testing.T) {
	source := []byte("{\"a\":1}\r\n{\"b\":2}\r\n{\"c\":3}\n{\"d\":4}\n" + strings.Repeat("z", 600))
	before := bytes.Clone(source)
	var l stages.EventList
	for _, at := range []int{0, 9, 18, 26} {
		l.Append(stages.Event{Raw: source[at : at+7]})
	}
	out := string(l.AppendJSON(nil, 4))
	if out != `{"a":1},{"b":2},{"c":3},{"d":4}` || !bytes.Equal(source, before) {
		t.Errorf("%s, source changed: %v", out, !bytes.Equal(source, before))
	}
}

// allocated returns how many bytes f allocates in all.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// TestMemory_EventList: the list of 8 MiB of events costs little beside them, however
// short they are and wherever they lie.
func TestMemory_EventList(t *testing.T) {
	for _, c := range []struct {
		name, line string
		limit      uint64
	}{
		{"one LF apart, as captured lines are", `{"type":"log"}` + "\n", 1 << 10},
		{"CR LF", "{}\r\n", 20 << 20},
		{"one LF apart but blank lines", `{"n":1}` + "\n\n", 20 << 20},
		{"CR LF, of usual length", `{"type":"log","m":"` + strings.Repeat("m", 330) + `"}` + "\r\n", 8 << 20},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := bytes.Repeat([]byte(c.line), 8<<20/len(c.line))
			size := strings.IndexByte(c.line, '}') + 1
			var l stages.EventList
			got := allocated(func() {
				for at := 0; at < len(text); at += len(c.line) {
					l.Append(stages.Event{Raw: text[at : at+size]})
				}
			})
			if got > c.limit {
				t.Errorf("%d bytes for %d events, want at most %d", got, l.Len(), c.limit)
			}
			if want := l.Len()*(size+1) - 1; l.Size(l.Len()) != want {
				t.Errorf("size %d, want %d", l.Size(l.Len()), want)
			}
		})
	}
}

func BenchmarkEventList(b *testing.B) {
	for name, line := range map[string]string{"short": "{}\r\n", "usual": `{"type":"log","m":"` + strings.Repeat("m", 330) + `"}` + "\n"} {
		text := bytes.Repeat([]byte(line), 8<<20/len(line))
		size := strings.IndexByte(line, '}') + 1
		var l stages.EventList
		b.Run("Append/"+name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				l = stages.EventList{}
				for at := 0; at < len(text); at += len(line) {
					l.Append(stages.Event{Raw: text[at : at+size]})
				}
			}
		})
		dst := make([]byte, 0, len(text))
		b.Run("AppendJSON/"+name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				dst = l.AppendJSON(dst[:0], l.Len())
			}
		})
		b.Run("Fit/"+name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				l.Fit(l.Size(l.Len()) * 2 / 3)
			}
		})
	}
}

func ExampleEventList() {
	captured := []byte("{\"n\":1}\n{\"n\":22}\ntext\n{\"n\":3}\n")
	var l stages.EventList
	l.Append(stages.Event{Raw: captured[0:7]})
	l.Append(stages.Event{Raw: captured[8:16]})
	l.Append(stages.Event{Raw: captured[22:29]})
	n := l.Fit(20)
	fmt.Printf("%d of %d in %d bytes: [%s]\n", n, l.Len(), l.Size(n), l.AppendJSON(nil, n))
	// Output: 2 of 3 in 16 bytes: [{"n":1},{"n":22}]
}
