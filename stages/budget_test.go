package stages_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/tailrace/tailrace/pipeline"
	"github.com/tailrace/tailrace/stages"
)

// told is a payload as a client reads it.
type told struct {
	OK              bool
	OutputTruncated *bool
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
		StopReason string `json:"stop_reason"`
	}
	Error *struct{ Code, Reason, Message string }
}

// reply is a tool result as a client reads it.
type reply struct {
	Content  []struct{ Type, Text string }
	Content2 told `json:"structuredContent"`
	IsError  *bool
}

// budgeted runs p through b and checks what holds for every result.
func budgeted(t *testing.T, b stages.Budget, p *stages.Payload) (content, view told, fit stages.Fit, text string) {
	t.Helper()
	out, fit := b.AppendResult(nil, p)
	if fit.Bytes != len(out) {
		t.Errorf("exact-size: counted %d, wrote %d", fit.Bytes, len(out))
	}
	limit := b.MaxBytes
	if limit == 0 {
		limit = pipeline.ResultLimit
	}
	if len(out) > limit {
		t.Errorf("B2: %d bytes, limit %d", len(out), limit)
	}
	if !utf8.Valid(out) {
		t.Error("C4: not UTF-8")
	}
	var r reply
	if err := json.Unmarshal(out, &r); err != nil {
		t.Fatalf("B8: %v", err)
	}
	if len(r.Content) != 1 || r.Content[0].Type != "text" {
		t.Fatalf("content is %v", r.Content)
	}
	if (r.IsError != nil) == p.OK {
		t.Errorf("O1: isError is %v beside ok %v", r.IsError, p.OK)
	}
	text = r.Content[0].Text
	if err := json.Unmarshal([]byte(text), &view); err != nil {
		t.Fatalf("B6: %v", err)
	}
	for _, c := range []told{r.Content2, view} {
		if c.Data != nil && p.Log != nil && c.Data.Count != len(c.Data.Events) {
			t.Errorf("E7: count %d for %d events", c.Data.Count, len(c.Data.Events))
		}
	}
	return r.Content2, view, fit, text
}

func flagged(c told) bool { return c.OutputTruncated != nil && *c.OutputTruncated }

// logPayload is a complete snapshot of events, as its backend wrote them.
func logPayload(events ...string) *stages.Payload {
	return &stages.Payload{
		OK: true, Command: "hack logs --json",
		Stdout: []byte(strings.Join(events, "\n") + "\n"),
		Log:    &stages.LogData{Events: listOf(events...)},
	}
}

// many returns n events of which each has the same length.
func many(n int, message string) []string {
	events := make([]string, n)
	for i := range events {
		events[i] = fmt.Sprintf(`{"type":"log","n":%d,"entry":{"message":%s}}`, 100000+i, quote(message))
	}
	return events
}

func TestB2_AResultThatFitsIsUnchanged(t *testing.T) {
	p := logPayload(many(3, "<a href='x'>&\u2028\u2029")...)
	out, fit := stages.Budget{}.AppendResult(nil, p)
	plain := string(stages.AppendPayload(nil, p))
	want := `{"content":[{"type":"text","text":` + quote(plain) + `}],"structuredContent":` + plain + `}`
	if string(out) != want {
		t.Errorf("got  %s\nwant %s", out, want)
	}
	if fit.Cut || fit.ViewCut || fit.Events != 3 || fit.ViewEvents != 3 {
		t.Errorf("fit is %+v", fit)
	}
	for _, raw := range []string{"<a href='x'>&\u2028\u2029", "structuredContent"} {
		if !bytes.Contains(out, []byte(raw)) {
			t.Errorf("%q is not written as it is", raw)
		}
	}

	// At exactly the limit it is unchanged, one byte below it is not.
	if _, fit := (stages.Budget{MaxBytes: len(out)}).AppendResult(nil, p); fit.ViewCut || fit.Bytes != len(out) {
		t.Errorf("at the limit: %+v", fit)
	}
	if _, fit := (stages.Budget{MaxBytes: len(out) - 1}).AppendResult(nil, p); !fit.ViewCut || fit.Bytes >= len(out) {
		t.Errorf("one byte below: %+v", fit)
	}
}

