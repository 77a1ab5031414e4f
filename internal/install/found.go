package install

import (
	"bytes"
	"slices"
	"strings"
)

func (f jsonForm) servers(file []byte) ([]Found, error) {
	_, text := cutMark(file)
	if len(bytes.Trim(text, " \t\r\n")) == 0 {
		return nil, nil
	}
	t, err := parseJSON(text, f.strict)
	if err != nil {
		return nil, err
	}
	root, err := t.object(t.root)
	if err != nil {
		return nil, err
	}
	i, err := t.member(root, f.container)
	if err != nil || i < 0 {
		return nil, err
	}
	servers, err := t.object(root.Members[i].Value)
	if err != nil {
		return nil, err
	}
	var found []Found
	for _, m := range servers.Members {
		if e, err := t.entry(m.Value); err == nil && ours(e.args) {
			found = append(found, Found{Name: literal(m.Name), Command: e.command})
		}
	}
	return found, nil
}

func (f tomlForm) servers(file []byte) ([]Found, error) {
	_, servers, err := f.parse(file)
	if err != nil {
		return nil, err
	}
	var found []Found
	for name, v := range servers {
		entry, _ := v.(map[string]any)
		if command, _, ok := f.read(entry); ok {
			found = append(found, Found{Name: name, Command: command})
		}
	}
	slices.SortFunc(found, func(a, b Found) int { return strings.Compare(a.Name, b.Name) })
	return found, nil
}
