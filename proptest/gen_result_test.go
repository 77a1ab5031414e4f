package proptest

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"slices"
	"strings"

	"github.com/leanovate/gopter"
	"github.com/leanovate/gopter/gen"

	"github.com/tailrace/tailrace/pipeline"
	"github.com/tailrace/tailrace/stages"
)

// A fitting is a result and the budget that it is to fit into.
type fitting struct {
	Result
	Sizes
	// exact says that Max is off bytes from the size of the whole result.
	exact bool
	off   int
}

// aim sets the budget where it hangs on the size of the result.
func (f *fitting) aim() {
	if f.exact {
		f.Max = max(100, len(Fit(f.Result, Sizes{Max: 1 << 20, View: 1, Floor: 1}))+f.off)
	}
}

func (f fitting) String() string {
	r := f.Result
	texts := make([]string, len(r.Texts))
	for i, t := range r.Texts {
		texts[i] = strings.Join(t, "")
	}
	return fmt.Sprintf("%+v stdout=%+q stderr=%+q texts=%+q events=%q cutoff=%q,%d data=%q ok=%t truncated=%t spawned=%t log=%t tail=%t",
		f.Sizes, strings.Join(r.Stdout, ""), strings.Join(r.Stderr, ""), texts, r.Events, r.Bound, r.Limit, r.Data, r.OK, r.Truncated, !r.NotSpawned, r.Log, r.Tail)
}

