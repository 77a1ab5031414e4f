package install

import (
	"bytes"
	"strings"

	"github.com/tailscale/hujson"
)

// hasComma says whether a comma follows member i.
func hasComma(o *hujson.Object, i int) bool {
	// The parser leaves this nil where there is none, and else not.
	return i < len(o.Members)-1 || o.Members[i].Value.AfterExtra != nil
}

// comma returns the offset of the comma behind member i.
func comma(o *hujson.Object, i int) int {
	v := o.Members[i].Value
	return v.EndOffset + len(v.AfterExtra)
}

// afterComments returns how much of a piece between two tokens is to stay before what is
// inserted: all up to the end of its last comment, without the line end of a line
// comment. line says that the last comment ends with its line.
func afterComments(extra []byte) (n int, line bool) {
	for i := 0; i < len(extra); i++ {
		switch rest := extra[i:]; {
		case bytes.HasPrefix(rest, []byte("//")):
			i += end(rest, "\n") - 1
			n, line = i, true
			if extra[i] != '\n' { // the last line of the file
				n++
			}
			if n > 0 && extra[n-1] == '\r' {
				n--
			}
		case bytes.HasPrefix(rest, []byte("/*")):
			i += 1 + end(rest[2:], "*/")
			n, line = i+1, false
		}
	}
	return n, line
}

// insert returns the edits that add a member at the end of an object that has some. The
// text of the member is made for the indent of its line; its first line has none.
func (t *jsonText) insert(o *hujson.Object, member func(indent string) string) []Edit {
	last := len(o.Members) - 1
	v := o.Members[last].Value
	own := bytes.ContainsRune(o.Members[last].Name.BeforeExtra, '\n')
	indent := t.indentAt(o.Members[last].Name.StartOffset)

	from := v.EndOffset
	if hasComma(o, last) {
		from = comma(o, last) + 1
	}
	n, line := afterComments(o.AfterExtra)
	sep := " "
	if own || line {
		sep = t.nl + indent
	}
	text := sep + member(indent)
	if hasComma(o, last) {
		return []Edit{{At: from + n, New: text + ","}}
	}
	return ordered([]Edit{{At: from, New: ","}, {At: from + n, New: text}})
}

// fill returns the edits that add a member to an object that has none. The object is a
// value that begins at start.
func (t *jsonText) fill(o *hujson.Object, start int, ownLine bool, member func(indent string) string) []Edit {
	n, line := afterComments(o.AfterExtra)
	at := start + 1 + n
	indent := t.indentAt(start) + t.unit()
	if line || ownLine && bytes.ContainsRune(o.AfterExtra[n:], '\n') {
		return []Edit{{At: at, New: t.nl + indent + member(indent)}}
	}
	return []Edit{{At: at, New: member(t.indentAt(start))}}
}

// remove returns the edits that take member i out of an object. Comments stay.
func (t *jsonText) remove(o *hujson.Object, i int) []Edit {
	m := o.Members[i]
	before := m.Name.BeforeExtra
	n, line := afterComments(before)
	from, to := m.Name.StartOffset-len(before)+n, m.Value.EndOffset
	out := cut(t.text, from, to)
	rest := to // where the text goes on
	var edits []Edit
	switch {
	case hasComma(o, i):
		edits = append(edits, cut(t.text, comma(o, i), comma(o, i)+1))
		if comma(o, i) == rest {
			rest++
		}
	case i > 0:
		edits = append(edits, cut(t.text, comma(o, i-1), comma(o, i-1)+1))
	}
	if line && !strings.HasPrefix(strings.TrimLeft(string(t.text[rest:]), " \t\r"), "\n") {
		// What follows must not become a part of the comment.
		out.New = t.nl
	}
	return ordered(append(edits, out))
}

// indentAt returns the white space at the start of the line of an offset.
func (t *jsonText) indentAt(offset int) string {
	from := bytes.LastIndexByte(t.text[:offset], '\n') + 1
	to := from
	for to < offset && (t.text[to] == ' ' || t.text[to] == '\t') {
		to++
	}
	return string(t.text[from:to])
}

// unit returns what one level of the text is indented by.
func (t *jsonText) unit() string {
	if o, ok := t.root.Value.(*hujson.Object); ok && len(o.Members) > 0 {
		first := o.Members[0].Name
		if bytes.ContainsRune(first.BeforeExtra, '\n') {
			if indent := t.indentAt(first.StartOffset); indent != "" {
				return indent
			}
		}
	}
	return "  "
}
