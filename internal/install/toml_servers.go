package install

import (
	"bytes"
	"errors"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// A tomlForm is how a client writes its servers in TOML: a table [container.NAME] for
// each. Install adds one table at the end and uninstall takes that table out. What the
// text means is asked of the parser before and after, so that a table that only looks
// like one, in a text of several lines for example, is never touched.
type tomlForm struct {
	container string
}

func (f tomlForm) install(file []byte, s Server) ([]Edit, error) {
	if file == nil {
		return []Edit{{New: f.table(s, "\n")}}, nil
	}
	before, servers, err := f.parse(file)
	if err != nil {
		return nil, err
	}
	nl := newline(file)
	if entry, ok := servers[s.Name]; ok {
		return f.update(file, before, entry, s)
	}
	// The line end before the table says whether the last line had one: with it there is
	// an empty line between.
	edits := []Edit{{At: len(file), New: nl + f.table(s, nl)}}
	after := f.with(before, s.Name, map[string]any{"command": s.Command, "args": anyList(s.args())})
	if !f.means(apply(file, edits), after) {
		return nil, problemAt(file, max(bytes.Index(file, []byte(f.container)), 0), ErrClosed)
	}
	return edits, nil
}

func (f tomlForm) update(file []byte, before map[string]any, value any, s Server) ([]Edit, error) {
	entry, _ := value.(map[string]any)
	command, args, ok := f.read(entry)
	if !ok {
		return nil, problemAt(file, f.line(file, s.Name), ErrTaken)
	}
	if command == s.Command && slices.Equal(args, s.args()) {
		return nil, nil
	}
	changed := make(map[string]any, len(entry))
	for k, v := range entry {
		changed[k] = v
	}
	changed["command"], changed["args"] = s.Command, anyList(s.args())
	after := f.with(before, s.Name, changed)
	old := f.table(Server{Name: s.Name, Command: command, Args: args[len(serveWords):]}, newline(file))
	for at := range places(file, old) {
		edit := cut(file, at, at+len(old))
		edit.New = f.table(s, newline(file))
		if edits := []Edit{edit}; f.means(apply(file, edits), after) {
			return edits, nil
		}
	}
	return nil, problemAt(file, f.line(file, s.Name), ErrExtended)
}

func (f tomlForm) uninstall(file []byte, name string) (edits []Edit, gone bool, err error) {
	before, servers, err := f.parse(file)
	if err != nil {
		return nil, false, err
	}
	value, ok := servers[name]
	if !ok {
		return nil, false, nil
	}
	entry, _ := value.(map[string]any)
	command, args, ok := f.read(entry)
	if !ok || len(entry) > 2 {
		return nil, false, problemAt(file, f.line(file, name), ErrExtended)
	}
	nl := newline(file)
	table := f.table(Server{Name: name, Command: command, Args: args[len(serveWords):]}, nl)
	if string(file) == table {
		return []Edit{cut(file, 0, len(file))}, true, nil
	}
	after := f.without(before, name)
	for at := range places(file, table) {
		to := at + len(table)
		if lead := at - len(nl); lead >= 0 && strings.HasPrefix(string(file[lead:]), nl) {
			if edits := []Edit{cut(file, lead, to)}; f.means(apply(file, edits), after) {
				return edits, false, nil
			}
		}
		if edits := []Edit{cut(file, at, to)}; f.means(apply(file, edits), after) {
			return edits, false, nil
		}
	}
	return nil, false, problemAt(file, f.line(file, name), ErrExtended)
}

// parse returns what the text means, and the servers in it.
func (f tomlForm) parse(file []byte) (doc, servers map[string]any, err error) {
	// The parser bounds the nesting by itself.
	if err := toml.Unmarshal(file, &doc); err != nil {
		p := &Problem{Line: 1, Column: 1, Reason: ErrSyntax}
		var decode *toml.DecodeError
		if errors.As(err, &decode) {
			p.Line, p.Column = decode.Position()
		}
		return nil, nil, p
	}
	switch v := doc[f.container].(type) {
	case nil:
		return doc, nil, nil
	case map[string]any:
		return doc, v, nil
	}
	return nil, nil, problemAt(file, max(bytes.Index(file, []byte(f.container)), 0), ErrShape)
}

// read returns what an entry of ours starts.
func (f tomlForm) read(entry map[string]any) (command string, args []string, ok bool) {
	command, ok = entry["command"].(string)
	items, isList := entry["args"].([]any)
	if !ok || !isList {
		return "", nil, false
	}
	for _, item := range items {
		text, ok := item.(string)
		if !ok {
			return "", nil, false
		}
		args = append(args, text)
	}
	return command, args, ours(args)
}

// means says whether a text means doc. A container without servers is none.
func (f tomlForm) means(file []byte, doc map[string]any) bool {
	var got map[string]any
	if toml.Unmarshal(file, &got) != nil {
		return false
	}
	for _, m := range []map[string]any{got, doc} {
		if servers, ok := m[f.container].(map[string]any); ok && len(servers) == 0 {
			delete(m, f.container)
		}
	}
	// Encoded, since a number that is none does not equal itself.
	a, errA := toml.Marshal(got)
	b, errB := toml.Marshal(doc)
	return errA == nil && errB == nil && bytes.Equal(a, b)
}

func (f tomlForm) with(doc map[string]any, name string, entry map[string]any) map[string]any {
	out := f.without(doc, name)
	servers, ok := out[f.container].(map[string]any)
	if !ok {
		servers = map[string]any{}
		out[f.container] = servers
	}
	servers[name] = entry
	return out
}

// without returns a copy of doc without the entry.
func (f tomlForm) without(doc map[string]any, name string) map[string]any {
	out := make(map[string]any, len(doc)+1)
	for k, v := range doc {
		out[k] = v
	}
	if servers, ok := doc[f.container].(map[string]any); ok {
		kept := make(map[string]any, len(servers)+1)
		for k, v := range servers {
			if k != name {
				kept[k] = v
			}
		}
		out[f.container] = kept
	}
	return out
}

// table returns the table of an entry, with its last line end.
func (f tomlForm) table(s Server, nl string) string {
	return "[" + f.container + "." + s.Name + "]" + nl +
		"command = " + quote(s.Command) + nl +
		"args = " + list(s.args()) + nl
}

// line returns the offset of the line that looks like the one with an entry, or 0.
func (f tomlForm) line(file []byte, name string) int {
	for _, mark := range []string{"[" + f.container + "." + name, f.container + "." + name, name, f.container} {
		if i := bytes.Index(file, []byte(mark)); i >= 0 {
			return i
		}
	}
	return 0
}

// places yields where a piece of text stands at the start of a line.
func places(file []byte, piece string) func(yield func(int) bool) {
	return func(yield func(int) bool) {
		for from := 0; ; {
			i := bytes.Index(file[from:], []byte(piece))
			if i < 0 {
				return
			}
			at := from + i
			if (at == 0 || file[at-1] == '\n') && !yield(at) {
				return
			}
			from = at + 1
		}
	}
}

func anyList(items []string) []any {
	out := make([]any, len(items))
	for i, s := range items {
		out[i] = s
	}
	return out
}
