package logline

import "bytes"

// logfmt reads a line of key=value pairs. A line counts as logfmt only where each token
// is a pair and at least one of the usual keys is there, so that prose with an equals
// sign in it stays prose.
func (e *entry) logfmt(line []byte) bool {
	rest := bytes.TrimSpace(line)
	if bytes.IndexByte(rest, '=') <= 0 {
		return false
	}
	var found entry
	known := false
	for len(rest) > 0 {
		key, value, after, ok := pair(rest)
		if !ok {
			return false
		}
		rest = bytes.TrimLeft(after, " \t")
		switch string(key) {
		case "msg", "message":
			found.message, known = value, true
		case "level", "lvl", "severity":
			if len(value.b) > 0 {
				found.level, known = levelWord(string(value.b)), true
			}
		case "time", "ts", "timestamp":
			if found.setStamp(value.b) {
				known = true
			} else {
				found.field(text{b: key}, value)
			}
		default:
			found.field(text{b: key}, value)
		}
	}
	if !known {
		return false
	}
	if found.message.b == nil {
		found.message = text{b: line}
	}
	*e = found
	return true
}

// pair reads one key=value; a value in quotes may hold spaces and escapes.
func pair(b []byte) (key []byte, value text, rest []byte, ok bool) {
	i := bytes.IndexAny(b, "= \t\"")
	if i <= 0 || b[i] != '=' {
		return nil, text{}, nil, false
	}
	key, b = b[:i], b[i+1:]
	for _, c := range key {
		if c <= ' ' || c >= 0x7f || c == '{' || c == '}' || c == '\\' {
			return nil, text{}, nil, false
		}
	}
	if len(b) == 0 || b[0] != '"' {
		end := bytes.IndexAny(b, " \t")
		if end < 0 {
			end = len(b)
		}
		if bytes.IndexByte(b[:end], '"') >= 0 {
			return nil, text{}, nil, false
		}
		return key, text{b: b[:end]}, b[end:], true
	}
	for i := 1; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return key, text{b: unquote(b[1:i])}, b[i+1:], i+1 == len(b) || b[i+1] == ' ' || b[i+1] == '\t'
		}
	}
	return nil, text{}, nil, false
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
// write them. The message stays the whole line.
func (e *entry) plain(line []byte) {
	rest := line
	for range 4 {
		rest = bytes.TrimLeft(rest, " \t[")
		end := bytes.IndexAny(rest, " \t]|")
		if end <= 0 || end > 40 {
			return
		}
		word := bytes.TrimRight(rest[:end], ":,")
		rest = rest[end:]
		if len(e.stamp) == 0 && e.setStamp(word) {
			rest = bytes.TrimLeft(rest, "]")
			continue
		}
		if level := knownLevel(string(word)); level != "" && (isUpper(word) || line[0] == '[' || rest[0] == ']') {
			e.level = level
			return
		}
		rest = bytes.TrimLeft(rest, "]")
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
