package stages_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/tailrace/tailrace/pipeline"
	"github.com/tailrace/tailrace/stages"
)

func int64p(v int64) *int64 { return &v }

func TestPayloadShape(t *testing.T) {
	for name, c := range map[string]struct {
		p    stages.Payload
		want string
	}{
		"zero": {stages.Payload{}, `{"ok":false,"command":"","exitCode":0,"stdout":"","stderr":""}`},
		"snapshot": {
			stages.Payload{OK: true, Command: `hack logs "x"`, Stdout: []byte("{}\n"), Stderr: []byte("w\x00\n"), Log: &stages.LogData{Events: listOf(`{}`)}},
			`{"ok":true,"command":"hack logs \"x\"","exitCode":0,"stdout":"{}\n","stderr":"w\u0000\n",` +
				`"data":{"events":[{}],"count":1,"cutoff":null,"limits":{"tail":null}}}`,
		},
		"tail": {
			stages.Payload{OK: true, OutputTruncated: true, ExitCode: 143, Log: &stages.LogData{
				Events: listOf(`{"a":1}`, `{"b":2}`), Cutoff: pipeline.Cutoff{Bound: pipeline.EventsBound, Limit: 2}, Tail: true,
				StopReason: pipeline.StopMaxEvents, DurationMs: 31, Limits: stages.LogLimits{Tail: int64p(10), MaxEvents: int64p(2), MaxMs: int64p(5000)},
			}},
			`{"ok":true,"outputTruncated":true,"command":"","exitCode":143,"stdout":"","stderr":"",` +
				`"data":{"events":[{"a":1},{"b":2}],"count":2,"cutoff":{"bound":"events","limit":2},"stop_reason":"max_events","duration_ms":31,` +
				`"limits":{"tail":10,"maxEvents":2,"maxMs":5000}}}`,
		},
		"no events": {
			stages.Payload{OK: true, Log: &stages.LogData{Cutoff: pipeline.Cutoff{Bound: pipeline.TimeBound, Limit: 120000}}},
			`{"ok":true,"command":"","exitCode":0,"stdout":"","stderr":"","data":{"events":[],"count":0,"cutoff":{"bound":"time","limit":120000},"limits":{"tail":null}}}`,
		},
		"other data, order of the rest": {
			stages.Payload{ExitCode: 1, Data: json.RawMessage(`{"url":"http://x/?a&b"}`), NotSpawned: true, Error: &stages.PayloadError{Code: "E_X", Reason: "busy", Message: "Wait."}},
			`{"ok":false,"command":"","exitCode":1,"stdout":"","stderr":"","data":{"url":"http://x/?a&b"},"spawned":false,` +
				`"error":{"code":"E_X","reason":"busy","message":"Wait."}}`,
		},
		"O1 a failure has no cutoff": {
			stages.Payload{Log: &stages.LogData{Cutoff: pipeline.Cutoff{Bound: pipeline.BytesBound, Limit: 8388608}}},
			`{"ok":false,"command":"","exitCode":0,"stdout":"","stderr":"","data":{"events":[],"count":0,"cutoff":null,"limits":{"tail":null}}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			var written bytes.Buffer
			if err := stages.WritePayload(&written, &c.p); err != nil || written.String() != c.want {
				t.Errorf("written %s, %v\nwant %s", written.String(), err, c.want)
			}
			if got := string(stages.AppendPayload([]byte("> "), &c.p)); got != "> "+c.want {
				t.Errorf("got  %s\nwant > %s", got, c.want)
			}
		})
	}
}

func TestC4_BytesThatAreNoUTF8(t *testing.T) {
	bad := []byte("a\xffb\xe2\x82c\xed\xa0\x80d\xf0\x9f\x98")
	want := "a\ufffdb\ufffdc\ufffd\ufffd\ufffdd\ufffd"
	p := &stages.Payload{OK: true, Command: string(bad), Stdout: bad, Stderr: bad}
	content, view, _, _ := budgeted(t, stages.Budget{}, p)
	for _, c := range []told{content, view} {
		if c.Command != want || c.Stdout != want || c.Stderr != want {
			t.Errorf("%q %q %q", c.Command, c.Stdout, c.Stderr)
		}
	}
	// A long text is escaped twice piece by piece; a piece must not end inside a code point.
	for _, unit := range []string{"é", "漢", "🚀", "\xff", "\xe2\x82", "x🚀"} {
		p := &stages.Payload{OK: true, Stdout: []byte("." + strings.Repeat(unit, 20_000))}
		content, view, fit, _ := budgeted(t, stages.Budget{}, p)
		if want := strings.ReplaceAll(strings.ReplaceAll(string(p.Stdout), "\xff", "\ufffd"), "\xe2\x82", "\ufffd"); unit == "\xff" || unit == "\xe2\x82" {
			if content.Stdout != want || view.Stdout != want {
				t.Errorf("%q: another text", unit)
			}
		} else if content.Stdout != string(p.Stdout) || view.Stdout != content.Stdout {
			t.Errorf("%q: another text", unit)
		}
		if fit.Cut || fit.ViewCut {
			t.Errorf("%q: %+v", unit, fit)
		}
	}
}

func collected(o pipeline.Outcome, stop pipeline.StopReason, exit pipeline.Exit) *stages.Collection {
	c := &stages.Collection{Stdout: []byte("{}\n"), Stderr: []byte("secret\n")}
	c.Outcome, c.Stop, c.Exit, c.Elapsed = o, stop, exit, 1234567*time.Microsecond
	c.Events.Append(stages.Event{Raw: []byte("{}")})
	return c
}

func TestO1_PayloadOfEachOutcome(t *testing.T) {
	limits := stages.LogLimits{Tail: int64p(200), MaxEvents: int64p(3), MaxMs: int64p(5000)}

	p := stages.PayloadOf(collected(pipeline.Complete{}, pipeline.StopEOF, pipeline.Exit{}), "hack logs", true, limits)
	if !p.OK || p.Error != nil || p.ExitCode != 0 || p.Log.Cutoff.Bound != pipeline.NoBound || p.OutputTruncated || p.NotSpawned {
		t.Errorf("complete: %+v", p)
	}
	if p.Command != "hack logs" || p.Log.StopReason != "eof" || p.Log.DurationMs != 1234 || !p.Log.Tail || p.Log.Limits != limits || p.Log.Events.Len() != 1 {
		t.Errorf("complete: %+v", p.Log)
	}

	// O7, O8: the cutoff and the stop reason are those of the run; the exit code is what the stopped child said.
	for _, o := range []pipeline.Cutoff{{Bound: pipeline.EventsBound, Limit: 3}, {Bound: pipeline.TimeBound, Limit: 5000}, {Bound: pipeline.BytesBound, Limit: 8388608}} {
		c := collected(o, pipeline.StopMaxEvents, pipeline.Exit{End: pipeline.EndConsumer, Code: 143})
		c.Truncated = o.Bound == pipeline.BytesBound
		p := stages.PayloadOf(c, "", false, stages.LogLimits{})
		if !p.OK || p.Error != nil || p.Log.Cutoff != o || p.ExitCode != 143 || p.Log.StopReason != "max_events" || p.OutputTruncated != c.Truncated || p.Log.Tail {
			t.Errorf("%v: %+v", o, p)
		}
	}

	// O6: the error is closed and repeats nothing.
	for _, exit := range []pipeline.Exit{{Code: 3}, {Code: 0}, {Err: errors.New("secret")}} {
		c := collected(pipeline.Failed{Evidence: pipeline.BadExit}, pipeline.StopOutputLimit, exit)
		c.Cut = pipeline.Cutoff{Bound: pipeline.BytesBound, Limit: 8388608}
		c.Truncated = true
		p := stages.PayloadOf(c, "secret", true, limits)
		if p.OK || p.Error == nil || p.Error.Code != "E_UNEXPECTED" || p.Error.Reason != "backend_error" || p.Error.Message == "" ||
			strings.Contains(p.Error.Message, "secret") || p.Log.Cutoff.Bound != pipeline.NoBound || !p.OutputTruncated || p.Log.StopReason != "output_limit" {
			t.Errorf("%v: %+v", exit, p)
		}
		if want := exit.Code; exit.Err == nil && p.ExitCode != want || exit.Err != nil && p.ExitCode != 1 {
			t.Errorf("%v: exit code %d", exit, p.ExitCode)
		}
		if string(p.Stderr) != "secret\n" || string(p.Stdout) != "{}\n" {
			t.Error("O6: the output is not returned")
		}
	}
}

// pieces counts writes, and fails from one of them on.
type pieces struct {
	bytes.Buffer
	sizes []int
	fail  int
}

func (w *pieces) Write(b []byte) (int, error) {
	if w.sizes = append(w.sizes, len(b)); len(w.sizes) == w.fail {
		return 0, errPiece
	}
	return w.Buffer.Write(b)
}

var errPiece = errors.New("no room")

// B2: what is written in pieces is what is appended, however long its parts are, and needs
// no memory of their size.
func TestB2_WritePayload(t *testing.T) {
	var events stages.EventList
	for i := range 5000 {
		events.Append(stages.Event{Raw: fmt.Appendf(nil, `{"n":%d,"text":"%s"}`, i, strings.Repeat("é", i%200))})
	}
	// Three bytes a character: pieces of a power of two end within one.
	p := &stages.Payload{OK: true, Command: strings.Repeat("€\x00", 30_000), Stdout: []byte(strings.Repeat("€\xff\n", 100_000)), Log: &stages.LogData{Events: &events}}
	want := stages.AppendPayload(nil, p)
	var w pieces
	if err := stages.WritePayload(&w, p); err != nil || !bytes.Equal(w.Bytes(), want) {
		t.Fatalf("%d bytes, %v, want %d", w.Len(), err, len(want))
	}
	for i, n := range w.sizes {
		if n > 256<<10 || n < 32<<10 && i < len(w.sizes)-1 {
			t.Errorf("piece %d has %d bytes", i, n)
		}
	}
	for fail := 1; fail <= len(w.sizes); fail += 7 {
		broken := pieces{fail: fail}
		if err := stages.WritePayload(&broken, p); !errors.Is(err, errPiece) || len(broken.sizes) != fail {
			t.Errorf("write %d fails: %v after %d writes", fail, err, len(broken.sizes))
		}
	}
	if n := testing.AllocsPerRun(10, func() { _ = stages.WritePayload(io.Discard, p) }); n > 6 {
		t.Errorf("%v allocations", n)
	}
}
