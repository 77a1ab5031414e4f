// Package pretty writes log records for people: one line each, or an indented block, with
// the local time, the level, the service and the message in columns.
//
// Log text is written by others. Whatever a terminal would act on, or not show, is written
// as a visible escape (package visible); the only control sequences in the output are the
// colours that this package puts there itself.
package pretty

import (
	"bytes"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/tailrace/tailrace/internal/logline"
	"github.com/tailrace/tailrace/internal/visible"
)

// Options are the settings of a [Formatter]. The zero value is without colours, in the
// local time of the system.
type Options struct {
	// Color says that colours are written.
	Color bool
	// Location is the time zone of the times; nil means [time.Local].
	Location *time.Location
	// Now is the clock: a day that is not today is named. nil means [time.Now].
	Now func() time.Time
	// Services are names of services, in the order of their colours. Columns are made wide
	// enough for them from the beginning. Others are added when they are met.
	Services []string
}

const (
	// maxLabel is the widest column of services, in characters. Longer names push their
	// line to the right.
	maxLabel = 24
	clock    = "15:04:05.000"
	day      = "2006-01-02"
)

// The sequences of colours. Services have neither red nor yellow, which are for levels.
const (
	reset = "\x1b[0m"
	dim   = "\x1b[2m"
	red   = "\x1b[1;31m"
	amber = "\x1b[33m"
)

var serviceColors = [...]string{"\x1b[36m", "\x1b[32m", "\x1b[34m", "\x1b[35m", "\x1b[96m", "\x1b[92m", "\x1b[94m", "\x1b[95m"}

// A Formatter writes records. It remembers which services it has met and which day it was,
// and is for one goroutine at a time.
type Formatter struct {
	o      Options
	colors map[string]string
	width  int
	day    string
	// timed and leveled say that a line had a time, or a level.
	timed, leveled bool
}

// New returns a formatter.
func New(o Options) *Formatter {
	if o.Location == nil {
		o.Location = time.Local
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	f := &Formatter{o: o, colors: map[string]string{}, day: o.Now().In(o.Location).Format(day)}
	for _, s := range o.Services {
		f.meet(s)
	}
	return f
}

// meet gives a service its colour and makes room for it.
func (f *Formatter) meet(label string) {
	if _, known := f.colors[label]; known || label == "" {
		return
	}
	f.colors[label] = serviceColors[len(f.colors)%len(serviceColors)]
	f.width = max(f.width, min(utf8.RuneCountInString(label), maxLabel))
}

// Append appends one record to dst.
func (f *Formatter) Append(dst []byte, r logline.Record) []byte {
	v := r.View()
	lines := strings.Split(strings.TrimRight(v.Message, "\r\n"), "\n")
	dst, indent := f.appendHead(dst, r, v)
	for i, line := range lines {
		if i > 0 {
			dst = appendIndent(dst, indent)
		}
		dst = visible.Append(dst, []byte(strings.TrimSuffix(line, "\r")))
		if i == 0 {
			dst = f.appendFields(dst, v)
		}
		dst = append(dst, '\n')
	}
	return dst
}

// AppendBlock appends lines that belong together, each as it is. first is the record of the
// first of them.
func (f *Formatter) AppendBlock(dst []byte, first logline.Record, lines [][]byte) []byte {
	if len(lines) == 1 {
		return f.Append(dst, first)
	}
	whole := first
	whole.Line = bytes.Join(lines, []byte{'\n'})
	dst, indent := f.appendHead(dst, first, whole.View())
	for i, line := range lines {
		if i > 0 {
			dst = appendIndent(dst, indent)
		}
		dst = append(visible.Append(dst, bytes.TrimSuffix(line, []byte{'\r'})), '\n')
	}
	return dst
}

// appendHead appends what stands before a message, and returns how wide that is.
func (f *Formatter) appendHead(dst []byte, r logline.Record, v logline.View) (out []byte, indent int) {
	// The columns of time and level are there from the first line on that has one.
	f.timed = f.timed || !v.Time.IsZero()
	f.leveled = f.leveled || v.Level != ""
	switch {
	case !v.Time.IsZero():
		at := v.Time.In(f.o.Location)
		if d := at.Format(day); d != f.day {
			f.day = d
			dst = f.colored(dst, dim, "--- "+d+" ---")
			dst = append(dst, '\n')
		}
		dst = append(f.colored(dst, dim, at.Format(clock)), ' ')
	case f.timed:
		dst = appendIndent(dst, len(clock)+1)
	}
	if f.timed {
		indent += len(clock) + 1
	}
	if f.leveled {
		dst = append(f.colored(dst, levelColors[v.Level], levelTag(v.Level)), ' ')
		indent += len("ERROR") + 1
	}
	label := visible.String(r.Service)
	if r.Instance != "" {
		label += "-" + visible.String(r.Instance)
	}
	f.meet(label)
	if f.width > 0 {
		n := utf8.RuneCountInString(label)
		dst = f.colored(dst, f.colors[label], label)
		dst = append(appendIndent(dst, f.width-n), ' ')
		indent += max(n, f.width) + 1
	}
	mark := "|"
	if r.Stream == "stderr" {
		mark = "!"
	}
	return append(f.colored(dst, dim, mark), ' '), indent + len("| ")
}

var levelColors = map[string]string{"error": red, "warn": amber, "debug": dim}

// levelTag is a level in five characters.
func levelTag(level string) string {
	return (strings.ToUpper(level) + "     ")[:len("ERROR")]
}

// appendFields appends the fields behind the message. A value with spaces or quotes in it
// stands in quotes, so that it is clear where it ends.
func (f *Formatter) appendFields(dst []byte, v logline.View) []byte {
	for i, field := range v.Fields {
		if i > 0 || v.Message != "" {
			dst = append(dst, ' ')
		}
		value := field.Value
		if value == "" || strings.ContainsAny(value, " \t\n\r\"") && value[0] != '{' && value[0] != '[' {
			value = strconv.Quote(value)
		}
		dst = f.colored(dst, dim, visible.String(field.Key)+"=")
		dst = visible.Append(dst, []byte(value))
	}
	return dst
}

// colored appends text that is safe, in a colour where that is wanted.
func (f *Formatter) colored(dst []byte, color, text string) []byte {
	if !f.o.Color || color == "" || strings.TrimSpace(text) == "" {
		return append(dst, text...)
	}
	dst = append(append(dst, color...), text...)
	return append(dst, reset...)
}

func appendIndent(dst []byte, n int) []byte {
	for ; n > 0; n-- {
		dst = append(dst, ' ')
	}
	return dst
}
