package proptest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/tailrace/tailrace/stages"
)

// A shown is what a reader of a result sees in one channel.
type shown struct {
	OK              bool
	OutputTruncated bool
	Command         string
	ExitCode        int
	Stdout, Stderr  string
	Data            *struct {
		Events []json.RawMessage
		Count  int
		Cutoff *struct {
			Bound string
			Limit int64
		}
		StopReason *string `json:"stop_reason"`
	}
	Error *struct{ Code, Reason, Message string }
}

// result runs the budget and reads what it wrote.
func (f fitting) result() (text string, content, view shown, isError *bool, err error) {
	raw, _ := f.budget().AppendResult(nil, f.payload())
	var r struct {
		Content []struct{ Type, Text string }
		IsError *bool
	}
	if !f.Log { // data is anything there
		f.Data = ""
	}
	if err = json.Unmarshal(raw, &r); err != nil || len(r.Content) != 1 {
		return string(raw), content, view, nil, fmt.Errorf("no result: %v", err)
	}
	var outer struct{ StructuredContent json.RawMessage }
	if err = json.Unmarshal(raw, &outer); err == nil {
		err = read(outer.StructuredContent, f.Log, &content)
	}
	if err == nil {
		err = read([]byte(r.Content[0].Text), f.Log, &view)
	}
	return string(raw), content, view, r.IsError, err
}

// read reads one channel; data has a known shape for logs only.
func read(raw []byte, log bool, into *shown) error {
	if !log {
		var members map[string]json.RawMessage
		if err := json.Unmarshal(raw, &members); err != nil {
			return err
		}
		delete(members, "data")
		raw, _ = json.Marshal(members)
	}
	return json.Unmarshal(raw, into)
}

// TestLaw_ExactSize: the size that was counted is the size that is written, it is within
// the budget, and what is written is JSON (rules B2, B8).
func TestLaw_ExactSize(t *testing.T) {
	forAll(t, fittings(), func(f fitting) string {
		p := f.payload()
		got, fit := f.budget().AppendResult([]byte("before"), p)
		raw := strings.TrimPrefix(string(got), "before")
		switch {
		case len(raw) == len(got):
			return "what stood before is gone"
		case fit.Bytes != len(raw):
			return fmt.Sprintf("counted %d, wrote %d: %s", fit.Bytes, len(raw), raw)
		case len(raw) > max(f.Max-f.Reserve, stages.MinResultBytes):
			return fmt.Sprintf("B2: %d bytes", len(raw))
		case !json.Valid([]byte(raw)) || !utf8.ValidString(raw):
			return "B8: not valid: " + raw
		}
		if p.Log == nil {
			return ""
		}
		for n, size := 0, 0; n <= len(f.Events); n++ {
			if n > 0 {
				size += len(f.Events[n-1])
			}
			if n > 1 {
				size++
			}
			list := p.Log.Events
			if list.Size(n) != size || len(list.AppendJSON(nil, n)) != size || list.Fit(size) != n {
				return fmt.Sprintf("%d events: size %d, %d written, %d fit; want %d bytes", n, list.Size(n), len(list.AppendJSON(nil, n)), list.Fit(size), size)
			}
		}
		return ""
	})
}

// TestLaw_Maximality: one event or code point more would break the limit. The reference
// takes one after the other away until it fits, so both results are the same (rules B2 to
// B9).
func TestLaw_Maximality(t *testing.T) {
	forAll(t, fittings(), func(f fitting) string {
		got, _ := f.budget().AppendResult(nil, f.payload())
		if want := Fit(f.Result, f.Sizes); string(got) != want {
			return fmt.Sprintf("\n got %s\nwant %s", got, want)
		}
		if got := stages.AppendPayload(nil, f.payload()); string(got) != Whole(f.Result) {
			return fmt.Sprintf("without a budget:\n got %s\nwant %s", got, Whole(f.Result))
		}
		var written strings.Builder
		if err := stages.WritePayload(&written, f.payload()); err != nil || written.String() != Whole(f.Result) {
			return fmt.Sprintf("in pieces:\n got %s, %v\nwant %s", written.String(), err, Whole(f.Result))
		}
		return ""
	})
}

