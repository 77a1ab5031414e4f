package e2e

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func snapshotOf(t *testing.T, name string, env ...string) result {
	t.Helper()
	return start(t, casePath(t, name), env...).call(snapshotTool, nil)
}

func TestCaseD1_C3_SplitCodePoints(t *testing.T) {
	t.Parallel()
	r := snapshotOf(t, "d1-split-codepoints.py")
	r.wantComplete(t, 3)
	for _, m := range r.Structured.messages(t) {
		if m != "né ≤ € 🚀 漢" {
			t.Errorf("C4: message %q", m)
		}
	}
	if r.Structured.Stderr != "warn — 🚀\n" {
		t.Errorf("C4: stderr %q", r.Structured.Stderr)
	}
	if bytes.ContainsRune(r.frame, utf8.RuneError) {
		t.Error("C3: a U+FFFD in the frame")
	}
}

func TestCaseD2_E5_LoneSurrogates(t *testing.T) {
	r := snapshotOf(t, "d2-lone-surrogates.py")
	r.wantComplete(t, 5)
	events := string(mustJSON(t, r.Structured.Data.Events))
	if !strings.Contains(events, `whole \ud83d\ude80`) {
		t.Error("E5: the valid pair did not stay")
	}
	if n := strings.Count(events, `\ufffd`); n != 2+1+0+1 && n != 4 {
		t.Errorf("E5: %d replaced escapes", n)
	}
	if got := r.Structured.messages(t)[2]; got != "\ufffd🚀" {
		t.Errorf("E5: high-high-low reads %q", got)
	}
}

func TestCaseD3_B6_ViewCutEmoji(t *testing.T) {
	r := snapshotOf(t, "d3-view-cut-emoji.py")
	r.wantComplete(t, 4000)
	if r.Structured.OutputTruncated != nil {
		t.Error("B4: outputTruncated on a structuredContent that fits")
	}
	text := r.Content[0].Text
	v := r.view(t)
	if len(text) > textViewLimit || !deref(v.OutputTruncated) || v.Data.Cutoff == nil || *v.Data.Cutoff != (cutoff{"bytes", textViewLimit}) {
		t.Errorf("B6: %d bytes, %v, %+v", len(text), v.OutputTruncated, v.Data.Cutoff)
	}
	if strings.ContainsRune(text, utf8.RuneError) {
		t.Error("B9: a U+FFFD in the view")
	}
	if v.Stdout != "" {
		t.Error("B6: events were dropped before stdout")
	}
	if v.Data.Count == 0 {
		t.Error("B7: an empty view")
	}
}

func TestCaseE1_BOMAndCRLF(t *testing.T) {
	r := snapshotOf(t, "e1-bom-crlf.py")
	r.wantComplete(t, 3)
	if got := r.Structured.types(t); got["start"] != 1 || got["end"] != 1 {
		t.Errorf("E1: events %v", got)
	}
	if !strings.HasPrefix(r.Structured.Stdout, "\ufeff{") || strings.Count(r.Structured.Stdout, "\r\n") != 5 {
		t.Error("E1: stdout does not keep BOM and CR")
	}
}

func TestCaseE2_E1_UnicodeSeparators(t *testing.T) {
	r := snapshotOf(t, "e2-unicode-separators.py")
	r.wantComplete(t, 3)
	for i, sep := range []string{"\u2028", "\u2029", "\u0085"} {
		if m := r.Structured.messages(t)[i]; m != "left"+sep+"right" {
			t.Errorf("E1: message %q", m)
		}
	}
	if bytes.ContainsAny(r.frame[:len(r.frame)-1], "\r\n") {
		t.Error("the response is not one physical line")
	}
}

func TestCaseE3_E2_PrettyPrinted(t *testing.T) {
	r := snapshotOf(t, "e3-pretty-printed.py")
	r.wantComplete(t, 2)
	if got := r.Structured.messages(t); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("E2: messages %q", got)
	}
}

func TestCaseE4_E5_NotJSON(t *testing.T) {
	r := snapshotOf(t, "e4-nan-infinity.py")
	r.wantComplete(t, 2)
	if r.Structured.Data.Count != 4 {
		t.Errorf("E5: %d events, want 4", r.Structured.Data.Count)
	}
}

