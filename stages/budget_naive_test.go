package stages_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tailrace/tailrace/pipeline"
	"github.com/tailrace/tailrace/stages"
)

// An atom is one code point of a text: its raw bytes, and what a reader sees of them.
type atom struct{ raw, text string }

// naive is a payload in the form that the plain twin of the budget works on: texts are
// lists of code points, and the size of anything is the length of its serialization.
type naive struct {
	ok, truncated, notSpawned, tail, hasLog, hasError bool

	exit           int
	stdout, stderr []atom
	events         []string
	all            int // events before any was dropped
	cutoff         pipeline.Cutoff
	stop           string
	data           string
	texts          [5][]atom // command, message, reason, code, stop

	cut, noNote, noData bool
	limit               int
}

func raw(a []atom) string {
	var s strings.Builder
	for _, a := range a {
		s.WriteString(a.raw)
	}
	return s.String()
}

func text(a []atom) string {
	var s strings.Builder
	for _, a := range a {
		s.WriteString(a.text)
	}
	return s.String()
}

// quote is encoding/json's string without any escaping for HTML or JavaScript.
func quote(s string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		panic(err)
	}
	in := strings.TrimSuffix(b.String(), "\n")
	if !strings.Contains(in, `\u202`) {
		return in
	}
	var out strings.Builder
	for i := 0; i < len(in); i++ {
		switch {
		case strings.HasPrefix(in[i:], `\u2028`):
			out.WriteString("\u2028")
			i += 5
		case strings.HasPrefix(in[i:], `\u2029`):
			out.WriteString("\u2029")
			i += 5
		case in[i] == '\\':
			out.WriteString(in[i : i+2])
			i++
		default:
			out.WriteByte(in[i])
		}
	}
	return out.String()
}

func (n naive) json() string {
	stderr := text(n.stderr)
	if n.cut && !n.noNote {
		if stderr != "" && !strings.HasSuffix(stderr, "\n") {
			stderr += "\n"
		}
		stderr += stages.CutNote
	}
	s := fmt.Sprintf(`{"ok":%t`, n.ok)
	if n.cut || n.truncated {
		s += `,"outputTruncated":true`
	}
	s += fmt.Sprintf(`,"command":%s,"exitCode":%d,"stdout":%s,"stderr":%s`,
		quote(text(n.texts[0])), n.exit, quote(text(n.stdout)), quote(stderr))
	switch {
	case n.noData:
	case n.hasLog:
		cutoff := n.cutoff
		if len(n.events) < n.all {
			cutoff = pipeline.Cutoff{Bound: pipeline.BytesBound, Limit: int64(n.limit)}
		}
		told := "null"
		if n.ok && cutoff.Bound != pipeline.NoBound {
			told = fmt.Sprintf(`{"bound":"%v","limit":%d}`, cutoff.Bound, cutoff.Limit)
		}
		s += fmt.Sprintf(`,"data":{"events":[%s],"count":%d,"cutoff":%s`, strings.Join(n.events, ","), len(n.events), told)
		if n.tail {
			s += fmt.Sprintf(`,"stop_reason":%s,"duration_ms":12,"limits":{"tail":7,"maxEvents":null,"maxMs":5000}}`, quote(text(n.texts[4])))
		} else {
			s += `,"limits":{"tail":7}}`
		}
	case n.data != "":
		s += `,"data":` + n.data
	}
	if n.notSpawned {
		s += `,"spawned":false`
	}
	if n.hasError {
		s += fmt.Sprintf(`,"error":{"code":%s,"reason":%s,"message":%s}`, quote(text(n.texts[3])), quote(text(n.texts[2])), quote(text(n.texts[1])))
	}
	return s + "}"
}

// fit cuts n to limit as rule B3 says, by serializing, dropping one, serializing again.
func (n naive) fit(limit, floor int) naive {
	fits := func() bool { return len(n.json()) <= limit }
	shrink := func(part *[]atom) bool { // the largest prefix that fits
		for whole, k := *part, len(*part); k >= 0; k-- {
			if *part = whole[:k]; fits() {
				return true
			}
		}
		return false
	}
	if fits() {
		return n
	}
	n.cut = true
	stderr := n.stderr
	floored := stderr
	for len(text(floored)) > floor {
		floored = floored[:len(floored)-1]
	}
	if n.hasLog {
		if shrink(&n.stdout) {
			return n
		}
		n.stderr = floored
		for k := n.all; k > 0 && !fits(); {
			k--
			n.events = n.events[:k]
		}
	} else {
		n.noData = true
		if fits() {
			return n
		}
		n.stderr = floored
		shrink(&n.stdout)
	}
	n.stderr = stderr
	if shrink(&n.stderr) {
		return n
	}
	texts := n.texts
	for range 3 {
		for i := range n.texts {
			if shrink(&n.texts[i]) {
				return n
			}
		}
		if n.noNote {
			n.noData = true
		}
		n.noNote, n.texts = true, texts
	}
	return n.smallest()
}

func (n naive) smallest() naive {
	n.cut, n.noNote, n.noData = true, true, true
	n.stdout, n.stderr, n.events, n.texts = nil, nil, nil, [5][]atom{}
	return n
}

// result is the plain twin of Budget.AppendResult.
func (n naive) result(b stages.Budget) string {
	write := func(view, content naive) string {
		end := "}"
		if !n.ok {
			end = `,"isError":true}`
		}
		return `{"content":[{"type":"text","text":` + quote(view.json()) + `}],"structuredContent":` + content.json() + end
	}
	room := b.MaxBytes - b.Reserve
	if s := write(n, n); len(s) <= room {
		return s
	}
	view, content := n, n
	view.limit = min(b.ViewBytes, b.MaxBytes/4)
	content.limit = b.MaxBytes
	view = view.fit(min(view.limit, room/4), b.StderrFloor)
	around := len(write(view, n)) - len(n.json())
	content = content.fit(room-around, b.StderrFloor)
	return write(view, content)
}

// payload is n as the budget takes it.
func (n naive) payload() *stages.Payload {
	p := &stages.Payload{
		OK: n.ok, OutputTruncated: n.truncated, Command: raw(n.texts[0]), ExitCode: n.exit,
		Stdout: []byte(raw(n.stdout)), Stderr: []byte(raw(n.stderr)), NotSpawned: n.notSpawned,
	}
	if n.hasError {
		p.Error = &stages.PayloadError{Code: raw(n.texts[3]), Reason: raw(n.texts[2]), Message: raw(n.texts[1])}
	}
	if n.data != "" {
		p.Data = json.RawMessage(n.data)
	}
	if n.hasLog {
		tail, maxMs := int64(7), int64(5000)
		p.Log = &stages.LogData{Events: listOf(n.events...), Cutoff: n.cutoff, Tail: n.tail, DurationMs: 12, Limits: stages.LogLimits{Tail: &tail}}
		if n.tail {
			p.Log.StopReason, p.Log.Limits.MaxMs = pipeline.StopReason(raw(n.texts[4])), &maxMs
		}
	}
	return p
}

func listOf(events ...string) *stages.EventList {
	var l stages.EventList
	for _, e := range events {
		l.Append(stages.Event{Raw: []byte(e), Kind: stages.KindLog})
	}
	return &l
}
