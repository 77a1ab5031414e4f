package e2e

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

var loneEscape = regexp.MustCompile(`(?i)\\u(d[89ab][0-9a-f]{2})(\\u(d[c-f][0-9a-f]{2}))?|\\u(d[c-f][0-9a-f]{2})`)

// checkResult checks what holds for every result, and decodes it.
func checkResult(t *testing.T, f frame) result {
	t.Helper()
	r := result{raw: f.msg.Result, frame: f.raw}
	if err := json.Unmarshal(f.msg.Result, &r); err != nil {
		t.Fatalf("B8: the result does not decode: %v", err)
	}
	if len(r.raw) > resultLimit {
		t.Errorf("B2: the result has %d bytes, more than %d", len(r.raw), resultLimit)
	}
	if len(f.raw) > clientBuffer-65535 {
		t.Errorf("B2: the frame has %d bytes", len(f.raw))
	}
	if !utf8.Valid(f.raw) {
		t.Error("C4: the frame is not UTF-8")
	}
	if i := bytes.IndexFunc(f.raw[:len(f.raw)-1], func(r rune) bool { return r < 0x20 && r != '\t' }); i >= 0 {
		t.Errorf("C4: a raw control character at byte %d of the frame", i)
	}
	for _, m := range loneEscape.FindAllSubmatch(unescapedBackslashes(f.raw), -1) {
		if len(m[2]) == 0 {
			t.Errorf("E5: a lone surrogate escape %s in the frame", m[0])
			break
		}
	}
	if len(r.Content) != 1 || r.Content[0].Type != "text" || r.Content[0].Text == "" {
		t.Fatalf("content is not one text")
	}
	checkPayload(t, "structuredContent", r.Structured, r.IsError)
	view := r.view(t)
	checkPayload(t, "content", view, r.IsError)
	if deref(view.OutputTruncated) && !deref(r.Structured.OutputTruncated) && len(r.Content[0].Text) > textViewLimit {
		t.Errorf("B3: the view has %d bytes", len(r.Content[0].Text))
	}
	return r
}

// unescapedBackslashes blanks escaped backslashes, so that \\ud800 is not taken for an escape.
func unescapedBackslashes(b []byte) []byte { return bytes.ReplaceAll(b, []byte(`\\`), []byte("__")) }

func deref(b *bool) bool { return b != nil && *b }

// checkPayload checks O1: exactly one outcome, told the same way everywhere.
func checkPayload(t *testing.T, channel string, p payload, isError bool) {
	t.Helper()
	if p.OK == isError {
		t.Errorf("O1 %s: ok is %v beside isError %v", channel, p.OK, isError)
	}
	if p.OK && p.Error != nil || !p.OK && p.Error == nil {
		t.Errorf("O1 %s: ok is %v beside error %v", channel, p.OK, p.Error)
	}
	if !p.OK && p.Data.Cutoff != nil {
		t.Errorf("O1 %s: a failure with a cutoff", channel)
	}
	if p.Data.Count != len(p.Data.Events) {
		t.Errorf("E7 %s: count is %d for %d events", channel, p.Data.Count, len(p.Data.Events))
	}
	if p.OutputTruncated != nil && !*p.OutputTruncated {
		t.Errorf("%s: outputTruncated is false instead of absent", channel)
	}
}

// view decodes the text channel.
func (r result) view(t *testing.T) payload {
	t.Helper()
	var p payload
	if err := json.Unmarshal([]byte(r.Content[0].Text), &p); err != nil {
		t.Fatalf("B6: the text view is not JSON: %v", err)
	}
	return p
}

// types counts the events by their type.
func (p payload) types(t *testing.T) map[string]int {
	t.Helper()
	n := map[string]int{}
	for _, raw := range p.Data.Events {
		var e map[string]any
		if err := json.Unmarshal(raw, &e); err != nil {
			t.Fatalf("an event does not decode: %v", err)
		}
		kind, _ := e["type"].(string)
		n[kind]++
	}
	return n
}

