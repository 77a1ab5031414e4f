//go:build linux

package soak

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
)

const (
	snapshotTool = "hack.project.logs.snapshot"
	tailTool     = "hack.project.logs.tail"
	execTool     = "hack.project.exec"
	listTool     = "hack.projects.list"
)

// A call is one call of a tool and the outcome that it must have.
type call struct {
	tool string
	args map[string]any
	want func(reply) error
	// weight is how often it comes up beside the others, heavy ones less.
	weight int
}

// logData is the typed data of the log tools.
type logData struct {
	Events []json.RawMessage `json:"events"`
	Count  int               `json:"count"`
	Cutoff *struct {
		Bound string `json:"bound"`
		Limit int    `json:"limit"`
	} `json:"cutoff"`
	StopReason string `json:"stop_reason"`
}

// outcome writes an outcome as one word, so that two can be compared.
func outcome(r reply) (text string, d logData, err error) {
	p := r.Result.Structured
	if r.Error != nil || p == nil || len(r.Result.Content) != 1 {
		return "", d, fmt.Errorf("no result, error %v", r.Error)
	}
	if !json.Valid([]byte(r.Result.Content[0].Text)) {
		return "", d, fmt.Errorf("B6: the text is not JSON")
	}
	if p.OK == r.Result.IsError || p.OK != (p.Error == nil) {
		return "", d, fmt.Errorf("O1: ok %v, isError %v, error %v", p.OK, r.Result.IsError, p.Error)
	}
	if p.Data != nil {
		if err := json.Unmarshal(p.Data, &d); err != nil {
			return "", d, err
		}
	}
	if d.Count != len(d.Events) {
		return "", d, fmt.Errorf("E7: count is %d of %d", d.Count, len(d.Events))
	}
	switch {
	case !p.OK:
		text = fmt.Sprintf("failed/%s/%d", p.Error.Reason, p.ExitCode)
	case d.Cutoff != nil:
		text = fmt.Sprintf("cutoff/%s/%d", d.Cutoff.Bound, d.Cutoff.Limit)
	default:
		text = "complete"
	}
	return text, d, nil
}

// wants checks an outcome and the number of events; events below 0 is any number.
func wants(want string, events int, more ...func(*payload, logData) error) func(reply) error {
	return func(r reply) error {
		got, d, err := outcome(r)
		if err != nil {
			return err
		}
		if got != want {
			return fmt.Errorf("O1: %s, want %s; stderr %.100q", got, want, r.Result.Structured.Stderr)
		}
		if events >= 0 && d.Count != events {
			return fmt.Errorf("E7: %d events, want %d", d.Count, events)
		}
		for _, f := range more {
			if err := f(r.Result.Structured, d); err != nil {
				return err
			}
		}
		return nil
	}
}

func truncated(p *payload, _ logData) error {
	if !p.Truncated {
		return fmt.Errorf("C5: outputTruncated is not true")
	}
	return nil
}

func fromZero(_ *payload, d logData) error {
	for i, e := range d.Events {
		if want := fmt.Sprintf(`{"type":"log","n":%d,`, i); !strings.HasPrefix(string(e), want) && strings.HasPrefix(string(e), `{"type":"log"`) {
			return fmt.Errorf("E4: event %d is %.40s", i, e)
		}
	}
	return nil
}

// atMostOne is for commands that write one event, if they come to it in time.
func atMostOne(_ *payload, d logData) error {
	if d.Count > 1 {
		return fmt.Errorf("E7: %d events, want 1", d.Count)
	}
	return nil
}

func stderrIs(n int) func(*payload, logData) error {
	return func(p *payload, _ logData) error {
		if len(p.Stderr) != n {
			return fmt.Errorf("C1: %d bytes of stderr, want %d", len(p.Stderr), n)
		}
		return nil
	}
}

