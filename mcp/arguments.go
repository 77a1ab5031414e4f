package mcp

import (
	"bytes"
	"encoding/json"
	"sort"
	"strings"

	"github.com/tailrace/tailrace/internal/project"
)

// arguments are the validated arguments of a call, by field.
type arguments map[string]argument

// parse validates the arguments of a call. The text of a refusal names a known argument
// and its rule; it repeats no value, and of an unknown argument not even the name.
func (t *tool) parse(raw json.RawMessage) (arguments, *refusal) {
	if raw = bytes.TrimSpace(raw); len(raw) == 0 {
		raw = json.RawMessage("{}")
	}
	var members map[string]json.RawMessage
	if raw[0] != '{' || json.Unmarshal(raw, &members) != nil {
		return nil, invalid("arguments must be one JSON object; " + t.known())
	}
	args := make(arguments, len(members))
	for _, f := range t.fields {
		value, given := members[f.name]
		if !given {
			if f.required {
				return nil, invalid(f.name + " is required: it " + f.rule())
			}
			continue
		}
		a, ok := f.parse(value)
		if !ok {
			return nil, invalid(f.name + " " + f.rule())
		}
		args[f.name] = a
	}
	if len(args) < len(members) {
		return nil, invalid("an argument is not known; " + t.known())
	}
	return args, nil
}

// known lists the arguments of the tool.
func (t *tool) known() string {
	list := make([]string, len(t.fields))
	for i, f := range t.fields {
		list[i] = f.name
	}
	sort.Strings(list)
	return "the arguments of this tool are " + strings.Join(list, ", ")
}

// selector returns what the arguments say of the project.
func (a arguments) selector() project.Selector {
	text := func(name string) *string {
		if v := a[name]; v.given {
			return &v.texts[0]
		}
		return nil
	}
	return project.Selector{ProjectName: text("projectName"), RepoRoot: text("repoRoot"), Path: text("path")}
}

// number returns the value of an integer field, or its fallback; 0 where there is neither.
func (t *tool) number(a arguments, name string) int {
	if v := a[name]; v.given {
		return v.n
	}
	if f := t.field(name); f != nil {
		return f.fallback
	}
	return 0
}