func TestB2_ReserveShrinksTheRoomAndNotTheToldLimit(t *testing.T) {
	p := logPayload(many(400, "m")...)
	whole, _ := stages.Budget{MaxBytes: 20000, ViewBytes: 2000}.AppendResult(nil, p)
	b := stages.Budget{MaxBytes: 20000, ViewBytes: 2000, Reserve: 5000}
	content, view, fit, _ := budgeted(t, b, p)
	if fit.Bytes > 15000 || len(whole) <= 15000 {
		t.Errorf("%d bytes with, %d without", fit.Bytes, len(whole))
	}
	if content.Data.Cutoff.Limit != 20000 || view.Data.Cutoff.Limit != 2000 {
		t.Errorf("told are %d and %d", content.Data.Cutoff.Limit, view.Data.Cutoff.Limit)
	}
}

func TestB3_StepsGoOnlyAsFarAsNeeded(t *testing.T) {
	events := many(100, "0123456789")
	size := len(strings.Join(events, ","))
	errors := strings.Repeat("warning\n", 50)
	b := stages.Budget{ViewBytes: 700, StderrFloor: 80}
	payload := func() *stages.Payload {
		p := logPayload(events...)
		p.Stderr = []byte(errors)
		return p
	}
	for _, c := range []struct {
		name           string
		max            int
		stdout, stderr bool // whole
		events         int
	}{
		{"view only", 3*size + 2500, true, true, 100},
		{"stdout", 2*size + 2500, false, true, 100},
		{"stdout to nothing, stderr", size + 1500, false, false, 100},
		{"events", size, false, false, -1},
	} {
		t.Run(c.name, func(t *testing.T) {
			b.MaxBytes = c.max
			p := payload()
			content, view, fit, text := budgeted(t, b, p)
			if !flagged(view) || len(text) > 700 || !fit.ViewCut {
				t.Errorf("B3 step 1: view of %d bytes, %+v", len(text), fit)
			}
			if got := content.Stdout == string(p.Stdout); got != c.stdout {
				t.Errorf("stdout whole is %v", got)
			}
			if got := strings.HasPrefix(content.Stderr, errors); got != c.stderr {
				t.Errorf("stderr whole is %v", got)
			}
			if c.events >= 0 && fit.Events != c.events || c.events < 0 && (fit.Events == 0 || fit.Events >= 100) {
				t.Errorf("%d events", fit.Events)
			}
			if fit.Events < 100 && content.Stdout != "" {
				t.Error("stdout is there and events are gone")
			}
			if !c.stderr && len(content.Stderr) < 80+len(stages.CutNote) {
				t.Errorf("the floor does not hold: %q", content.Stderr)
			}
		})
	}
}

func TestB3_FloorHoldsStderrWhileEventsAreDropped(t *testing.T) {
	p := logPayload(many(40_000, strings.Repeat("e", 250))...) // over the limit without stdout
	p.Stderr = bytes.Repeat([]byte("0123456789abcdé\n"), 1<<17)
	content, view, fit, _ := budgeted(t, stages.Budget{}, p)
	if fit.Events == 0 || fit.Events == 40_000 || content.Stdout != "" {
		t.Errorf("%d events", fit.Events)
	}
	for name, c := range map[string]told{"content": content, "view": view} {
		kept := strings.TrimSuffix(c.Stderr, stages.CutNote)
		// What is over the floor is less than the event that did not fit.
		if len(kept) < pipeline.StderrFloor-16 || len(kept) > pipeline.StderrFloor+400 {
			t.Errorf("%s keeps %d bytes of stderr", name, len(kept))
		}
		if !strings.HasPrefix(string(p.Stderr), strings.TrimSuffix(kept, "\n")) {
			t.Errorf("%s: stderr is no prefix", name)
		}
	}
}

func TestB3_FloorCountsTheBytesOfTheString(t *testing.T) {
	p := logPayload(many(300, "event")...)
	p.Stderr = []byte(strings.Repeat("\xff", 3000)) // three bytes each, once they are a string
	content, _, _, _ := budgeted(t, stages.Budget{MaxBytes: 9000, ViewBytes: 500, StderrFloor: 100}, p)
	kept := strings.TrimSuffix(content.Stderr, "\n"+stages.CutNote)
	if n := strings.Count(kept, "\ufffd"); n < 33 || n > 33+25 || n*3 != len(kept) {
		t.Errorf("%d replacements in %d bytes", n, len(kept))
	}
}

