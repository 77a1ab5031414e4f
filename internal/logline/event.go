// Package logline turns a line of a log into a `log` event: it finds the message, the
// level, the time and the fields in JSON, logfmt and plain lines, and keeps the line as
// it was in entry.raw.
package logline

import (
	"bytes"
	"time"

	"github.com/tailrace/tailrace/internal/jsonstr"
)

// A Context is what an event says besides the line. Empty members are left out.
type Context struct {
	// Backend and Source name where the line came from: the event's backend and the entry's source.
	Backend, Source string
	// Project, Branch and Service say what it belongs to; Stream is stdout or stderr.
	Project, Branch, Service, Stream string
	// Now is the clock for lines without a time of their own; nil means time.Now.
	Now func() time.Time
}

const (
	stampLayout = "2006-01-02T15:04:05.000Z"
	// maxFields bounds the fields of an entry, and with it the cost of a hostile line.
	maxFields = 64
)

// AppendEvent appends one `log` event for line, with an LF behind it. The line has no
// LF; a CR at its end is dropped. The event is one strict JSON object in valid UTF-8,
// whatever the line holds. AppendEvent is safe for concurrent use.
func AppendEvent(dst, line []byte, c Context) []byte {
	return AppendRecord(dst, Record{Line: line, Stream: c.Stream, Service: c.Service}, c)
}

func member(dst []byte, name, value string) []byte {
	if value == "" {
		return dst
	}
	dst = append(append(append(dst, `,"`...), name...), `":"`...)
	return append(jsonstr.Append(dst, []byte(value)), '"')
}

// Stamp returns the time that the line itself carries, as it is written there; ok is
// false where it carries none.
func Stamp(line []byte) (t time.Time, ok bool) {
	var e entry
	e.detect(bytes.TrimSuffix(line, []byte{'\r'}))
	if len(e.stamp) == 0 {
		return time.Time{}, false
	}
	t, err := time.Parse(time.RFC3339Nano, string(e.stamp))
	return t, err == nil
}
