package stages_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/tailrace/tailrace/internal/jsonstr"
	"github.com/tailrace/tailrace/pipeline"
	"github.com/tailrace/tailrace/stages"
)

func TestB6_ViewOfEmoji(t *testing.T) {
	p := logPayload(many(4000, strings.Repeat("😀", 145))...)
	content, view, _, text := budgeted(t, stages.Budget{}, p)
	if !flagged(view) || view.Data.Cutoff == nil || view.Data.Cutoff.Limit != 262144 || len(text) > 262144 {
		t.Errorf("the view has %d bytes and says %v", len(text), view.Data.Cutoff)
	}
	if len(content.Data.Events) != 4000 || content.Data.Cutoff != nil || flagged(content) {
		t.Errorf("content has %d events, cutoff %v", len(content.Data.Events), content.Data.Cutoff)
	}
	if strings.ContainsRune(text, utf8.RuneError) {
		t.Error("B9: a code point was split")
	}
}

func TestB7_StdoutIsTheLargestPrefix(t *testing.T) {
	events := many(24_000, strings.Repeat("q", 280))
	p := logPayload(events...)
	content, view, fit, text := budgeted(t, stages.Budget{}, p)
	next := len(content.Stdout)
	if next == 0 || next >= len(p.Stdout) || !strings.HasPrefix(string(p.Stdout), content.Stdout) {
		t.Fatalf("%d bytes of stdout", next)
	}
	if cost := jsonstr.Len(p.Stdout[next : next+1]); fit.Bytes+cost <= pipeline.ResultLimit {
		t.Errorf("room for the next byte: %d + %d", fit.Bytes, cost)
	}
	if len(text)+len(events[0])+1 <= pipeline.TextViewLimit || len(text) > pipeline.TextViewLimit {
		t.Errorf("the view has %d bytes and room for another event of %d", len(text), len(events[0]))
	}
	if view.Data.Count != fit.ViewEvents || fit.Events != len(events) {
		t.Errorf("%+v", fit)
	}
}

func TestB7_TheCountTakesRoomToo(t *testing.T) {
	events := slices.Repeat([]string{"{}"}, 1200)
	p := &stages.Payload{OK: true, Log: &stages.LogData{Events: listOf(events...)}}
	seen := map[int]bool{}
	for size := 700; size < 5000; size++ {
		_, fit := stages.Budget{MaxBytes: size, ViewBytes: 200}.AppendResult(nil, p)
		seen[fit.Events] = true
		another := len(",{}") + len(fmt.Sprint(fit.Events+1)) - len(fmt.Sprint(fit.Events))
		if fit.Bytes > size || fit.Events < 1199 && fit.Events > 0 && fit.Bytes+another <= size {
			t.Fatalf("MaxBytes %d: %+v", size, fit)
		}
	}
	for _, n := range []int{99, 100, 999, 1000, 1200} {
		if !seen[n] {
			t.Errorf("no result has %d events", n)
		}
	}
	// Without one tiny event the result is larger, by its byte cutoff: it is never the one.
	if seen[1199] {
		t.Error("a result has 1199 events where 1200 fit")
	}
}

func TestB8_OneEventOverTheLimit(t *testing.T) {
	p := logPayload(`{"m":"`+strings.Repeat("x", 11<<20)+`"}`, `{"type":"end"}`)
	content, view, fit, _ := budgeted(t, stages.Budget{}, p)
	for _, c := range []told{content, view} {
		if c.Data.Count != 0 || !c.OK || c.Data.Cutoff.Bound != "bytes" || c.Stdout != "" || c.Stderr != stages.CutNote {
			t.Errorf("%+v", c)
		}
	}
	if fit.Events != 0 || fit.ViewEvents != 0 {
		t.Errorf("%+v", fit)
	}
}

func TestB8_AnyFieldCanBeTooLarge(t *testing.T) {
	huge := strings.Repeat("🚀\"", 300<<10)
	b := stages.Budget{MaxBytes: 1 << 20, ViewBytes: 64 << 10}
	for name, p := range map[string]*stages.Payload{
		"command":             {OK: true, Command: huge},
		"command of logs":     {OK: true, Command: huge, Log: &stages.LogData{}},
		"error message":       {Command: "c", Error: &stages.PayloadError{Code: "E", Reason: "r", Message: huge}},
		"error reason":        {Command: "c", Error: &stages.PayloadError{Code: "E", Reason: huge, Message: "m"}},
		"error code":          {Command: "c", Error: &stages.PayloadError{Code: huge, Reason: "r", Message: "m"}},
		"stop reason":         {OK: true, Log: &stages.LogData{Tail: true, StopReason: pipeline.StopReason(huge)}},
		"command and message": {Command: huge, Error: &stages.PayloadError{Code: "E", Reason: "r", Message: huge}},
		"data":                {OK: true, Data: json.RawMessage(quote(huge))},
		"stderr":              {Stderr: []byte(huge)},
		"everything":          {Command: huge, Stdout: []byte(huge), Stderr: []byte(huge), Log: &stages.LogData{Events: listOf(quote(huge))}, Error: &stages.PayloadError{Message: huge}},
	} {
		t.Run(name, func(t *testing.T) {
			content, _, fit, text := budgeted(t, b, p)
			if !flagged(content) || !strings.HasSuffix(content.Stderr, stages.CutNote) || !fit.Cut {
				t.Errorf("flag %v, stderr ends %q", flagged(content), content.Stderr[max(0, len(content.Stderr)-200):])
			}
			if len(text) > b.ViewBytes {
				t.Errorf("a view of %d bytes", len(text))
			}
			if name != "data" && fit.Bytes < b.MaxBytes-8 {
				t.Errorf("B7: only %d bytes", fit.Bytes)
			}
		})
	}
}