// each decodes every log event's members.
func (p payload) logs(t *testing.T) []map[string]any {
	t.Helper()
	var out []map[string]any
	for _, raw := range p.Data.Events {
		var e map[string]any
		if err := json.Unmarshal(raw, &e); err != nil {
			t.Fatalf("an event does not decode: %v", err)
		}
		if e["type"] == "log" {
			out = append(out, e)
		}
	}
	return out
}

// messages returns entry.message of every log event.
func (p payload) messages(t *testing.T) []string {
	t.Helper()
	var out []string
	for _, e := range p.logs(t) {
		entry, _ := e["entry"].(map[string]any)
		m, _ := entry["message"].(string)
		out = append(out, m)
	}
	return out
}

// numbers returns a numeric member of every log event.
func (p payload) numbers(t *testing.T, member string) []int {
	t.Helper()
	var out []int
	for _, e := range p.logs(t) {
		n, ok := e[member].(float64)
		if !ok {
			if entry, _ := e["entry"].(map[string]any); entry != nil {
				n, ok = entry[member].(float64)
			}
		}
		if !ok {
			t.Fatalf("a log without %s", member)
		}
		out = append(out, int(n))
	}
	return out
}

func (r result) wantComplete(t *testing.T, logs int) {
	t.Helper()
	p := r.Structured
	if !p.OK || r.IsError || p.Data.Cutoff != nil || p.Error != nil {
		t.Fatalf("O1: not complete: ok %v, cutoff %+v, error %+v, exit %d, stderr %.200q", p.OK, p.Data.Cutoff, p.Error, p.ExitCode, p.Stderr)
	}
	r.wantLogs(t, logs)
}

func (r result) wantCutoff(t *testing.T, bound string, limit int) {
	t.Helper()
	p := r.Structured
	if !p.OK || r.IsError || p.Error != nil || p.Data.Cutoff == nil {
		t.Fatalf("O1: not cut off: ok %v, cutoff %+v, error %+v", p.OK, p.Data.Cutoff, p.Error)
	}
	if *p.Data.Cutoff != (cutoff{bound, limit}) {
		t.Errorf("O7: cutoff is %+v, want %s/%d", *p.Data.Cutoff, bound, limit)
	}
}

func (r result) wantFailure(t *testing.T, exitCode int) {
	t.Helper()
	p := r.Structured
	if p.OK || !r.IsError || p.Data.Cutoff != nil || p.Error == nil {
		t.Fatalf("O2: not a backend failure: ok %v, cutoff %+v, error %+v", p.OK, p.Data.Cutoff, p.Error)
	}
	if p.Error.Code != "E_UNEXPECTED" || p.Error.Reason != "backend_error" || p.Error.Message == "" {
		t.Errorf("O6: error is %+v", *p.Error)
	}
	if p.ExitCode != exitCode {
		t.Errorf("O2: exitCode is %d, want %d", p.ExitCode, exitCode)
	}
}

func (r result) wantLogs(t *testing.T, logs int) {
	t.Helper()
	if n := r.Structured.types(t)["log"]; n != logs {
		t.Errorf("%d logs, want %d", n, logs)
	}
}

// wantRefused checks O11: refused before anything was started, without a word of the value.
func (r result) wantRefused(t *testing.T, value string) {
	t.Helper()
	p := r.Structured
	if p.OK || !r.IsError || p.Spawned == nil || *p.Spawned || p.ExitCode != 1 || p.Stdout != "" || p.Error == nil {
		t.Fatalf("O11: not refused: ok %v, spawned %v, exit %d, error %+v", p.OK, p.Spawned, p.ExitCode, p.Error)
	}
	if value != "" && (strings.Contains(p.Error.Message, value) || strings.Contains(p.Stderr, value) || strings.Contains(p.Command, value)) {
		t.Errorf("S9: the refusal repeats the value: %q / %q", p.Error.Message, p.Stderr)
	}
}
