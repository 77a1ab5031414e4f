package logline

import (
	"bytes"
	"strings"
)

// logfmt reads a line of key=value pairs and bare keys. A line counts as logfmt only
// where it begins with a pair, has no more bare keys than pairs, and at least one of the
// usual keys is there, so that prose with an equals sign in it stays prose. A bare key
// is a field that is true.
func (e *entry) logfmt(line []byte) bool {
	rest := bytes.TrimSpace(line)
	if bytes.IndexByte(rest, '=') <= 0 {
		return false
	}
	var found entry
	var msg, message, level, lvl, severity []byte
	known, pairs := false, 0
	for len(rest) > 0 {
		key, value, after, ok := token(rest)
		if !ok {
			return false
		}
		rest = bytes.TrimLeft(after, " \t")
		if value == nil {
			if pairs--; pairs < 0 {
				return false
			}
			found.field(text{b: key}, text{b: []byte("true")})
			continue
		}
		pairs++
		switch string(key) {
		case "msg":
			msg, known = value, true
		case "message":
			message, known = value, true
		case "level":
			level = value
		case "lvl":
			lvl = value
		case "severity":
			severity = value
		case "time", "ts", "timestamp":
			known = true
			if len(found.stamp) > 0 || !found.setStamp(value) {
				found.field(text{b: key}, text{b: value})
			}
		default:
			found.field(text{b: key}, text{b: value})
		}
	}
	for _, v := range [][]byte{level, lvl, severity} {
		if len(v) > 0 {
			known = true
			if found.level = levelNumber(v); found.level == "" {
				found.level = levelWord(v)
			}
			break
		}
	}
	if !known {
		return false
	}
	switch {
	case msg != nil:
		found.message = text{b: msg}
	case message != nil:
		found.message = text{b: message}
	default:
		found.message = text{b: line}
	}
	*e = found
	return true
}

// token reads one key=value, or a bare key, whose value is nil. A value in quotes may
// hold spaces and escapes.
func token(b []byte) (key, value, rest []byte, ok bool) {
	i := bytes.IndexAny(b, "= \t\"")
	if i < 0 {
		i = len(b)
	}
	key, b = b[:i], b[i:]
	if !isKey(key) {
		return nil, nil, nil, false
	}
	if len(b) == 0 || b[0] == ' ' || b[0] == '\t' {
		return key, nil, b, true
	}
	if b[0] != '=' {
		return nil, nil, nil, false
	}
	if b = b[1:]; len(b) == 0 || b[0] != '"' {
		end := bytes.IndexAny(b, " \t")
		if end < 0 {
			end = len(b)
		}
		return key, b[:end], b[end:], bytes.IndexByte(b[:end], '"') < 0
	}
	for i := 1; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return key, unquote(b[1:i]), b[i+1:], i+1 == len(b) || b[i+1] == ' ' || b[i+1] == '\t'
		}
	}
	return nil, nil, nil, false
}

// isKey says whether b can be a key. Punctuation that prose has behind a word is none.
func isKey(b []byte) bool {
	for _, c := range b {
		if c <= ' ' || c >= 0x7f || strings.IndexByte("{}[]()\\,;:!?'`<>|", c) >= 0 {
			return false
		}
	}
	return len(b) > 0
}

// unquote resolves \" and \\ and the usual letters; any other escape stays as it is.
func unquote(b []byte) []byte {
	if bytes.IndexByte(b, '\\') < 0 {
		return b
	}
	out := make([]byte, 0, len(b))
	for i := 0; i < len(b); i++ {
		if b[i] != '\\' || i+1 == len(b) {
			out = append(out, b[i])
			continue
		}
		i++
		switch b[i] {
		case '"', '\\':
			out = append(out, b[i])
		case 'n':
			out = append(out, '\n')
		case 't':
			out = append(out, '\t')
		case 'r':
			out = append(out, '\r')
		default:
			out = append(out, '\\', b[i])
		}
	}
	return out
}

// plain reads a level word and a time that stand at the start of a line, as most loggers
// write them: in capitals or in brackets, behind nothing but what is in brackets or has
// a digit in it, as dates have and prose has not. The message stays the whole line.
func (e *entry) plain(line []byte) {
	rest := line
	for range 4 {
		rest = bytes.TrimLeft(rest, " \t]|")
		open := len(rest) > 0 && rest[0] == '['
		if open {
			rest = bytes.TrimLeft(rest[1:], " \t")
		}
		end := bytes.IndexAny(rest, " \t]|")
		if end < 0 {
			end = len(rest)
		}
		if end == 0 || end > 40 {
			return
		}
		word := rest[:end]
		rest = rest[end:]
		closed := len(rest) > 0 && rest[0] == ']'
		name, _, _ := bytes.Cut(word, []byte{':'})
		if level := knownLevel(name); level != "" && (open && closed || isUpper(name)) {
			e.level = level
			return
		}
		if len(e.stamp) == 0 {
			e.setStamp(bytes.TrimRight(word, ":,"))
		}
		if !open && !bytes.ContainsAny(word, "0123456789") {
			return
		}
	}
}

// isUpper says whether a word is in capitals, as levels are and prose is not.
func isUpper(b []byte) bool {
	for _, c := range b {
		if c < 'A' || c > 'Z' {
			return false
		}
	}
	return true
}
