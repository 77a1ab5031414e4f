package proptest

import (
	"bytes"
	"encoding/json"
	"strings"
)

// A Piece is some bytes of one stream, in the order in which they were written.
type Piece struct {
	Stderr bool
	Data   []byte
}

// A Run is what the naive reference says of an input.
type Run struct {
	Stdout, Stderr []byte
	Events         []string
	// Bound is "", "bytes", "events" or "time".
	Bound  string
	Failed bool
	// Ended says that the source had ended by itself when the bound was reached.
	Ended bool
}

// Limits are what a run is held to, and how its source ends.
type Limits struct {
	// Bytes and Events are the bounds. An Events of 0 is none.
	Bytes, Events int
	// TimeOver says that the time was over when the last piece had been read.
	TimeOver bool
	// ExitCode is the source's.
	ExitCode int
}

// Collect is rules C, E and O, the slow way: the whole input in memory, one rule after
// the other.
func Collect(pieces []Piece, l Limits) Run {
	var r Run
	for i, p := range pieces { // C1: one budget for both streams, in the order of reading
		room := l.Bytes - len(r.Stdout) - len(r.Stderr)
		data := p.Data
		if len(data) > room {
			data, r.Bound = data[:room], "bytes"
		}
		if p.Stderr {
			r.Stderr = append(r.Stderr, data...)
		} else {
			r.Stdout = append(r.Stdout, data...)
		}
		natural := i == len(pieces)-1 && r.Bound == "" && !l.TimeOver                            // E3: the end completes a last line
		if logs, end := countTo(r.Stdout, l.Events, natural); l.Events > 0 && logs == l.Events { // E8, C6
			r.Bound, r.Stdout, r.Ended = "events", r.Stdout[:min(end, len(r.Stdout))], natural && end > len(r.Stdout)
		}
		if r.Bound != "" {
			break
		}
	}
	if r.Bound == "" && l.TimeOver {
		r.Bound = "time"
	}
	if r.Bound != "" { // C3
		r.Stderr = whole(r.Stderr)
		r.Stdout = whole(r.Stdout)
	}
	evidence := false
	for _, line := range linesOf(r.Stdout, r.Bound == "" || r.Ended) {
		event, kind, reason, ok := parse(line)
		if !ok {
			continue
		}
		r.Events = append(r.Events, event)
		if kind == `"error"` || kind == `"end"` && reason != "" && reason != `"eof"` && reason != `"closed"` { // O2
			evidence = true
		}
	}
	r.Failed = evidence || (r.Bound == "" || r.Ended) && l.ExitCode != 0 // O2, O3
	return r
}

// linesOf splits at LF; a last line without one counts only at a natural end (E1, E3).
func linesOf(b []byte, natural bool) [][]byte {
	lines := bytes.Split(b, []byte("\n"))
	if last := lines[len(lines)-1]; len(last) == 0 || !natural {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// countTo counts the log events up to max and says where the line of the last one ends.
func countTo(stdout []byte, max int, natural bool) (logs, end int) {
	for _, line := range linesOf(stdout, natural) {
		end += len(line) + 1
		if _, kind, _, ok := parse(line); ok && kind == `"log"` {
			if logs++; logs == max {
				return logs, end
			}
		}
	}
	return logs, end
}

// parse says whether a line is an event (E1, E2, E5), and what its last type and reason
// members are, as canonical JSON; "" where there is none (E6).
func parse(line []byte) (event, kind, reason string, ok bool) {
	line = bytes.Trim(bytes.TrimPrefix(line, []byte("\ufeff")), " \t\r")
	if len(line) == 0 || line[0] != '{' || !json.Valid(line) || depth(line) > 512 {
		return "", "", "", false
	}
	event = strings.ReplaceAll(pairSurrogates(string(decode(line))), "\r", " ")
	d := json.NewDecoder(strings.NewReader(event))
	d.UseNumber()
	d.Token() // the brace
	for d.More() {
		name, _ := d.Token()
		var value json.RawMessage
		if d.Decode(&value) != nil {
			return "", "", "", false
		}
		text := canonical(value)
		switch name {
		case "type":
			kind = text
		case "reason":
			reason = text
		}
	}
	return event, kind, reason, true
}

// canonical writes a string value in its plain spelling; other values get a spelling
// that no string has.
func canonical(value json.RawMessage) string {
	var s string
	if value[0] != '"' || json.Unmarshal(value, &s) != nil {
		return "not a string"
	}
	b, _ := json.Marshal(s)
	return string(b)
}

// depth is the deepest nesting of a valid JSON text.
func depth(line []byte) (deepest int) {
	level, inString := 0, false
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '{' || c == '[':
			level++
			deepest = max(deepest, level)
		case c == '}' || c == ']':
			level--
		}
	}
	return deepest
}

// pairSurrogates replaces each surrogate escape that is not half of a pair (E5).
func pairSurrogates(s string) string {
	var out strings.Builder
	for i := 0; i < len(s); {
		if s[i] != '\\' {
			out.WriteByte(s[i])
			i++
			continue
		}
		switch high := surrogate(s[i:]); {
		case high == 'h' && surrogate(s[i+6:]) == 'l':
			out.WriteString(s[i : i+12])
			i += 12
		case high != 0:
			out.WriteString(`\ufffd`)
			i += 6
		default:
			out.WriteString(s[i : i+2])
			i += 2
		}
	}
	return out.String()
}

// surrogate says whether s starts with an escaped high ('h') or low ('l') surrogate.
func surrogate(s string) byte {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return 0
	}
	switch hex := strings.ToLower(s[2:4]); {
	case hex >= "d8" && hex <= "db":
		return 'h'
	case hex >= "dc" && hex <= "df":
		return 'l'
	}
	return 0
}
