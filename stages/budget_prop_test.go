package stages_test

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/tailrace/tailrace/pipeline"
	"github.com/tailrace/tailrace/stages"
)

// atoms have every width, every kind of escape, and broken UTF-8. No two of them join
// to another code point.
var atoms = []atom{
	{"a", "a"}, {"b", "b"}, {" ", " "}, {"\n", "\n"}, {"\n", "\n"}, {"\r", "\r"}, {"\t", "\t"}, {`"`, `"`}, {`\`, `\`},
	{"\x00", "\x00"}, {"\x1b", "\x1b"}, {"\x7f", "\x7f"}, {"<", "<"}, {"&", "&"}, {"\u2028", "\u2028"}, {"\u2029", "\u2029"},
	{"é", "é"}, {"漢", "漢"}, {"🚀", "🚀"}, {"\ufffd", "\ufffd"},
	{"\xff", "\ufffd"}, {"\xc0", "\ufffd"}, {"\xf0\x9f\x98", "\ufffd"}, {"\xe2\x82", "\ufffd"},
}

func someAtoms(r *rand.Rand, most int) []atom {
	n := r.IntN(most + 1)
	out := make([]atom, n)
	few := 1 + r.IntN(len(atoms)) // some texts have but one kind
	for i := range out {
		out[i] = atoms[(r.IntN(few)+n)%len(atoms)]
	}
	return out
}

func someNaive(r *rand.Rand) naive {
	sizes := []int{0, 3, 30, 150}
	size := func() int { return sizes[r.IntN(len(sizes))] }
	n := naive{
		ok: r.IntN(3) > 0, truncated: r.IntN(3) == 0, hasLog: r.IntN(3) > 0, exit: r.IntN(300) - 20,
		stdout: someAtoms(r, size()), stderr: someAtoms(r, size()),
	}
	n.texts[0] = someAtoms(r, size()/3)
	if !n.ok {
		n.hasError, n.notSpawned = true, r.IntN(3) == 0
		n.texts[1], n.texts[2], n.texts[3] = someAtoms(r, size()/3), someAtoms(r, 8), someAtoms(r, 8)
	}
	switch {
	case n.hasLog:
		n.tail = r.IntN(2) == 0
		if n.tail {
			n.texts[4] = someAtoms(r, 8)
		}
		n.cutoff = []pipeline.Cutoff{{}, {Bound: pipeline.EventsBound, Limit: 3}, {Bound: pipeline.BytesBound, Limit: 8388608}, {Bound: pipeline.EventsBound, Limit: 1 << 62}}[r.IntN(4)]
		longest := 1 + r.IntN(40)
		for range r.IntN(14) {
			e := "{}"
			if r.IntN(4) > 0 {
				e = `{"m":` + quote(text(someAtoms(r, longest))) + `}`
			}
			n.events = append(n.events, e)
		}
		n.all = len(n.events)
	case r.IntN(2) == 0:
		n.data = `{"d":` + quote(text(someAtoms(r, size()))) + `}`
	}
	return n
}

func someBudget(r *rand.Rand) stages.Budget {
	b := stages.Budget{MaxBytes: 100 + r.IntN(3000), ViewBytes: 50 + r.IntN(900), StderrFloor: 1 + r.IntN(60)}
	if r.IntN(4) == 0 {
		b.Reserve = r.IntN(b.MaxBytes)
	}
	return b
}

// checkBudget compares one result with the plain twin's, and holds it to the laws.
func checkBudget(t *testing.T, n naive, b stages.Budget) {
	t.Helper()
	p := n.payload()
	got, fit := b.AppendResult([]byte("before"), p)
	if !strings.HasPrefix(string(got), "before") {
		t.Fatal("dst was not kept")
	}
	got = got[len("before"):]
	if fit.Bytes != len(got) {
		t.Fatalf("exact-size: counted %d, wrote %d", fit.Bytes, len(got))
	}
	if !json.Valid(got) || !utf8.Valid(got) {
		t.Fatalf("B8: not valid: %q", got)
	}
	if room := b.MaxBytes - b.Reserve; len(got) > max(room, stages.MinResultBytes) {
		t.Fatalf("B2: %d bytes in %d", len(got), room)
	}
	if want := n.result(b); string(got) != want {
		t.Fatalf("B7: %+v\n got %s\nwant %s", b, got, want)
	}
	if plain := string(stages.AppendPayload(nil, p)); plain != n.json() {
		t.Fatalf("B2: without a budget\n got %s\nwant %s", plain, n.json())
	}
}

func TestB7_SameAsThePlainTwin(t *testing.T) {
	for seed := range uint64(700) {
		r := rand.New(rand.NewPCG(seed, 7))
		checkBudget(t, someNaive(r), someBudget(r))
	}
}

// TestB7_LineEndsAtTheNote: a line end that is kept costs nothing where the note needs
// one before it anyway.
func TestB7_LineEndsAtTheNote(t *testing.T) {
	some := []atom{{"a", "a"}, {"\n", "\n"}, {"é", "é"}}
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 3))
		n := naive{ok: true}
		for range 500 {
			n.stderr = append(n.stderr, some[r.IntN(len(some))])
		}
		checkBudget(t, n, stages.Budget{MaxBytes: 1000 - r.IntN(100), ViewBytes: 210 + r.IntN(40), StderrFloor: 1})
	}
}

// TestB7_NoteCostsWhatItNeeds: the same, by hand.
func TestB7_NoteCostsWhatItNeeds(t *testing.T) {
	size := func(stderr string) int {
		return len(naive{ok: true, cut: true, stderr: []atom{{stderr, stderr}}}.json())
	}
	p := &stages.Payload{OK: true, Stderr: []byte("aaaa\nbbb" + strings.Repeat("c", 1000))}
	for _, c := range []struct {
		room int
		want string
	}{
		{size("aaa\n"), "aaa\n"}, // with the line end that the note needs
		{size("aaaa\n"), "aaaa\n"},
		{size("aaaa\n") + 1, "aaaa\n"},
		{size("aaaa\n") + 2, "aaaa\n"}, // b and a line end would take three
		{size("aaaa\n") + 3, "aaaa\nb\n"},
	} {
		_, view, _, text := budgeted(t, stages.Budget{MaxBytes: 1000, ViewBytes: c.room, StderrFloor: 1}, p)
		if view.Stderr != c.want+stages.CutNote || len(text) > c.room {
			t.Errorf("in %d bytes: %q", c.room, view.Stderr)
		}
	}
}

func FuzzBudget(f *testing.F) {
	f.Add(uint64(1), uint64(2))
	f.Fuzz(func(t *testing.T, a, b uint64) {
		r := rand.New(rand.NewPCG(a, b))
		checkBudget(t, someNaive(r), someBudget(r))
	})
}

// TestB5_AnEarlierCutoffCanBeLonger: dropping the last event replaces a cutoff that takes
// more room than the new one. The event still does not fit beside the old one.
func TestB5_AnEarlierCutoffCanBeLonger(t *testing.T) {
	n := naive{ok: true, hasLog: true, cutoff: pipeline.Cutoff{Bound: pipeline.EventsBound, Limit: 1 << 62}}
	for range 150 {
		n.events = append(n.events, `{}`)
	}
	n.all = len(n.events)
	n.stdout = slices.Repeat([]atom{{"a", "a"}}, 400)
	for size := 1000; size < 1400; size++ {
		checkBudget(t, n, stages.Budget{MaxBytes: size, ViewBytes: 200, StderrFloor: 1})
	}
}
