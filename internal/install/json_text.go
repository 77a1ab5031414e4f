package install

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/tailscale/hujson"
)

// maxDepth bounds the nesting of a configuration, since the parser recurses.
const maxDepth = 1000

var byteOrderMark = []byte("\xef\xbb\xbf")

// A jsonText is a parsed JSON file. Offsets of the tree are those of text.
type jsonText struct {
	text []byte // without the byte order mark
	root hujson.Value
	nl   string
}

// parseJSON reads a file. Comments and trailing commas are errors where strict, for the
// client then does not read the file.
func parseJSON(text []byte, strict bool) (*jsonText, error) {
	if at := tooDeep(text); at >= 0 {
		return nil, problemAt(text, at, ErrDeep)
	}
	if strict {
		var any json.RawMessage
		var syntax *json.SyntaxError
		if err := json.Unmarshal(text, &any); errors.As(err, &syntax) {
			at := max(int(syntax.Offset)-1, 0)
			if _, err := hujson.Parse(withEnd(text)); err == nil {
				return nil, problemAt(text, at, ErrStrict)
			}
			return nil, problemAt(text, at, ErrSyntax)
		}
	}
	root, err := hujson.Parse(withEnd(text))
	if err != nil {
		p := &Problem{Line: 1, Column: 1, Reason: ErrSyntax}
		// The text of the error is the only place where the parser says where.
		_, _ = fmt.Sscanf(err.Error(), "hujson: line %d, column %d:", &p.Line, &p.Column)
		return nil, p
	}
	return &jsonText{text: text, root: root, nl: newline(text)}, nil
}

// withEnd ends the last line, since the parser takes no line comment without an end.
func withEnd(text []byte) []byte { return append(bytes.Clone(text), '\n') }

// tooDeep returns where a text is nested deeper than maxDepth, or -1. It knows strings
// and comments, and takes a broken text as it comes.
func tooDeep(text []byte) int {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch rest := text[i:]; {
		case rest[0] == '"':
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		case bytes.HasPrefix(rest, []byte("//")):
			i += end(rest, "\n")
		case bytes.HasPrefix(rest, []byte("/*")):
			i += 1 + end(rest[2:], "*/")
		case rest[0] == '{' || rest[0] == '[':
			if depth++; depth > maxDepth {
				return i
			}
		case rest[0] == '}' || rest[0] == ']':
			depth--
		}
	}
	return -1
}

// end returns the offset behind the first mark in a text.
func end(text []byte, mark string) int {
	if i := bytes.Index(text, []byte(mark)); i >= 0 {
		return i + len(mark)
	}
	return len(text)
}

func (t *jsonText) problem(at int, reason error) *Problem { return problemAt(t.text, at, reason) }

// object returns a value as an object.
func (t *jsonText) object(v hujson.Value) (*hujson.Object, error) {
	o, ok := v.Value.(*hujson.Object)
	if !ok {
		return nil, t.problem(v.StartOffset, ErrShape)
	}
	return o, nil
}

// member returns the index of a member, or -1. A name that is there twice is an error:
// readers disagree which of them counts.
func (t *jsonText) member(o *hujson.Object, name string) (int, error) {
	found := -1
	for i, m := range o.Members {
		if literal(m.Name) != name {
			continue
		}
		if found >= 0 {
			return -1, t.problem(m.Name.StartOffset, ErrTwice)
		}
		found = i
	}
	return found, nil
}

// literal returns the text of a string value.
func literal(v hujson.Value) string {
	l, ok := v.Value.(hujson.Literal)
	if !ok || l.Kind() != '"' {
		return ""
	}
	return l.String()
}

// stringList returns an array of strings.
func stringList(v hujson.Value) ([]string, bool) {
	a, ok := v.Value.(*hujson.Array)
	if !ok {
		return nil, false
	}
	var out []string
	for _, e := range a.Elements {
		l, ok := e.Value.(hujson.Literal)
		if !ok || l.Kind() != '"' {
			return nil, false
		}
		out = append(out, l.String())
	}
	return out, true
}
