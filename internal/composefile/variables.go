package composefile

import (
	"slices"
	"strings"

	"github.com/tailrace/tailrace/internal/lazyregexp"
)

// keyRE is what the name of a variable is made of. Anything else in its place is not shown:
// it may be part of a value.
var keyRE = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_.-]{0,252}$`)

// secretRE are the words in the names of variables that are likely to be secrets.
var secretRE = lazyregexp.New(`(?i)(^|[_.-])(key|keys|apikey|token|tokens|secret|secrets|password|passwd|passphrase|pwd|credential|credentials|auth|dsn|private)($|[_.-])`)

// Global is the scope of what the compose files are interpolated with.
const Global = "global"

// A Variable is one variable of a project: its name and where it comes from, never its
// value.
type Variable struct {
	Key string
	// Secret says that the variable is likely to be a secret, by its name or because a
	// compose secret is made of it. Values are withheld in any case.
	Secret bool
	// Required says that a compose file asks for it with ${KEY:?}.
	Required bool
	// Available says that it has a value.
	Available bool
	// Precedence is where it is set, the place that counts first.
	Precedence []string
	// From is the place that a pass-through or an interpolation takes the value from, ""
	// where the value is written in the first place itself.
	From string
	// Scope is the service that the first place belongs to, or [Global].
	Scope string
	// Services are the services that get it.
	Services []string
}

// Variables returns the variables of a scope, sorted by name: those of all services and of
// the interpolation for "", those of the interpolation alone for [Global], else those that
// the service gets.
func (m *Model) Variables(scope string) []Variable {
	seen := map[string]bool{}
	var out []Variable
	add := func(key string) {
		if !seen[key] && keyRE.MatchString(key) {
			seen[key] = true
			out = append(out, m.Variable(key, scope))
		}
	}
	if scope == "" || scope == Global {
		for _, f := range m.env.files {
			for key := range f.values {
				add(key)
			}
		}
		for _, key := range m.mentioned {
			add(key)
		}
	}
	for _, s := range m.services {
		if scope == "" || scope == s.name {
			for _, key := range s.keys() {
				add(key)
			}
		}
	}
	slices.SortFunc(out, func(a, b Variable) int { return strings.Compare(a.Key, b.Key) })
	return out
}

func (s service) keys() []string {
	var out []string
	for _, d := range s.declared {
		out = append(out, d.key)
	}
	for _, f := range s.envFiles {
		for key := range f.values {
			out = append(out, key)
		}
	}
	return out
}

// Variable returns one variable as a scope sees it. For "", what the interpolation has
// counts, then the first service that gets it.
func (m *Model) Variable(key, scope string) Variable {
	v := Variable{Key: key, Required: m.required[key], Secret: m.secret[key] || secretRE.MatchString(key), Scope: Global}
	for _, s := range m.services {
		if slices.Contains(s.keys(), key) {
			v.Services = append(v.Services, s.name)
		}
	}
	if scope == "" || scope == Global {
		v.Precedence = m.env.places(key)
		v.Available = len(v.Precedence) > 0
	}
	for _, s := range m.services {
		switch {
		case scope == s.name:
			m.inService(&v, s)
		case scope == "" && !v.Available:
			m.inService(&v, s)
		}
	}
	return v
}

// inService adds where a service has the variable from.
func (m *Model) inService(v *Variable, s service) {
	// Of a variable that is there twice the last one counts.
	for _, d := range slices.Backward(s.declared) {
		if d.key != v.Key {
			continue
		}
		place := m.set.place(m.set.Files[0]) + ":services." + s.name + ".environment"
		from, ok := m.resolve(d)
		if !ok && !d.given {
			continue // passed through, and set nowhere: the service does not get it
		}
		v.Precedence = append(v.Precedence, place)
		if !v.Available {
			v.Available, v.From, v.Scope = ok, from, s.name
		}
	}
	for _, f := range slices.Backward(s.envFiles) {
		if _, ok := f.values[v.Key]; ok {
			if !v.Available {
				v.Available, v.Scope = true, s.name
			}
			v.Precedence = append(v.Precedence, f.place)
		}
	}
}

// resolve says whether a declared variable has a value, and the first place that it takes
// it from.
func (m *Model) resolve(d declared) (from string, ok bool) {
	if !d.given {
		places := m.env.places(d.key)
		if len(places) == 0 {
			return "", false
		}
		return places[0], true
	}
	_, err := substitute(d.template, func(key string) (string, bool) {
		value, ok := m.env.lookup(key)
		if ok && from == "" {
			from = m.env.places(key)[0]
		}
		return value, ok
	})
	return from, err == nil
}

// Missing are the required variables that have no value, sorted.
func (m *Model) Missing() []string {
	out := []string{}
	for _, key := range m.mentioned {
		if value, _ := m.env.lookup(key); m.required[key] && value == "" && keyRE.MatchString(key) {
			out = append(out, key)
		}
	}
	return out
}
