package inventory

import "strings"

// envFile reads the names of a file of variables.
//
// Libraries for such files return values, which are not wanted here, and expand
// variables in them, so that a small file can become a very large value.
func (r *reader) envFile(full string) {
	text, ok := r.read(full)
	if !ok {
		return
	}
	p, ok := r.path(full)
	if !ok {
		return
	}
	e := EnvFile{Path: p, Names: []string{}}
	names, whole := envNames(string(text))
	for _, name := range names {
		e.Names = r.add(e.Names, name, envRE)
	}
	e.Partial = !whole
	r.out.EnvFiles = append(r.out.EnvFiles, e)
}

// envNames returns what stands before the equals signs of assignments. It ends at the
// first line that is none: what follows could be the rest of a value that was meant to
// have several lines. Whole says that there was no such line.
func envNames(text string) (names []string, whole bool) {
	text = strings.TrimPrefix(text, "\ufeff")
	for text != "" {
		line, rest, _ := strings.Cut(text, "\n")
		line = strings.Trim(line, " \t\r")
		if line == "" || line[0] == '#' {
			text = rest
			continue
		}
		if after, ok := strings.CutPrefix(line, "export "); ok {
			line = strings.TrimLeft(after, " \t")
		}
		name, value, ok := strings.Cut(line, "=")
		name = strings.TrimRight(name, " \t")
		// Two signs in a row end an encoded secret.
		if !ok || !composeEnvRE.MatchString(name) || strings.HasPrefix(value, "=") {
			return names, false
		}
		value = strings.TrimLeft(value, " \t")
		if value != "" && strings.IndexByte(`"'`+"`", value[0]) >= 0 {
			// The value goes on to its quote, maybe over several lines.
			start := strings.IndexByte(text, '=')
			start += strings.IndexByte(text[start:], value[0]) + 1
			end := closing(text[start:], value[0])
			if end < 0 {
				return append(names, name), false
			}
			_, rest, _ = strings.Cut(text[start+end:], "\n")
		}
		names = append(names, name)
		text = rest
	}
	return names, true
}

// closing returns where the quote ends a quoted text, or -1. In single quotes nothing
// escapes.
func closing(s string, quote byte) int {
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\' && quote != '\'':
			i++
		case s[i] == quote:
			return i
		}
	}
	return -1
}
