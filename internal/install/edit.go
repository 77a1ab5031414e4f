package install

import (
	"bytes"
	"slices"
)

// An Edit replaces a piece of a text.
type Edit struct {
	// At is where the piece begins, in bytes from the start of the text.
	At int
	// Old is the piece, New what takes its place. Either can be empty.
	Old, New string
}

// apply returns the text after the edits, which are in order and do not overlap.
func apply(text []byte, edits []Edit) []byte {
	var out bytes.Buffer
	done := 0
	for _, e := range edits {
		out.Write(text[done:e.At])
		out.WriteString(e.New)
		done = e.At + len(e.Old)
	}
	out.Write(text[done:])
	return out.Bytes()
}

// cut returns the edit that removes a piece.
func cut(text []byte, from, to int) Edit { return Edit{At: from, Old: string(text[from:to])} }

// ordered sorts edits by place and joins those that touch.
func ordered(edits []Edit) []Edit {
	slices.SortStableFunc(edits, func(a, b Edit) int { return a.At - b.At })
	var out []Edit
	for _, e := range edits {
		if n := len(out); n > 0 && out[n-1].At+len(out[n-1].Old) == e.At {
			out[n-1].Old += e.Old
			out[n-1].New += e.New
			continue
		}
		if e.Old != "" || e.New != "" {
			out = append(out, e)
		}
	}
	return out
}

// newline returns how the lines of a text end.
func newline(text []byte) string {
	if bytes.Contains(text, []byte("\r\n")) {
		return "\r\n"
	}
	return "\n"
}
