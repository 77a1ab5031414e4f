package logline

import (
	"bytes"
	"encoding/json"
	"strconv"
	"time"

	"github.com/tailrace/tailrace/internal/jsonscan"
	"github.com/tailrace/tailrace/pipeline"
)

// A View is what a person wants to see of a record. All of its texts are decoded and may
// hold anything, line ends and control characters included.
type View struct {
	// Message is the message, or the line where it has none of its own. It is "" for a JSON
	// object without one.
	Message string
	// Level is debug, info, warn, error, or "" where none is known.
	Level string
	// Time is when the line was written; zero where that is not known.
	Time time.Time
	// Fields are the other members of a JSON object or of logfmt, in their order. Values of
	// JSON that are no scalars are JSON texts on one line.
	Fields []Field
}

// A Field is one member of a line.
type Field struct{ Key, Value string }

// View returns what a person wants to see of a record.
func (r Record) View() View {
	line := bytes.TrimSuffix(r.Line, []byte{'\r'})
	var e entry
	e.detect(line)
	v := View{Level: e.level, Message: e.message.string()}
	if v.Level == "" {
		v.Level = r.Level
	}
	if r.Time.IsZero() {
		v.Time, _ = time.Parse(time.RFC3339Nano, string(e.stamp)) // the zero time where there is none
	} else {
		v.Time = r.Time
	}
	payload := bytes.TrimSpace(line)
	if _, ok := jsonscan.Object(payload, pipeline.MaxDepth); ok {
		v.object(payload, &e)
		return v
	}
	if v.Message != string(line) {
		for _, f := range e.fields {
			v.Fields = append(v.Fields, Field{f.key.string(), f.value.string()})
		}
		return v
	}
	if rest, ok := bytes.CutPrefix(payload, e.stamp); ok && len(e.stamp) > 0 && r.Time.IsZero() && len(rest) > 0 {
		v.Message = string(bytes.TrimLeft(rest, " \t"))
	}
	return v
}

// object reads the members of a valid object that are not shown elsewhere.
func (v *View) object(object []byte, e *entry) {
	dec := json.NewDecoder(bytes.NewReader(object))
	if _, err := dec.Token(); err != nil {
		return
	}
	found := false
	for dec.More() {
		token, err := dec.Token()
		key, ok := token.(string)
		var raw json.RawMessage
		if err != nil || !ok || dec.Decode(&raw) != nil {
			return
		}
		value := scalar(raw)
		switch key {
		case "msg", "message":
			if isString(raw) && value == v.Message {
				found = true
				continue
			}
		case "level", "lvl", "severity":
			if levelOf(raw) != "" {
				continue
			}
		case "time", "ts", "timestamp":
			if len(e.stamp) > 0 && isString(raw) && value == string(e.stamp) {
				continue
			}
			if t, ok := epoch(raw); ok && (v.Time.IsZero() || v.Time.Equal(t)) {
				v.Time = t
				continue
			}
		}
		v.Fields = append(v.Fields, Field{key, value})
	}
	switch {
	case len(v.Fields) == 0 && !found:
		v.Message = string(object) // so that something is seen
	case !found:
		v.Message = ""
	}
}

// scalar decodes a string, and writes anything else on one line.
func scalar(raw json.RawMessage) string {
	if text, ok := jsonscan.Text(raw); ok {
		return text
	}
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return string(raw)
	}
	return b.String()
}

// epoch reads a number of seconds or milliseconds since 1970 of the years 2001 to 2286.
func epoch(raw json.RawMessage) (time.Time, bool) {
	n, err := strconv.ParseFloat(string(raw), 64)
	switch {
	case err != nil:
	case n >= 1e9 && n < 1e10:
		return time.UnixMilli(int64(n * 1000)), true
	case n >= 1e12 && n < 1e13:
		return time.UnixMilli(int64(n)), true
	}
	return time.Time{}, false
}

// string decodes a text.
func (t text) string() string {
	if !t.escaped {
		return string(t.b)
	}
	s, _ := jsonscan.Text(append(append([]byte{'"'}, t.b...), '"')) // it was a string of valid JSON
	return s
}