func TestB3_OtherToolsLoseDataThenStdoutThenStderr(t *testing.T) {
	data := json.RawMessage(`{"items":[` + strings.Repeat(`"item",`, 500) + `"last"]}`)
	p := &stages.Payload{OK: true, Command: "hack doctor", Stdout: bytes.Repeat([]byte("line\n"), 700), Stderr: bytes.Repeat([]byte("err\n"), 300), Data: data}
	for _, c := range []struct {
		max                  int
		data, stdout, stderr bool
	}{
		{15000, true, true, true},
		{9000, false, true, true},
		{4500, false, false, false},
	} {
		b := stages.Budget{MaxBytes: c.max, ViewBytes: 500, StderrFloor: 40}
		out, _ := b.AppendResult(nil, p)
		if got := bytes.Contains(out, []byte(`"data":{"items"`)); got != c.data {
			t.Errorf("max %d: data is %v", c.max, got)
		}
		var r reply
		if err := json.Unmarshal(bytes.ReplaceAll(out, data, []byte(`null`)), &r); err != nil {
			t.Fatal(err)
		}
		if got := r.Content2.Stdout == string(p.Stdout); got != c.stdout {
			t.Errorf("max %d: whole stdout is %v", c.max, got)
		}
		if got := strings.HasPrefix(r.Content2.Stderr, string(p.Stderr)); got != c.stderr {
			t.Errorf("max %d: whole stderr is %v", c.max, got)
		}
		if !r.Content2.OK || flagged(r.Content2) == c.data {
			t.Errorf("max %d: ok %v, flag %v", c.max, r.Content2.OK, flagged(r.Content2))
		}
	}
	// While stdout is cut only the floor of stderr is counted; the rest of it goes.
	content, _, _, _ := budgeted(t, stages.Budget{MaxBytes: 4500, ViewBytes: 500, StderrFloor: 40}, &stages.Payload{OK: true, Stdout: p.Stdout, Stderr: p.Stderr})
	if kept := strings.TrimSuffix(content.Stderr, stages.CutNote); len(kept) < 40 || len(kept) > 48 {
		t.Errorf("stderr keeps %d bytes", len(kept))
	}
}

func TestB4_FlagAndNoteOnlyWhereItWasCut(t *testing.T) {
	p := logPayload(many(100, "m")...)
	content, view, fit, _ := budgeted(t, stages.Budget{MaxBytes: 14000, ViewBytes: 600}, p)
	if flagged(content) || content.Stderr != "" || fit.Cut {
		t.Errorf("content has flag %v and stderr %q", flagged(content), content.Stderr)
	}
	if !flagged(view) || view.Stderr != stages.CutNote {
		t.Errorf("the view has flag %v and stderr %q", flagged(view), view.Stderr)
	}
	p.OutputTruncated = true // C5: the capture had set it
	content, _, fit, _ = budgeted(t, stages.Budget{MaxBytes: 14000, ViewBytes: 600}, p)
	if !flagged(content) || content.Stderr != "" || fit.Cut {
		t.Errorf("content has flag %v and stderr %q, %+v", flagged(content), content.Stderr, fit)
	}
}

func TestB4_TheNoteIsALineOfItsOwn(t *testing.T) {
	for _, c := range []struct{ stderr, want string }{
		{"", stages.CutNote},
		{"warn\n", "warn\n" + stages.CutNote},
		{"warn", "warn\n" + stages.CutNote},
	} {
		p := logPayload(many(100, "m")...)
		p.Stderr = []byte(c.stderr)
		content, _, fit, _ := budgeted(t, stages.Budget{MaxBytes: 8000, ViewBytes: 600}, p)
		if content.Stderr != c.want || !fit.Cut {
			t.Errorf("%q became %q", c.stderr, content.Stderr)
		}
	}
	if !strings.HasSuffix(stages.CutNote, "\n") || strings.Count(stages.CutNote, "\n") != 1 {
		t.Error("the note is no line")
	}
}

