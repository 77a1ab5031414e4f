package project

import (
	"strings"
	"unicode/utf8"
)

// maxNameLength bounds a project name, in characters.
const maxNameLength = 253

// nameKey returns what two spellings of one project name have in common: lower case,
// with a dash for each run of separators, and nothing but letters, digits and dashes.
// It is "" for a name that holds none of them. The hack command line compares names
// the same way.
func nameKey(name string) string {
	var key strings.Builder
	dash := false
	for _, r := range strings.ToLower(strings.TrimSpace(name)) {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			if dash && key.Len() > 0 {
				key.WriteByte('-')
			}
			dash = false
			key.WriteRune(r)
		case r == '_', r == ' ', r == '/', r == '-':
			dash = true
		}
	}
	return key.String()
}

// ValidName says whether name can be the name of a project: at least one letter or
// digit, at most 253 characters, valid UTF-8 and no control characters.
func ValidName(name string) bool {
	if nameKey(name) == "" || !utf8.ValidString(name) || utf8.RuneCountInString(name) > maxNameLength {
		return false
	}
	return !strings.ContainsFunc(name, func(r rune) bool { return r < 0x20 || r >= 0x7f && r <= 0x9f })
}

// SameName says whether two spellings mean the same project.
func SameName(a, b string) bool {
	key := nameKey(a)
	return key != "" && key == nameKey(b)
}
