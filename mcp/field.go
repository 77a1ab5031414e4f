package mcp

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/tailrace/tailrace/internal/jsonscan"
	"github.com/tailrace/tailrace/internal/lazyregexp"
)

// A kind is what a field takes. It decides the schema, the check and the form in argv.
type kind uint8

const (
	// kindText: a string of at most max bytes, without NUL.
	kindText kind = iota
	// kindName: the name of a service or a profile.
	kindName
	// kindNames: one such name, or a list of them.
	kindNames
	// kindBranch: the name of a branch.
	kindBranch
	// kindInstant: a point in time.
	kindInstant
	// kindInteger: a whole number from 1 to max.
	kindInteger
	// kindBoolean: true or false.
	kindBoolean
	// kindKey: the name of an environment variable.
	kindKey
	// kindChoice: one of the choices.
	kindChoice
	// kindWords: a list of command words, at least one where it is required.
	kindWords
)

const (
	maxName   = 253
	maxNames  = 64
	maxPath   = 4096
	maxQuery  = 32 << 10
	maxTime   = 64
	maxCount  = 10_000
	maxWindow = 60_000
	maxWords  = 256
	maxRun    = 600_000
)

const (
	namePattern   = `^[A-Za-z0-9][A-Za-z0-9_.-]*$`
	keyPattern    = `^[A-Za-z_][A-Za-z0-9_.-]*$`
	branchPattern = `^[A-Za-z0-9][A-Za-z0-9_./-]*$`
	timePattern   = `^([Nn][Oo][Ww]|\d{1,12}[smhdwSMHDW]|\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\d(\.\d{1,12})?(Z|[+-]\d\d:\d\d))?)$`
)

var (
	nameRE   = lazyregexp.New(namePattern)
	keyRE    = lazyregexp.New(keyPattern)
	branchRE = lazyregexp.New(branchPattern)
	timeRE   = lazyregexp.New(timePattern)
)

// A field is one input of a tool. The table of tools is the only place that knows it.
type field struct {
	name string
	kind kind
	// about is the meaning, for the schema; the bounds and the default are added to it.
	about string
	// max is the largest value of an integer, the longest text in bytes.
	max int
	// fallback is what an integer that is not given means to the server; 0 for nothing.
	fallback int
	// flag is how the command line spells it; "" where it has no flag.
	flag     string
	required bool
	choices  []string
}

// An argument is the value of one field. The zero value is one that was not given.
type argument struct {
	given bool
	texts []string // one for each name; a text is one
	n     int
	yes   bool
}

// rule says what the field takes. It follows the field's name in a sentence.
func (f *field) rule() string {
	switch f.kind {
	case kindName:
		return fmt.Sprintf("must be a name of 1 to %d characters: a letter or digit, then letters, digits, underscores, dots or dashes", maxName)
	case kindNames:
		return fmt.Sprintf("must be a name or a list of at most %d names, each of 1 to %d characters: a letter or digit, then letters, digits, underscores, dots or dashes", maxNames, maxName)
	case kindBranch:
		return fmt.Sprintf("must be a branch name of 1 to %d characters: a letter or digit, then letters, digits, underscores, dots, dashes or slashes, without two dots in a row and without a slash at the end", maxName)
	case kindInstant:
		return "must be a time in RFC 3339 (a date alone will do), a duration such as 15m (a whole number and s, m, h, d or w), or the word now"
	case kindInteger:
		return fmt.Sprintf("must be a whole number from 1 to %d", f.max)
	case kindBoolean:
		return "must be true or false"
	case kindKey:
		return fmt.Sprintf("must be the name of a variable of 1 to %d characters: a letter or underscore, then letters, digits, underscores, dots or dashes", maxName)
	case kindChoice:
		return "must be one of " + strings.Join(f.choices, ", ")
	case kindWords:
		least := 0
		if f.required {
			least = 1
		}
		return fmt.Sprintf("must be a list of %d to %d strings without NUL, %d bytes in all", least, maxWords, f.max)
	}
	return fmt.Sprintf("must be a string of at most %d bytes without NUL", f.max)
}

// parse reads a value; ok is false for one that does not keep the rule.
func (f *field) parse(raw json.RawMessage) (a argument, ok bool) {
	a.given = true
	switch f.kind {
	case kindInteger:
		a.n, ok = wholeNumber(raw)
		return a, ok && a.n >= 1 && a.n <= f.max
	case kindBoolean:
		a.yes = string(raw) == "true"
		return a, a.yes || string(raw) == "false"
	case kindNames:
		var list []json.RawMessage
		if raw[0] != '[' {
			list = []json.RawMessage{raw}
		} else if json.Unmarshal(raw, &list) != nil || len(list) > maxNames {
			return a, false
		}
		for _, item := range list {
			s, ok := jsonscan.Text(item)
			if !ok || !isName(s) {
				return a, false
			}
			a.texts = append(a.texts, s)
		}
		return a, true
	case kindWords:
		a.texts, ok = f.words(raw)
		return a, ok
	}
	s, ok := jsonscan.Text(raw)
	if !ok {
		return a, false
	}
	a.texts = []string{s}
	switch f.kind {
	case kindName:
		return a, isName(s)
	case kindBranch:
		return a, isBranch(s)
	case kindInstant:
		return a, isTime(s)
	case kindKey:
		return a, len(s) <= maxName && keyRE.MatchString(s)
	case kindChoice:
		return a, slices.Contains(f.choices, s)
	}
	return a, len(s) <= f.max && !strings.ContainsRune(s, 0)
}

// words reads a list of command words.
func (f *field) words(raw json.RawMessage) (words []string, ok bool) {
	var list []json.RawMessage
	if raw[0] != '[' || json.Unmarshal(raw, &list) != nil || len(list) > maxWords || f.required && len(list) == 0 {
		return nil, false
	}
	size := 0
	for _, item := range list {
		s, ok := jsonscan.Text(item)
		if size += len(s); !ok || strings.ContainsRune(s, 0) || size > f.max {
			return nil, false
		}
		words = append(words, s)
	}
	return words, true
}

// wholeNumber reads an integer as JSON Schema knows it: 5 and 5.0 are the same.
func wholeNumber(raw json.RawMessage) (int, bool) {
	if c := raw[0]; c != '-' && (c < '0' || c > '9') {
		return 0, false
	}
	f, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) > math.MaxInt32 {
		return 0, false
	}
	return int(f), true
}

func isName(s string) bool { return len(s) <= maxName && nameRE.MatchString(s) }

func isBranch(s string) bool {
	return len(s) <= maxName && branchRE.MatchString(s) && !strings.Contains(s, "..") && !strings.HasSuffix(s, "/")
}

// isTime says whether s is a time that the command takes. The pattern knows the shape;
// whether there is such a day, and a duration above zero, is looked at here.
func isTime(s string) bool {
	if len(s) > maxTime || !utf8.ValidString(s) || !timeRE.MatchString(s) {
		return false
	}
	switch {
	case strings.EqualFold(s, "now"):
		return true
	case len(s) >= 5 && s[4] == '-':
		layout := time.RFC3339
		if len(s) == len(time.DateOnly) {
			layout = time.DateOnly
		}
		_, err := time.Parse(layout, s)
		return err == nil
	}
	return strings.Trim(s[:len(s)-1], "0") != ""
}