// kinds returns the kinds of calls, with numbers of their own.
func kinds(r *rand.Rand) []call {
	n := 1 + r.IntN(400)
	code := 1 + r.IntN(120)
	ms := 150 + r.IntN(250)
	snapshot := func(weight int, kind string, want func(reply) error) call {
		return call{tool: snapshotTool, args: map[string]any{"query": "kind=" + kind}, want: want, weight: weight}
	}
	tail := func(weight int, kind string, maxEvents, maxMs int, want func(reply) error) call {
		return call{tool: tailTool, args: map[string]any{"query": "kind=" + kind, "maxEvents": maxEvents, "maxMs": maxMs}, want: want, weight: weight}
	}
	of := func(kind string, n int) string { return fmt.Sprintf("%s=%d", kind, n) }
	return []call{
		snapshot(6, of("good", n), wants("complete", n+1, fromZero)),
		tail(6, of("good", n), n+1, 60000, wants("complete", n+1, fromZero)),
		tail(6, of("good", n), n, 60000, wants(fmt.Sprint("cutoff/events/", n), n, fromZero)),
		tail(4, "flood", n, 60000, wants(fmt.Sprint("cutoff/events/", n), n, fromZero)),
		snapshot(1, "flood", wants("cutoff/bytes/8388608", -1, truncated)),
		snapshot(1, "bytes", wants("cutoff/bytes/8388608", -1, truncated)),
		snapshot(1, "large", wants("complete", 7<<10, truncated, fromZero)),
		snapshot(2, of("stderr", n), wants("complete", n, stderrIs(300000))),
		snapshot(4, of("fail", code), wants(fmt.Sprint("failed/backend_error/", code), 3)),
		snapshot(3, "killed", wants("failed/backend_error/137", 2)),
		snapshot(3, "error", wants("failed/backend_error/0", 2)),
		tail(3, "reason", 100, 60000, wants("failed/backend_error/0", 2)),
		snapshot(3, of("partial", n), wants("complete", n, fromZero)),
		tail(3, "hang", 100, 1000+ms, wants(fmt.Sprint("cutoff/time/", 1000+ms), -1, atMostOne)),
		tail(2, "deaf", 100, 1000+ms, wants(fmt.Sprint("cutoff/time/", 1000+ms), -1, atMostOne)),
		tail(2, "stopped", 100, 1000+ms, wants(fmt.Sprint("cutoff/time/", 1000+ms), -1, atMostOne)),
		tail(2, "answer", 2, 60000, wants("cutoff/events/2", 2)),
		snapshot(1, of("family", n), wants("complete", n, fromZero)),
		{tool: tailTool, args: map[string]any{"maxMs": 0}, want: wants("failed/invalid_arguments/1", 0), weight: 2},
		{tool: snapshotTool, args: map[string]any{"projectName": "-none"}, want: refused, weight: 2},
		{tool: snapshotTool, args: map[string]any{"path": "/"}, want: refused, weight: 2},
		{tool: execTool, args: map[string]any{"service": "web", "cmd": []string{of("kind=fail", code)}}, want: commandEnds(code), weight: 3},
		{tool: execTool, args: map[string]any{"service": "web", "cmd": []string{of("kind=good", n)}}, want: commandEnds(0), weight: 3},
		{tool: listTool, args: map[string]any{"filter": of("kind=data", n)}, want: dataIs(fmt.Sprintf(`"projects":[%d]`, n)), weight: 3},
	}
}

func refused(r reply) error {
	p := r.Result.Structured
	if p == nil || p.OK || !r.Result.IsError || p.Spawned == nil || *p.Spawned {
		return fmt.Errorf("O11: not refused: %+v", p)
	}
	return nil
}

func commandEnds(code int) func(reply) error {
	return func(r reply) error {
		p := r.Result.Structured
		if p == nil || p.OK != (code == 0) || p.ExitCode != code {
			return fmt.Errorf("O12: %+v, want exit code %d", p, code)
		}
		return nil
	}
}

func dataIs(part string) func(reply) error {
	return func(r reply) error {
		p := r.Result.Structured
		if p == nil || !p.OK || !strings.Contains(string(p.Data), part) {
			return fmt.Errorf("O12: %+v, want %s in data", p, part)
		}
		return nil
	}
}

// pick draws a kind by its weight.
func pick(r *rand.Rand) call {
	list := kinds(r)
	total := 0
	for _, k := range list {
		total += k.weight
	}
	n := r.IntN(total)
	for _, k := range list {
		if n -= k.weight; n < 0 {
			return k
		}
	}
	panic("no kind")
}
