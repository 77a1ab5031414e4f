package proptest

import (
	"fmt"
	"strings"
)

// A Text is a string of a result, one code point (or one broken sequence) an element.
type Text []string

// A Result is a tool result as the budget is given it.
type Result struct {
	OK, Truncated, NotSpawned, Log, Tail, HasError bool

	Exit           int
	Stdout, Stderr Text
	// Texts are the command, the message, reason and code of the error, and the stop reason.
	Texts  [5]Text
	Events []string
	// Bound and Limit are the cutoff; a Bound of "" is none.
	Bound string
	Limit int64
	// Data is the JSON of a command that is no log collection; "" for none.
	Data string
}

// Sizes are the limits of a budget, in bytes.
type Sizes struct{ Max, View, Floor, Reserve int }

// A draft is a result on its way to fit: what is left of it, and what it says of that.
type draft struct {
	Result
	all                 int // events before any was dropped
	told                int // the limit that is told where events were dropped
	cut, noNote, noData bool
}

const note = "[tailrace] this result was cut to fit its size limit; ask for less: fewer events, a shorter time range, one service\n"

// Fit is rules B2 to B9, the slow way: serialize, measure, cut a little, measure again.
func Fit(r Result, s Sizes) string {
	whole := draft{Result: r, all: len(r.Events)}
	room := s.Max - s.Reserve
	if all := whole.result(whole); len(all) <= room {
		return all
	}
	view, content := whole, whole
	view.told, content.told = min(s.View, s.Max/4), s.Max
	view = view.fit(min(view.told, room/4), s.Floor)
	around := len(whole.result(view)) - len(whole.json())
	return content.fit(room-around, s.Floor).result(view)
}

// Whole is the payload without any budget.
func Whole(r Result) string { return draft{Result: r, all: len(r.Events)}.json() }

// fit cuts d to limit bytes in the order of rule B3.
func (d draft) fit(limit, floor int) draft {
	fits := func() bool { return len(d.json()) <= limit }
	shrink := func(t *Text) bool { // to its largest prefix with which d fits (B7)
		for whole, n := *t, len(*t); n >= 0; n-- {
			if *t = whole[:n]; fits() {
				return true
			}
		}
		return false
	}
	if fits() {
		return d
	}
	d.cut = true
	stderr := d.Stderr
	floored := stderr
	for len(plain(floored)) > floor {
		floored = floored[:len(floored)-1]
	}
	if d.Log {
		if shrink(&d.Stdout) {
			return d
		}
		d.Stderr = floored
		for n := len(d.Events) - 1; n >= 0 && !fits(); n-- {
			d.Events = d.Events[:n]
		}
	} else {
		if d.noData = true; fits() {
			return d
		}
		d.Stderr = floored
		shrink(&d.Stdout)
	}
	if d.Stderr = stderr; shrink(&d.Stderr) {
		return d
	}
	texts := d.Texts // B8: the last resort
	for _, d.noNote = range []bool{false, true, true} {
		d.Texts = texts
		for i := range d.Texts {
			if shrink(&d.Texts[i]) {
				return d
			}
		}
		d.noData = d.noData || d.noNote
	}
	d.Texts, d.noNote, d.Events = [5]Text{}, true, nil
	return d
}

// result is the tool result around d, with the given view in its text.
func (d draft) result(view draft) string {
	end := "}"
	if !d.OK {
		end = `,"isError":true}`
	}
	return `{"content":[{"type":"text","text":` + quote(view.json()) + `}],"structuredContent":` + d.json() + end
}

// json is d as it is written.
func (d draft) json() string {
	stderr := plain(d.Stderr)
	if d.cut && !d.noNote { // B4
		if stderr != "" && !strings.HasSuffix(stderr, "\n") {
			stderr += "\n"
		}
		stderr += note
	}
	s := fmt.Sprintf(`{"ok":%t`, d.OK)
	if d.cut || d.Truncated {
		s += `,"outputTruncated":true`
	}
	s += fmt.Sprintf(`,"command":%s,"exitCode":%d,"stdout":%s,"stderr":%s`, quote(plain(d.Texts[0])), d.Exit, quote(plain(d.Stdout)), quote(stderr))
	switch {
	case d.noData:
	case d.Log:
		if len(d.Events) < d.all { // B5
			d.Bound, d.Limit = "bytes", int64(d.told)
		}
		cutoff := "null"
		if d.OK && d.Bound != "" {
			cutoff = fmt.Sprintf(`{"bound":%s,"limit":%d}`, quote(d.Bound), d.Limit)
		}
		s += fmt.Sprintf(`,"data":{"events":[%s],"count":%d,"cutoff":%s`, strings.Join(d.Events, ","), len(d.Events), cutoff)
		if d.Tail {
			s += fmt.Sprintf(`,"stop_reason":%s,"duration_ms":12,"limits":{"tail":7,"maxEvents":null,"maxMs":5000}}`, quote(plain(d.Texts[4])))
		} else {
			s += `,"limits":{"tail":7}}`
		}
	case d.Data != "":
		s += `,"data":` + d.Data
	}
	if d.NotSpawned {
		s += `,"spawned":false`
	}
	if d.HasError {
		s += fmt.Sprintf(`,"error":{"code":%s,"reason":%s,"message":%s}`, quote(plain(d.Texts[3])), quote(plain(d.Texts[2])), quote(plain(d.Texts[1])))
	}
	return s + "}"
}

// plain is what a reader sees of a text.
func plain(t Text) string {
	var s strings.Builder
	for _, unit := range t {
		s.Write(decode([]byte(unit)))
	}
	return s.String()
}

// quote writes a JSON string with no more escapes than JSON needs (B2).
func quote(s string) string {
	out := []byte{'"'}
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			out = append(out, '\\', c)
		case c < ' ' && strings.IndexByte("\b\f\n\r\t", c) >= 0:
			out = append(out, '\\', "bfnrt"[strings.IndexByte("\b\f\n\r\t", c)])
		case c < ' ':
			out = fmt.Appendf(out, `\u%04x`, c)
		default:
			out = append(out, c)
		}
	}
	return string(append(out, '"'))
}
