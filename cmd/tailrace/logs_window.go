package main

import (
	"strings"
	"time"

	"github.com/tailrace/tailrace/internal/logline"
)

// A timeWindow keeps the lines of one source whose time lies in it, both ends included.
// A line without a time belongs to the line before it on its stream, as the lines of a
// stack trace do. Lines before the first time are kept: nothing says that they are
// outside. The zero value keeps every line.
type timeWindow struct {
	since, until time.Time // zero: no such end

	lines, timed bool
	outside      [2]bool // whether the line before was, by stream
}

func (w *timeWindow) set() bool { return !w.since.IsZero() || !w.until.IsZero() }

// blind says that there were lines, and not one of them told its time.
func (w *timeWindow) blind() bool { return w.set() && w.lines && !w.timed }

func (w *timeWindow) holds(r logline.Record) bool {
	if !w.set() {
		return true
	}
	w.lines = true
	outside := &w.outside[0]
	if r.Stream == "stderr" {
		outside = &w.outside[1]
	}
	if t, ok := recordTime(r); ok {
		w.timed = true
		*outside = !w.since.IsZero() && t.Before(w.since) || !w.until.IsZero() && t.After(w.until)
	}
	return !*outside
}

// recordTime returns the time of a record: that of its backend, or the one of its line.
func recordTime(r logline.Record) (time.Time, bool) {
	if !r.Time.IsZero() {
		return r.Time, true
	}
	return lineTime(r.Line)
}

// lineTime returns the time that a line carries. Besides what an event takes as its
// time, that is a date and a time of day with a space between them, at the start of the
// line; it says nothing of its zone and is taken as local.
func lineTime(line []byte) (time.Time, bool) {
	if t, ok := logline.Stamp(line); ok {
		return t, true
	}
	const layout = "2006-01-02 15:04:05"
	if len(line) < len(layout) || line[4] != '-' || line[13] != ':' {
		return time.Time{}, false
	}
	end := len(layout)
	// A fraction after a comma or a dot is read too; the parser knows both.
	if end < len(line) && (line[end] == '.' || line[end] == ',') {
		for end++; end < len(line) && end < len(layout)+10 && line[end] >= '0' && line[end] <= '9'; {
			end++
		}
	}
	text := strings.TrimRight(string(line[:end]), ".,")
	t, err := time.ParseInLocation(layout, text, time.Local)
	return t, err == nil
}
