package install

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// A jsonForm is how a client writes its servers in JSON.
type jsonForm struct {
	// container is the name of the member of the root that holds the servers.
	container string
	// typed says that an entry names its transport.
	typed bool
	// strict says that the client takes no comments and no trailing commas.
	strict bool
}

// Both edits of a form return nil where there is nothing to do. A nil text stands for a
// file that is not there; gone says that there should be none any more.

func (f jsonForm) install(file []byte, s Server) ([]Edit, error) {
	if file == nil {
		return []Edit{{New: f.document(s, "\n") + "\n"}}, nil
	}
	mark, text := cutMark(file)
	edits, err := f.installText(text, s)
	return shifted(edits, mark), err
}

func (f jsonForm) uninstall(file []byte, name string) (edits []Edit, gone bool, err error) {
	mark, text := cutMark(file)
	edits, gone, err = f.uninstallText(text, name)
	return shifted(edits, mark), gone && mark == 0, err
}

// cutMark returns the length of the byte order mark, and what follows it.
func cutMark(file []byte) (int, []byte) {
	text := bytes.TrimPrefix(file, byteOrderMark)
	return len(file) - len(text), text
}

func shifted(edits []Edit, by int) []Edit {
	for i := range edits {
		edits[i].At += by
	}
	return edits
}

func (f jsonForm) installText(text []byte, s Server) ([]Edit, error) {
	if len(bytes.Trim(text, " \t\r\n")) == 0 {
		return []Edit{{At: len(text), New: f.document(s, newline(text))}}, nil
	}
	t, err := parseJSON(text, f.strict)
	if err != nil {
		return nil, err
	}
	root, err := t.object(t.root)
	if err != nil {
		return nil, err
	}
	unit := t.unit()
	i, err := t.member(root, f.container)
	if err != nil {
		return nil, err
	}
	if i < 0 {
		member := func(indent string) string { return f.member(s, indent, unit, t.nl) }
		if len(root.Members) == 0 {
			return t.fill(root, t.root.StartOffset, false, member), nil
		}
		return t.insert(root, member), nil
	}
	value := root.Members[i].Value
	servers, err := t.object(value)
	if err != nil {
		return nil, err
	}
	j, err := t.member(servers, s.Name)
	if err != nil {
		return nil, err
	}
	switch {
	case j >= 0:
		return f.update(t, servers.Members[j], s)
	case len(servers.Members) == 0:
		return t.fill(servers, value.StartOffset, true, func(string) string { return f.entry(s, "", "", "") }), nil
	}
	return t.insert(servers, func(indent string) string {
		if !bytes.ContainsRune(servers.Members[len(servers.Members)-1].Name.BeforeExtra, '\n') {
			return f.entry(s, "", "", "")
		}
		return f.entry(s, indent, unit, t.nl)
	}), nil
}

// update changes command and arguments of an entry of ours.
func (f jsonForm) update(t *jsonText, m hujson.ObjectMember, s Server) ([]Edit, error) {
	e, err := t.entry(m.Value)
	if err != nil {
		return nil, err
	}
	if !ours(e.args) || e.commandAt.Value == nil {
		return nil, t.problem(m.Name.StartOffset, ErrTaken)
	}
	var edits []Edit
	if e.command != s.Command {
		edits = append(edits, replace(t.text, e.commandAt, quote(s.Command)))
	}
	if !slices.Equal(e.args, s.args()) {
		edits = append(edits, replace(t.text, e.argsAt, list(s.args())))
	}
	return ordered(edits), nil
}

func replace(text []byte, v hujson.Value, by string) Edit {
	e := cut(text, v.StartOffset, v.EndOffset)
	e.New = by
	return e
}