// units have every width, every kind of escape, and broken UTF-8. No two of them join to
// another code point.
var units = []string{
	"a", "b", " ", "\n", "\n", "\r", "\t", "\b", "\f", `"`, `\`, "\x00", "\x1b", "\x7f", "<", "&", "\u2028", "\u2029", "é", "漢", "🚀", "\ufffd",
	"\xff", "\xc0", "\xf0\x9f\x98", "\xe2\x82",
}

func someText(r *rand.Rand, most int) Text {
	n := r.Intn(most + 1)
	out := make(Text, n)
	few := 1 + r.Intn(len(units)) // some texts have but a few kinds
	for i := range out {
		out[i] = units[(r.Intn(few)+n)%len(units)]
	}
	return out
}

// fittings generates results, and budgets around their size.
func fittings() gopter.Gen {
	return func(p *gopter.GenParameters) *gopter.GenResult {
		r := p.Rng
		sizes := []int{0, 3, 30, 3 * p.MaxSize}
		size := func() int { return sizes[r.Intn(len(sizes))] }
		f := fitting{Result: Result{
			OK: r.Intn(3) > 0, Truncated: r.Intn(3) == 0, Log: r.Intn(3) > 0, Exit: r.Intn(300) - 20,
			Stdout: someText(r, size()), Stderr: someText(r, size()),
		}}
		f.Texts[0] = someText(r, size()/3)
		if !f.OK {
			f.HasError, f.NotSpawned = true, r.Intn(3) == 0
			f.Texts[1], f.Texts[2], f.Texts[3] = someText(r, size()/3), someText(r, 8), someText(r, 8)
		}
		switch {
		case f.Log:
			if f.Tail = r.Intn(2) == 0; f.Tail {
				f.Texts[4] = someText(r, 8)
			}
			switch r.Intn(4) {
			case 0:
				f.Bound, f.Limit = "events", 3
			case 1:
				f.Bound, f.Limit = "bytes", 8388608
			case 2:
				f.Bound, f.Limit = "events", 1<<62
			}
			longest := 1 + r.Intn(40)
			for range r.Intn(14) {
				e := "{}"
				if r.Intn(4) > 0 {
					e = `{"m":` + quote(plain(someText(r, longest))) + `}`
				}
				f.Events = append(f.Events, e)
			}
		case r.Intn(2) == 0:
			f.Data = `{"d":` + quote(plain(someText(r, size()))) + `}`
		}
		f.Sizes = Sizes{Max: 100 + r.Intn(3000), View: 50 + r.Intn(900), Floor: 1 + r.Intn(60)}
		if r.Intn(2) == 0 { // at the very size of the result, and beside it
			f.exact, f.off = true, r.Intn(4)-2
			f.aim()
		}
		if r.Intn(4) == 0 {
			f.Reserve = r.Intn(f.Max)
		}
		return gopter.NewGenResult(f, shrinkFitting)
	}
}

// shrinkFitting takes parts of the texts and events away, then the conditions.
func shrinkFitting(v any) gopter.Shrink {
	f := v.(fitting)
	var shrinks []gopter.Shrink
	slice := func(value any, set func(f *fitting, v any)) {
		next := gen.SliceShrinker(gopter.NoShrinker)(value)
		shrinks = append(shrinks, func() (any, bool) {
			v, ok := next()
			smaller := f
			if ok {
				set(&smaller, v)
				smaller.aim()
			}
			return smaller, ok
		})
	}
	slice(f.Stdout, func(f *fitting, v any) { f.Stdout = v.(Text) })
	slice(f.Stderr, func(f *fitting, v any) { f.Stderr = v.(Text) })
	slice(f.Events, func(f *fitting, v any) { f.Events = v.([]string) })
	for i := range f.Texts {
		slice(f.Texts[i], func(f *fitting, v any) { f.Texts[i] = v.(Text) })
	}
	for _, change := range []func(*fitting){
		func(f *fitting) { f.Stdout = nil }, func(f *fitting) { f.Stderr = nil }, func(f *fitting) { f.Events = nil }, func(f *fitting) { f.Data = "" },
		func(f *fitting) { f.Texts = [5]Text{} }, func(f *fitting) { f.Reserve = 0 }, func(f *fitting) { f.Tail = false }, func(f *fitting) { f.Truncated = false },
		func(f *fitting) { f.Bound, f.Limit = "", 0 }, func(f *fitting) { f.Exit = 0 }, func(f *fitting) { f.NotSpawned = false }, func(f *fitting) { f.Floor = 1 },
	} {
		smaller := f
		change(&smaller)
		if smaller.aim(); smaller.String() != f.String() {
			done := false
			shrinks = append(shrinks, func() (any, bool) {
				defer func() { done = true }()
				return smaller, !done
			})
		}
	}
	return gopter.ConcatShrinks(shrinks...)
}

// payload is the result as the budget takes it.
func (f fitting) payload() *stages.Payload {
	text := func(t Text) string { return strings.Join(t, "") }
	p := &stages.Payload{
		OK: f.OK, OutputTruncated: f.Truncated, Command: text(f.Texts[0]), ExitCode: f.Exit,
		Stdout: []byte(text(f.Stdout)), Stderr: []byte(text(f.Stderr)), NotSpawned: f.NotSpawned,
	}
	if f.HasError {
		p.Error = &stages.PayloadError{Code: text(f.Texts[3]), Reason: text(f.Texts[2]), Message: text(f.Texts[1])}
	}
	if f.Data != "" {
		p.Data = json.RawMessage(f.Data)
	}
	if !f.Log {
		return p
	}
	// Some events lie in one buffer, one LF apart, as captured ones do.
	joined := []byte(strings.Join(f.Events, "\n"))
	var list stages.EventList
	for i, e := range f.Events {
		raw := joined[:len(e):len(e)]
		if joined = joined[len(e):]; len(joined) > 0 {
			joined = joined[1:]
		}
		if i%5 == 4 {
			raw = slices.Clone(raw)
		}
		list.Append(stages.Event{Raw: raw, Kind: stages.KindLog})
	}
	tail, maxMs := int64(7), int64(5000)
	p.Log = &stages.LogData{Events: &list, Tail: f.Tail, DurationMs: 12, Limits: stages.LogLimits{Tail: &tail}}
	for _, b := range []pipeline.Bound{pipeline.BytesBound, pipeline.EventsBound} {
		if b.String() == f.Bound {
			p.Log.Cutoff = pipeline.Cutoff{Bound: b, Limit: f.Limit}
		}
	}
	if f.Tail {
		p.Log.StopReason, p.Log.Limits.MaxMs = pipeline.StopReason(text(f.Texts[4])), &maxMs
	}
	return p
}

func (f fitting) budget() stages.Budget {
	return stages.Budget{MaxBytes: f.Max, ViewBytes: f.View, StderrFloor: f.Floor, Reserve: f.Reserve}
}
