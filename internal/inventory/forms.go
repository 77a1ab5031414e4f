package inventory

import (
	"strings"

	"github.com/tailrace/tailrace/internal/lazyregexp"
)

// The forms of texts. None holds a line end, a quote, a backtick, a space or a control
// character.
var (
	pathRE  = lazyregexp.New(`^[A-Za-z0-9._@+-]{1,64}(/[A-Za-z0-9._@+-]{1,64}){0,8}$`)
	nameRE  = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$`)
	imageRE = lazyregexp.New(`^[a-z0-9][A-Za-z0-9._/:@-]{0,159}$`)
	portsRE = lazyregexp.New(`^[0-9-]+(:[0-9-]+)?$`)
	portRE  = lazyregexp.New(`^[0-9]{1,5}(-[0-9]{1,5})?$`)
	// composeEnvRE is for names that a YAML parser told from their values.
	composeEnvRE = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_.-]{0,63}$`)
	// envRE is for names in files that no parser has checked. Mixed case is rare in names
	// and usual in keys and tokens, which a broken file can have in the place of a name.
	envRE = lazyregexp.New(`^([A-Z_][A-Z0-9_]{0,63}|[a-z_][a-z0-9_]{0,63})$`)
)

// around is what stands around a text in indented JSON, at most: a name, quotes, the
// indentation, the brackets of a list.
const around = 32

// text returns s where it has the form and there is room for it. Of another form it is
// counted.
func (r *reader) text(s string, form *lazyregexp.Regexp) (string, bool) {
	return r.take(s, form, around)
}

// head is the text of the first member of an object, whose other members have names and
// brackets of their own.
func (r *reader) head(s string, form *lazyregexp.Regexp) (string, bool) {
	return r.take(s, form, 4*around)
}

func (r *reader) take(s string, form *lazyregexp.Regexp, around int) (string, bool) {
	if !form.MatchString(s) {
		r.out.LeftOut++
		return "", false
	}
	if r.texts+len(s)+around > r.limits.MaxTextBytes {
		r.cut("text")
		return "", false
	}
	r.texts += len(s) + around
	return s, true
}

// path takes the path of a file, for a list or as the head of an object.
func (r *reader) path(path string) (string, bool) { return r.head(path, pathRE) }

// port returns the form of a port mapping: "published:target", or "target" where the
// published one is not written in digits. The protocol and the address are left out.
func port(s string) (string, bool) {
	s, _, _ = strings.Cut(s, "/")
	published, target := "", s
	if i := strings.LastIndexByte(s, ':'); i >= 0 {
		published, target = s[:i], s[i+1:]
		if i := strings.LastIndexByte(published, ':'); i >= 0 {
			published = published[i+1:]
		}
	}
	switch {
	case !portRE.MatchString(target):
		return "", false
	case !portRE.MatchString(published):
		return target, true
	}
	return published + ":" + target, true
}