func TestB5_DroppedEventsAreABytesCutoff(t *testing.T) {
	p := logPayload(many(300, "m")...)
	p.ExitCode, p.Log.Tail, p.Log.StopReason = 143, true, pipeline.StopMaxEvents
	p.Log.Cutoff = pipeline.Cutoff{Bound: pipeline.EventsBound, Limit: 300}
	content, view, fit, _ := budgeted(t, stages.Budget{MaxBytes: 9000, ViewBytes: 1000}, p)
	for name, c := range map[string]struct {
		told
		limit int64
		n     int
	}{"content": {content, 9000, fit.Events}, "view": {view, 1000, fit.ViewEvents}} {
		if d := c.Data; d.Cutoff == nil || d.Cutoff.Bound != "bytes" || d.Cutoff.Limit != c.limit || d.Count != c.n || d.StopReason != "max_events" {
			t.Errorf("%s: %+v", name, d)
		}
		if !c.OK || c.ExitCode != 143 {
			t.Errorf("%s: ok %v, exit %d", name, c.OK, c.ExitCode)
		}
	}
	if fit.Events == 0 || fit.ViewEvents == 0 || fit.ViewEvents >= fit.Events {
		t.Errorf("%+v", fit)
	}
}

func TestB5_CuttingOnlyStdoutChangesNoCutoff(t *testing.T) {
	p := logPayload(many(100, "m")...)
	content, view, _, _ := budgeted(t, stages.Budget{MaxBytes: 8000, ViewBytes: 600}, p)
	if content.Data.Cutoff != nil || view.Data.Cutoff == nil {
		t.Errorf("cutoffs are %v and %v", content.Data.Cutoff, view.Data.Cutoff)
	}
}

func TestB5_AFailureStaysAFailure(t *testing.T) {
	p := logPayload(many(300, "m")...)
	p.OK, p.ExitCode = false, 1
	p.Error = &stages.PayloadError{Code: "E_UNEXPECTED", Reason: "backend_error", Message: "fixed"}
	content, view, fit, _ := budgeted(t, stages.Budget{MaxBytes: 9000, ViewBytes: 1000}, p)
	for _, c := range []told{content, view} {
		if c.OK || c.Error == nil || c.Error.Reason != "backend_error" || c.Data.Cutoff != nil || c.Data.Count >= 300 {
			t.Errorf("ok %v, error %v, cutoff %v, count %d", c.OK, c.Error, c.Data.Cutoff, c.Data.Count)
		}
	}
	if !fit.Cut || !fit.ViewCut {
		t.Errorf("%+v", fit)
	}
}

func TestBudgetMonotone(t *testing.T) {
	for seed := range uint64(24) {
		n := someNaive(rand.New(rand.NewPCG(seed, 11)))
		p := n.payload()
		var before stages.Fit
		for size := 1200; size < 6000; size += 13 {
			_, fit := stages.Budget{MaxBytes: size, ViewBytes: 300, StderrFloor: 20}.AppendResult(nil, p)
			if fit.Events < before.Events || fit.ViewEvents < before.ViewEvents || fit.Cut && !before.Cut && before.Bytes > 0 {
				t.Fatalf("seed %d: at %d %+v, before %+v", seed, size, fit, before)
			}
			before = fit
		}
	}
}

func TestBudget_Stage(t *testing.T) {
	a, b := logPayload(many(3, "a")...), logPayload(many(900, "b")...)
	budget := stages.Budget{MaxBytes: 9000, ViewBytes: 800}
	got := slices.Collect(budget.Stage()(slices.Values([]*stages.Payload{a, b, a})))
	for i, p := range []*stages.Payload{a, b, a} {
		if want, _ := budget.AppendResult(nil, p); string(got[i]) != string(want) {
			t.Errorf("result %d differs", i)
		}
	}
	n := 0
	for range budget.Stage()(slices.Values([]*stages.Payload{a, b, a})) {
		if n++; n == 2 {
			break
		}
	}
	if n != 2 {
		t.Errorf("%d results", n)
	}
}