// TestLaw_CodePoint_Budget: what a reader sees of a cut text is the beginning of the
// whole one: no code point and no escape is in two halves (rule B9).
func TestLaw_CodePoint_Budget(t *testing.T) {
	forAll(t, fittings(), func(f fitting) string {
		_, content, view, _, err := f.result()
		if err != nil {
			return err.Error()
		}
		for _, c := range []shown{content, view} {
			stderr := c.Stderr
			if cut := strings.TrimSuffix(stderr, note); cut != stderr {
				stderr = strings.TrimSuffix(cut, "\n")
			}
			if !strings.HasPrefix(plain(f.Stdout), c.Stdout) || !strings.HasPrefix(plain(f.Stderr), stderr) || !strings.HasPrefix(plain(f.Texts[0]), c.Command) {
				return fmt.Sprintf("stdout %q, stderr %q, command %q", c.Stdout, c.Stderr, c.Command)
			}
		}
		return ""
	})
}

// TestLaw_WholeEventPrefix_Budget: each channel holds the first of the events, each as it
// was, and counts what it holds (rules B5, B6, E7).
func TestLaw_WholeEventPrefix_Budget(t *testing.T) {
	forAll(t, fittings(), func(f fitting) string {
		_, content, view, _, err := f.result()
		if err != nil {
			return err.Error()
		}
		for i, c := range []shown{content, view} {
			if c.Data == nil {
				continue
			}
			if c.Data.Count != len(c.Data.Events) || len(c.Data.Events) > len(f.Events) {
				return fmt.Sprintf("E7: counts %d, holds %d of %d", c.Data.Count, len(c.Data.Events), len(f.Events))
			}
			for k, raw := range c.Data.Events {
				if string(raw) != f.Events[k] {
					return fmt.Sprintf("event %d is %s, was %s", k, raw, f.Events[k])
				}
			}
			limit := int64([]int{f.Max, min(f.View, f.Max/4)}[i])
			if dropped := c.Data.Count < len(f.Events); dropped && f.OK && (c.Data.Cutoff == nil || c.Data.Cutoff.Bound != "bytes" || c.Data.Cutoff.Limit != limit) {
				return fmt.Sprintf("B5: %d of %d events, cutoff %+v", c.Data.Count, len(f.Events), c.Data.Cutoff)
			}
		}
		return ""
	})
}

// TestLaw_FailureLatch_Budget: cutting a result never makes a failure a success, nor the
// other way round, and gives a failure no cutoff (rules B5, O1).
func TestLaw_FailureLatch_Budget(t *testing.T) {
	forAll(t, fittings(), func(f fitting) string {
		text, content, view, isError, err := f.result()
		if err != nil {
			return err.Error()
		}
		for _, c := range []shown{content, view} {
			switch {
			case c.OK != f.OK || c.ExitCode != f.Exit:
				return "B5: ok or exitCode changed: " + text
			case (isError != nil) == f.OK || isError != nil && !*isError:
				return "O1: isError: " + text
			case (c.Error != nil) != f.HasError:
				return "O1: error: " + text
			case !f.OK && c.Data != nil && c.Data.Cutoff != nil:
				return "B5: a failure with a cutoff: " + text
			case f.Truncated && !c.OutputTruncated:
				return "C5: the flag is gone: " + text
			}
		}
		return ""
	})
}

// TestLaw_BudgetMonotone: a larger limit never returns less. What is kept is compared in
// the order of its worth: events, then stdout, then stderr.
func TestLaw_BudgetMonotone(t *testing.T) {
	forAll(t, fittings(), func(f fitting) string {
		f.View, f.Reserve = min(f.View, 200), 0
		f.Max = max(f.Max, 900) // from there on the view does not grow with the limit
		larger := f
		larger.Max += 1 + f.Max%97
		_, a, av, _, err := f.result()
		if err != nil {
			return err.Error()
		}
		_, b, bv, _, err := larger.result()
		if err != nil {
			return err.Error()
		}
		if less(b, a) || less(bv, av) {
			return fmt.Sprintf("%d bytes hold less than %d: %+v, %+v", larger.Max, f.Max, b, a)
		}
		return ""
	})
}

// less says whether a holds less than b.
func less(a, b shown) bool {
	kept := func(c shown) (k [3]int) {
		if c.Data != nil {
			k[0] = len(c.Data.Events)
		}
		k[1] = len(c.Stdout)
		k[2] = len(strings.TrimSuffix(strings.TrimSuffix(c.Stderr, note), "\n"))
		return k
	}
	x, y := kept(a), kept(b)
	for i := range x {
		if x[i] != y[i] {
			return x[i] < y[i]
		}
	}
	return false
}