func (f jsonForm) uninstallText(text []byte, name string) (edits []Edit, gone bool, err error) {
	if len(bytes.Trim(text, " \t\r\n")) == 0 {
		return nil, false, nil
	}
	t, err := parseJSON(text, f.strict)
	if err != nil {
		return nil, false, err
	}
	root, err := t.object(t.root)
	if err != nil {
		return nil, false, err
	}
	i, err := t.member(root, f.container)
	if err != nil || i < 0 {
		return nil, false, err
	}
	servers, err := t.object(root.Members[i].Value)
	if err != nil {
		return nil, false, err
	}
	j, err := t.member(servers, name)
	if err != nil || j < 0 {
		return nil, false, err
	}
	m := servers.Members[j]
	e, err := t.entry(m.Value)
	if err != nil {
		return nil, false, err
	}
	if !ours(e.args) || e.commandAt.Value == nil || e.more {
		return nil, false, t.problem(m.Name.StartOffset, ErrExtended)
	}
	if !f.madeContainer(t, servers, m) {
		return t.remove(servers, j), false, nil
	}
	document := f.document(Server{Name: name, Command: e.command, Args: e.args[len(serveWords):]}, t.nl)
	if head, ok := strings.CutSuffix(string(text), document); ok && strings.Trim(head, " \t\r\n") == "" {
		return []Edit{cut(text, len(head), len(text))}, false, nil
	}
	if string(text) == document+"\n" {
		return []Edit{cut(text, 0, len(text))}, true, nil
	}
	return t.remove(root, i), false, nil
}

// madeContainer says whether install made the container, too: the entry is alone in it,
// without comments, and on several lines.
func (f jsonForm) madeContainer(t *jsonText, servers *hujson.Object, m hujson.ObjectMember) bool {
	if len(servers.Members) != 1 || hasComma(servers, 0) {
		return false
	}
	before, _ := afterComments(m.Name.BeforeExtra)
	after, _ := afterComments(servers.AfterExtra)
	return before == 0 && after == 0 && bytes.ContainsRune(t.text[m.Value.StartOffset:m.Value.EndOffset], '\n')
}

// A jsonEntry is what is read of an entry.
type jsonEntry struct {
	command           string
	args              []string
	commandAt, argsAt hujson.Value
	// more says that the entry has something in it that install does not write.
	more bool
}

func (t *jsonText) entry(v hujson.Value) (jsonEntry, error) {
	var e jsonEntry
	o, err := t.object(v)
	if err != nil {
		return e, err
	}
	seen := map[string]bool{}
	for _, m := range o.Members {
		name := literal(m.Name)
		if seen[name] {
			return e, t.problem(m.Name.StartOffset, ErrTwice)
		}
		seen[name] = true
		env, _ := m.Value.Value.(*hujson.Object)
		switch {
		case name == "command" && m.Value.Value.Kind() == '"':
			e.command, e.commandAt = literal(m.Value), m.Value
		case name == "args":
			e.args, _ = stringList(m.Value)
			e.argsAt = m.Value
		case name == "type" && literal(m.Value) == "stdio":
		case name == "env" && env != nil && len(env.Members) == 0:
			// Clients add it by themselves.
		default:
			e.more = true
		}
	}
	return e, nil
}

// document returns a whole file without its last line end.
func (f jsonForm) document(s Server, nl string) string {
	const unit = "  "
	return "{" + nl + unit + f.member(s, unit, unit, nl) + nl + "}"
}

// member returns the container with the entry in it.
func (f jsonForm) member(s Server, indent, unit, nl string) string {
	inner := indent + unit
	return quote(f.container) + ": {" + nl + inner + f.entry(s, inner, unit, nl) + nl + indent + "}"
}

// entry returns the entry, on several lines or, where nl is empty, on one.
func (f jsonForm) entry(s Server, indent, unit, nl string) string {
	var members []string
	if f.typed {
		members = append(members, `"type": "stdio"`)
	}
	members = append(members, `"command": `+quote(s.Command), `"args": `+list(s.args()))
	if nl == "" {
		return quote(s.Name) + ": {" + strings.Join(members, ", ") + "}"
	}
	inner := nl + indent + unit
	return quote(s.Name) + ": {" + inner + strings.Join(members, ","+inner) + nl + indent + "}"
}

// quote returns a text as a string of JSON, which is one of TOML, too.
func quote(s string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a string can always be encoded
	return strings.TrimSuffix(b.String(), "\n")
}

func list(items []string) string {
	var quoted []string
	for _, s := range items {
		quoted = append(quoted, quote(s))
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}
