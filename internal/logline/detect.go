package logline

import (
	"bytes"
	"time"

	"github.com/segmentio/encoding/json"

	"github.com/tailrace/tailrace/internal/jsonscan"
	"github.com/tailrace/tailrace/internal/jsonstr"
	"github.com/tailrace/tailrace/pipeline"
)

// A text is a piece of a line: plain, or the body of a JSON string as it was written.
type text struct {
	b       []byte
	escaped bool
}

// appendTo appends the text as the body of a JSON string.
func (t text) appendTo(dst []byte) []byte {
	if t.escaped {
		// The spelling stays; what strict readers refuse is repaired.
		return jsonscan.Repair(dst, t.b)
	}
	return jsonstr.Append(dst, t.b)
}

type field struct{ key, value text }

// An entry is what a line says of itself.
type entry struct {
	message text
	level   string
	stamp   []byte
	fields  []field
}

func (e *entry) detect(line []byte) {
	e.message = text{b: line}
	if payload := bytes.TrimSpace(line); len(payload) > 1 && payload[0] == '{' && payload[len(payload)-1] == '}' {
		if _, ok := jsonscan.Object(payload, pipeline.MaxDepth); ok {
			e.json(payload)
			return
		}
	}
	if e.logfmt(line) {
		return
	}
	e.plain(line)
}

// json reads the members of a valid object.
func (e *entry) json(object []byte) {
	var msg, message, level, lvl, severity []byte
	t := json.NewTokenizer(object)
	for t.Next() {
		if !t.IsKey || t.Depth != 1 {
			continue
		}
		key := t.Value
		if !t.Next() || !t.Next() { // the colon, the value
			return
		}
		value := []byte(t.Value)
		if t.Delim != 0 {
			continue // an array or an object: its own keys lie deeper
		}
		switch {
		case jsonscan.Is(key, "msg"):
			msg = value
		case jsonscan.Is(key, "message"):
			message = value
		case jsonscan.Is(key, "level"):
			level = value
		case jsonscan.Is(key, "lvl"):
			lvl = value
		case jsonscan.Is(key, "severity"):
			severity = value
		case jsonscan.Is(key, "time"), jsonscan.Is(key, "ts"), jsonscan.Is(key, "timestamp"):
			if isString(value) && len(e.stamp) == 0 {
				e.setStamp(value[1 : len(value)-1])
			}
		case value[0] != 'n':
			e.field(textOf(key), textOf(value))
		}
	}
	if isString(msg) {
		e.message = textOf(msg)
	} else if isString(message) {
		e.message = textOf(message)
	}
	for _, v := range [][]byte{level, lvl, severity} {
		if e.level = levelOf(v); e.level != "" {
			break
		}
	}
}

func isString(token []byte) bool { return len(token) > 1 && token[0] == '"' }

// textOf returns the text of a scalar token; numbers and booleans keep their spelling.
func textOf(token []byte) text {
	if isString(token) {
		body := token[1 : len(token)-1]
		return text{b: body, escaped: bytes.IndexByte(body, '\\') >= 0}
	}
	return text{b: token}
}

// field notes a field; of duplicates the last one stays.
func (e *entry) field(key, value text) {
	for i := range e.fields {
		if bytes.Equal(e.fields[i].key.b, key.b) {
			e.fields[i].value = value
			return
		}
	}
	if len(e.fields) < maxFields {
		e.fields = append(e.fields, field{key, value})
	}
}

// setStamp takes b as the line's time where it is RFC 3339.
func (e *entry) setStamp(b []byte) bool {
	if len(b) < len("2006-01-02T15:04:05Z") || len(b) > 40 || b[10] != 'T' || b[13] != ':' {
		return false
	}
	// The parser takes a comma for the point; RFC 3339 does not.
	if _, err := time.Parse(time.RFC3339Nano, string(b)); err != nil || bytes.IndexByte(b, ',') >= 0 {
		return false
	}
	e.stamp = b
	return true
}

// levelOf reads the level that a JSON token gives; "" where it gives none.
func levelOf(token []byte) string {
	if len(token) == 0 {
		return ""
	}
	if isString(token) {
		body, ok := jsonscan.Text(token)
		if !ok || body == "" {
			return ""
		}
		return levelWord([]byte(body))
	}
	return levelNumber(token)
}

// levelNumber reads a level of pino; "" where the token is no number.
func levelNumber(token []byte) string {
	if len(token) == 0 || token[0]-'0' > 9 {
		return ""
	}
	n := 0
	for _, c := range token {
		if c-'0' > 9 || n > 1000 {
			break
		}
		n = n*10 + int(c-'0')
	}
	switch {
	case n >= 50:
		return "error"
	case n >= 40:
		return "warn"
	case n >= 30:
		return "info"
	}
	return "debug"
}

// levelWord reads a level that is given by name: the usual words, any other as info.
func levelWord(word []byte) string {
	if level := knownLevel(word); level != "" {
		return level
	}
	return "info"
}

// Level returns the level that a usual word stands for, in any case; "" for any other.
func Level(word string) string { return knownLevel([]byte(word)) }

// knownLevel maps the usual words, in any case; "" for any other.
func knownLevel(word []byte) string {
	var lower [len("information")]byte
	if len(word) > len(lower) {
		return ""
	}
	for i, c := range word {
		if 'A' <= c && c <= 'Z' {
			c |= 0x20
		}
		lower[i] = c
	}
	switch string(lower[:len(word)]) {
	case "debug":
		return "debug"
	case "info", "information", "notice":
		return "info"
	case "warn", "warning":
		return "warn"
	case "error", "fatal", "panic":
		return "error"
	}
	return ""
}
