package logline

import (
	"bytes"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/tailrace/tailrace/internal/jsonstr"
)

// A Record is a line with what its backend knows of it. Empty members are left out of the
// event.
type Record struct {
	// Line is the text, without LF. A CR at its end is dropped.
	Line []byte
	// Time is when the backend took the line, which counts more than a time written in the
	// line. Zero: the line's own time counts, and where it has none, the clock.
	Time time.Time
	// Nanos adds entry.timestamp_ns. The time in entry.timestamp is then one of
	// milliseconds, as the reference writes the entries of Loki.
	Nanos bool
	// Stream is stdout or stderr. Service and Instance say what wrote the line.
	Stream, Service, Instance string
	// Level is the level that the backend gives, for a line that gives none itself.
	Level string
	// Labels are what the backend has attached to the line.
	Labels map[string]string
}

// AppendRecord appends one `log` event for a record, with an LF behind it. Stream and
// Service of the context are not looked at. What [AppendEvent] says holds here too.
func AppendRecord(dst []byte, r Record, c Context) []byte {
	line := bytes.TrimSuffix(r.Line, []byte{'\r'})
	var e entry
	e.detect(line)
	if e.level == "" {
		e.level = r.Level
	}
	// A year that RFC 3339 cannot write is a damaged time, and none.
	timed := !r.Time.IsZero() && r.Time.UTC().Year() >= 0 && r.Time.UTC().Year() <= 9999
	if timed {
		layout := time.RFC3339Nano
		if r.Nanos {
			layout = stampLayout
		}
		var stamp [len(time.RFC3339Nano)]byte
		e.stamp = r.Time.UTC().AppendFormat(stamp[:0], layout)
	}
	dst = append(dst, `{"type":"log","ts":"`...)
	if len(e.stamp) > 0 {
		dst = append(dst, e.stamp...)
	} else {
		now := time.Now
		if c.Now != nil {
			now = c.Now
		}
		dst = now().UTC().AppendFormat(dst, stampLayout)
	}
	dst = append(dst, '"')
	dst = member(dst, "project", c.Project)
	dst = member(dst, "backend", c.Backend)
	dst = member(dst, "branch", c.Branch)
	dst = append(dst, `,"entry":{"source":"`...)
	dst = jsonstr.Append(dst, []byte(c.Source))
	dst = append(dst, `","message":"`...)
	dst = e.message.appendTo(dst)
	dst = append(dst, `","raw":"`...)
	dst = jsonstr.Append(dst, line)
	dst = append(dst, '"')
	dst = member(dst, "stream", r.Stream)
	dst = member(dst, "project", c.Project)
	dst = member(dst, "service", r.Service)
	dst = member(dst, "instance", r.Instance)
	dst = appendLabels(dst, r.Labels)
	if r.Nanos && timed {
		dst = append(dst, `,"timestamp_ns":"`...)
		dst = append(strconv.AppendInt(dst, r.Time.UnixNano(), 10), '"')
	}
	dst = member(dst, "timestamp", string(e.stamp))
	dst = member(dst, "level", e.level)
	for i := range e.fields {
		if i == 0 {
			dst = append(dst, `,"fields":{"`...)
		} else {
			dst = append(dst, `,"`...)
		}
		dst = e.fields[i].key.appendTo(dst)
		dst = append(dst, `":"`...)
		dst = e.fields[i].value.appendTo(dst)
		dst = append(dst, '"')
	}
	if len(e.fields) > 0 {
		dst = append(dst, '}')
	}
	return append(dst, "}}\n"...)
}

// appendLabels appends labels in the order of their names.
func appendLabels(dst []byte, labels map[string]string) []byte {
	if len(labels) == 0 {
		return dst
	}
	dst = append(dst, `,"labels":{`...)
	for i, name := range slices.Sorted(maps.Keys(labels)) {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(jsonstr.Append(append(dst, '"'), []byte(name)), `":"`...)
		dst = append(jsonstr.Append(dst, []byte(labels[name])), '"')
	}
	return append(dst, '}')
}

// When returns the time that a record stands for: that of its backend, or the one that
// its line carries. ok is false where there is neither.
func (r Record) When() (t time.Time, ok bool) {
	if !r.Time.IsZero() {
		return r.Time, true
	}
	return Stamp(r.Line)
}
