package jsonscan

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// check holds all of the package against encoding/json and a naive repair, for one line.
func check(t *testing.T, line []byte) {
	t.Helper()
	const maxDepth = 512
	info, ok := Object(line, maxDepth)
	want := len(line) > 1 && line[0] == '{' && line[len(line)-1] == '}' && json.Valid(line) && depth(line) <= maxDepth
	if ok != want {
		t.Fatalf("E2, E5 Object says %v of %q", ok, line)
	}
	if !ok {
		return
	}
	checkMembers(t, line, info)
	checkRepair(t, line, info)
}

// checkMembers compares type and reason with the last ones that encoding/json reads.
func checkMembers(t *testing.T, line []byte, info Info) {
	t.Helper()
	var members map[string]json.RawMessage
	if err := json.Unmarshal(line, &members); err != nil {
		t.Fatal(err)
	}
	for name, span := range map[string]Span{"type": info.Type, "reason": info.Reason} {
		raw, found := members[name]
		if got := string(line[span.Start:span.End]); got != string(raw) || (span.End != 0) != found {
			t.Errorf("E6 %s is %q, want %q, in %q", name, got, raw, line)
		}
	}
	for name, raw := range members {
		var want string
		isString := raw[0] == '"' && json.Unmarshal(repaired(raw), &want) == nil
		text, ok := Text(raw)
		if ok != isString || text != want {
			t.Errorf("Text(%q) = %q, %v, want %q, %v", raw, text, ok, want, isString)
		}
		// Without its last character: a part of one is no text that Is is asked for.
		_, last := utf8.DecodeLastRuneInString(want)
		if Is(raw, want) != isString || Is(raw, want+"x") || want != "" && Is(raw, want[:len(want)-last]) {
			t.Errorf("E6 Is(%q) is wrong about %q", raw, want)
		}
		if Is([]byte(name), name) {
			t.Errorf("Is takes %q for a string token", name)
		}
	}
}

// checkRepair compares the repaired line with the naive one and with its value.
func checkRepair(t *testing.T, line []byte, info Info) {
	t.Helper()
	fixed := Repair([]byte("x"), line)[1:]
	if want := repaired(line); !bytes.Equal(fixed, want) {
		t.Fatalf("E5 Repair(%q) = %q, want %q", line, fixed, want)
	}
	if bytes.Equal(fixed, line) == info.Repair {
		t.Errorf("E5 Repair is %v of %q, which is repaired to %q", info.Repair, line, fixed)
	}
	if !utf8.Valid(fixed) || !json.Valid(fixed) || bytes.ContainsAny(fixed, "\r\n") {
		t.Errorf("E5 %q is repaired to %q", line, fixed)
	}
	if again, ok := Object(fixed, MaxDepth); !ok || again.Repair {
		t.Errorf("E5 a repaired object needs repair: %q", fixed)
	}
	if got, want := value(t, fixed), value(t, valid(line)); got != want {
		t.Errorf("E4 repair changed the value of %q: %s, want %s", line, got, want)
	}
}

// valid is b with U+FFFD for each maximal invalid subpart; encoding/json would take
// each byte for one.
func valid(b []byte) []byte {
	var out []byte
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		if r == utf8.RuneError && n == 1 {
			for n < len(b) && !utf8.FullRune(b[:n+1]) {
				n++
			}
		}
		out = utf8.AppendRune(out, r)
		b = b[n:]
	}
	return out
}

var escapeSequence = regexp.MustCompile(`(?i)\\(?:u(d[89ab]..)\\u(d[c-f]..)|u....|.)`)

// repaired is the naive repair: one substitution after the other.
func repaired(line []byte) []byte {
	line = escapeSequence.ReplaceAllFunc(valid(line), func(escape []byte) []byte {
		if len(escape) == 6 && strings.ContainsRune("dD", rune(escape[2])) && escape[3] > '7' {
			return []byte(`\ufffd`)
		}
		return escape
	})
	return []byte(strings.NewReplacer("\r", " ", "\n", " ").Replace(string(line)))
}

// value is the object as encoding/json reads it, number spellings kept.
func value(t *testing.T, line []byte) string {
	d := json.NewDecoder(bytes.NewReader(line))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func depth(line []byte) (deepest int) {
	d, in := 0, false
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case in && c == '\\':
			i++
		case c == '"':
			in = !in
		case in:
		case c == '{' || c == '[':
			d++
			deepest = max(deepest, d)
		case c == '}' || c == ']':
			d--
		}
	}
	return deepest
}
