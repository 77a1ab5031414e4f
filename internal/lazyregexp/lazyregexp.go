// Package lazyregexp holds regular expressions that are compiled when they are first used.
// A program that runs for some milliseconds should not spend most of them on expressions
// that it never matches.
package lazyregexp

import (
	"regexp"
	"sync"
)

// A Regexp is a regular expression in the syntax of package regexp. The zero value is not
// usable. It is safe for concurrent use.
type Regexp struct {
	compiled func() *regexp.Regexp
}

// New returns an expression. One that does not compile panics when it is first used; a test
// that uses it is enough, since expressions are constants.
func New(expr string) *Regexp {
	return &Regexp{sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })}
}

// MatchString says whether s has a match.
func (r *Regexp) MatchString(s string) bool { return r.compiled().MatchString(s) }

// Match says whether b has a match.
func (r *Regexp) Match(b []byte) bool { return r.compiled().Match(b) }

// FindAllSubmatch returns the matches in b, at most n of them or all if n is below 0, each
// with its submatches.
func (r *Regexp) FindAllSubmatch(b []byte, n int) [][][]byte {
	return r.compiled().FindAllSubmatch(b, n)
}