func TestCaseE5_E6_DuplicateKeys(t *testing.T) {
	r := snapshotOf(t, "e5-duplicate-keys.py")
	r.wantComplete(t, 3)
	if !bytes.Contains(r.Structured.Data.Events[1], []byte(`"message":"first","message":"second"`)) {
		t.Errorf("E4: duplicate keys were not kept: %s", r.Structured.Data.Events[1])
	}
}

func TestCaseE6_E5_DeepNesting(t *testing.T) {
	s := start(t, casePath(t, "e6-deep-nesting.py"))
	s.call(snapshotTool, nil).wantComplete(t, 2)
	s.call(snapshotTool, nil).wantComplete(t, 2)
}

func TestCaseE7_E3_PartialLines(t *testing.T) {
	t.Parallel()
	r := snapshotOf(t, "e7-partial-lines.py")
	r.wantComplete(t, 3)
	if r.Structured.types(t)["start"] != 1 || r.Structured.Data.Count != 4 {
		t.Errorf("events %v", r.Structured.types(t))
	}
	if !strings.HasSuffix(r.Structured.Stdout, `{"type":"log","ts":"2026-01`) {
		t.Error("E2: the fragment is not at the end of stdout")
	}
}

func TestCaseE8_C4_ANSI(t *testing.T) {
	r := snapshotOf(t, "e8-ansi.py")
	r.wantComplete(t, 2)
	if bytes.IndexByte(r.frame, 0x1b) >= 0 {
		t.Error("C4: a raw ESC in the response")
	}
	if got := r.Structured.messages(t)[0]; got != "\x1b[31mred\x1b[0m" {
		t.Errorf("C4: message %q", got)
	}
}

func TestCaseF1_E2_Split16K(t *testing.T) {
	r := snapshotOf(t, "f1-split-16k.py")
	r.wantComplete(t, 2)
	if n := strings.Count(strings.ReplaceAll(r.Structured.Stdout, "\n", ""), strings.Repeat("k", 40000)); n != 1 {
		t.Errorf("E2: stdout does not keep the pieces byte for byte: %d", n)
	}
}

func TestCaseF2_S10_RestartRepeats(t *testing.T) {
	r := snapshotOf(t, "f2-restart-repeats.py")
	r.wantComplete(t, 10)
	if got := r.Structured.numbers(t, "n"); !slices.Equal(got, []int{1, 2, 3, 4, 5, 4, 5, 6, 7, 8}) {
		t.Errorf("S10: order %v", got)
	}
}

func TestCaseF3_E2_SwitchesToText(t *testing.T) {
	s := start(t, casePath(t, "f3-switches-to-text.py"))
	r := s.call(snapshotTool, nil)
	r.wantComplete(t, 3)
	if r.Structured.Data.Count != 4 || strings.Count(r.Structured.Stdout, "plain line") != 50 {
		t.Errorf("E2: %d events, %d text lines", r.Structured.Data.Count, strings.Count(r.Structured.Stdout, "plain line"))
	}
	if strings.Contains(s.stderr.String(), "plain line") || strings.Count(s.stderr.String(), "\n") > 20 {
		t.Error("S9: the server logs what it reads")
	}
}

func TestCaseL1_C4_OEMCodepage(t *testing.T) {
	r := snapshotOf(t, "l1-oem-codepage.py")
	r.wantComplete(t, 2)
	// GBK D6 D0 CE C4: D6 and D0 lead nothing, CE C4: CE is followed by no continuation; four subparts.
	if got := r.Structured.messages(t)[0]; got != strings.Repeat("\ufffd", 4) {
		t.Errorf("C4: GBK message reads %q", got)
	}
	if !strings.Contains(r.Structured.Stdout, "caf\ufffd \ufffdquoted\ufffd") {
		t.Errorf("C4: stdout loses valid text")
	}
	var e map[string]any
	if json.Unmarshal(r.Structured.Data.Events[1], &e) != nil {
		t.Error("the event does not decode")
	}
}