func TestB8_TheSmallestResult(t *testing.T) {
	p := logPayload(many(50, "m")...)
	p.OK, p.NotSpawned, p.ExitCode = false, true, -1<<63
	p.Error = &stages.PayloadError{Code: "E", Reason: "r", Message: "m"}
	for _, n := range []int{-1, 1, 100, stages.MinResultBytes} {
		out, fit := stages.Budget{MaxBytes: n}.AppendResult(nil, p)
		if len(out) > stages.MinResultBytes || fit.Bytes != len(out) || !json.Valid(out) {
			t.Errorf("MaxBytes %d: %d bytes, counted %d", n, len(out), fit.Bytes)
		}
	}
	if out, fit := (stages.Budget{}).AppendResult(nil, &stages.Payload{}); fit.Bytes != len(out) || !json.Valid(out) {
		t.Errorf("the zero payload: %s", out)
	}
}

func TestB9_CutsKeepCodePoints(t *testing.T) {
	for _, unit := range []string{"é", "漢", "🚀", "\x01", `"`, `\`, "\n", "\u2028"} {
		p := &stages.Payload{OK: true, Stdout: []byte(strings.Repeat(unit, 4000))}
		for room := range 16 {
			content, view, fit, _ := budgeted(t, stages.Budget{MaxBytes: 5000 + room, ViewBytes: 1000 + room}, p)
			for _, c := range []told{content, view} {
				if strings.Trim(c.Stdout, unit) != "" || len(c.Stdout)%len(unit) != 0 || c.Stdout == "" {
					t.Errorf("%q was split: %q", unit, c.Stdout[len(c.Stdout)-8:])
				}
			}
			if fit.Bytes+jsonstr.Len([]byte(unit)) <= 5000+room {
				t.Errorf("%q: room for one more", unit)
			}
		}
	}
}

func TestO7_NineMiBOfEmojiKeepsEveryEvent(t *testing.T) {
	events, size := []string{}, 0
	for i := 0; ; i++ {
		e := fmt.Sprintf(`{"type":"log","n":%d,"entry":{"message":"%s"}}`, i, strings.Repeat("🚀", 2000))
		if size += len(e) + 1; size > pipeline.CaptureLimit {
			break
		}
		events = append(events, e)
	}
	p := logPayload(events...)
	p.OutputTruncated = true
	p.Log.Cutoff = pipeline.Cutoff{Bound: pipeline.BytesBound, Limit: pipeline.CaptureLimit}
	content, view, fit, _ := budgeted(t, stages.Budget{}, p)
	if fit.Events != len(events) || content.Data.Cutoff.Limit != 8388608 || content.Data.Cutoff.Bound != "bytes" {
		t.Errorf("%d of %d events, cutoff %+v", fit.Events, len(events), content.Data.Cutoff)
	}
	if view.Data.Cutoff.Limit != 262144 || fit.Bytes < pipeline.ResultLimit-4 {
		t.Errorf("view cutoff %+v, %d bytes", view.Data.Cutoff, fit.Bytes)
	}
}

func TestB3_EscapesThatGrowCostStdoutAndNoEvent(t *testing.T) {
	p := logPayload(many(5000, strings.Repeat(`say "\"`, 100))...)
	content, view, fit, _ := budgeted(t, stages.Budget{}, p)
	if fit.Events != 5000 || content.Data.Cutoff != nil || !flagged(content) || content.Stderr != stages.CutNote || view.Stderr != stages.CutNote {
		t.Errorf("%+v, cutoff %v, stderr %q", fit, content.Data.Cutoff, content.Stderr)
	}

	// A command without events whose output fits the capture but not, escaped, the result.
	other := &stages.Payload{OK: true, Command: "hack run", Stdout: bytes.Repeat([]byte{1}, 8<<20)}
	content, _, fit, _ = budgeted(t, stages.Budget{}, other)
	if !content.OK || content.ExitCode != 0 || !flagged(content) || fit.Bytes <= pipeline.ResultLimit-6 {
		t.Errorf("ok %v, %+v", content.OK, fit)
	}
}
