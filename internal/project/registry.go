package project

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// The limits of a registry file. One that is larger is not read, as if it were not there.
const (
	maxRegistryBytes   = 16 << 20
	maxRegistryEntries = 1 << 16
	maxRegistryDepth   = 64
)

// errForm says that a file is not of the form, or not of the size, that is read.
var errForm = errors.New("not of the form that is known")

// An entry is what is read of one registered project. All of its members but devHost
// are strings that must be present; other members are kept when the file is written.
type entry struct {
	id, name, repoRoot, dirName, dir, createdAt string
	devHost                                     string // "" where there is none
}

// A registry is the parsed file. Members and entries keep their order and their text.
type registry struct {
	members  []member
	projects int // index in members of the projects that count, -1 where there are none
	raw      []json.RawMessage
	entries  []entry // the entries that are usable
}

// A member is one member of a JSON object: its name decoded, its name as it was written
// with the quotes, and its value as it was written.
type member struct {
	key   string
	name  []byte
	value json.RawMessage
}

// readRegistry reads the registry for a question. What cannot be read is empty: the
// session goes on without registered projects, and allows nothing.
func (c Context) readRegistry() []entry {
	data, err := readRegular(c.RegistryPath, maxRegistryBytes)
	if err != nil {
		return nil
	}
	r, err := parseRegistry(data)
	if err != nil {
		return nil
	}
	return r.entries
}

// readRegular reads a regular file of at most limit bytes. Anything else in its
// place, such as a pipe, is refused without waiting for it.
func readRegular(path string, limit int64) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > limit {
		return nil, errForm
	}
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > limit {
		return nil, errForm
	}
	return data, nil
}

// parseRegistry reads the file's text. Member names are compared exactly and of
// duplicates the last one counts, as every other reader of the file has it.
func parseRegistry(data []byte) (*registry, error) {
	if tooDeep(data, maxRegistryDepth) {
		return nil, errForm
	}
	members, err := objectMembers(data)
	if err != nil {
		return nil, errForm
	}
	r := &registry{members: members, projects: -1}
	version := json.RawMessage(nil)
	for i, m := range members {
		switch m.key {
		case "version":
			version = m.value
		case "projects":
			r.projects = i
		}
	}
	if n, err := strconv.ParseFloat(string(version), 64); err != nil || n != 1 {
		return nil, errForm
	}
	if r.projects < 0 {
		return nil, errForm
	}
	r.raw, err = arrayElements(members[r.projects].value)
	if err != nil {
		return nil, errForm
	}
	for _, raw := range r.raw {
		if e, ok := parseEntry(raw); ok {
			r.entries = append(r.entries, e)
		}
	}
	return r, nil
}

// parseEntry reads one entry and says whether it is usable. A relative path is not:
// what it means would depend on who reads it, and an empty one would allow the whole
// working directory.
func parseEntry(raw json.RawMessage) (entry, bool) {
	members, err := objectMembers(raw)
	if err != nil {
		return entry{}, false
	}
	var e entry
	fields := map[string]*string{
		"id": &e.id, "name": &e.name, "repoRoot": &e.repoRoot,
		"projectDirName": &e.dirName, "projectDir": &e.dir, "createdAt": &e.createdAt,
	}
	seen := map[string]bool{}
	for _, m := range members {
		if m.key == "devHost" {
			// A member of another kind is as good as none.
			_ = json.Unmarshal(m.value, &e.devHost)
			continue
		}
		field := fields[m.key]
		if field == nil {
			continue
		}
		if len(m.value) == 0 || m.value[0] != '"' || json.Unmarshal(m.value, field) != nil {
			seen[m.key] = false
			continue
		}
		seen[m.key] = true
	}
	for key := range fields {
		if !seen[key] {
			return entry{}, false
		}
	}
	switch e.dirName {
	case ".hack", ".dev", ".":
	default:
		return entry{}, false
	}
	if !filepath.IsAbs(e.repoRoot) || !filepath.IsAbs(e.dir) {
		return entry{}, false
	}
	e.repoRoot, e.dir = filepath.Clean(e.repoRoot), filepath.Clean(e.dir)
	return e, true
}

// live says whether the project of an entry is still on disk.
func (e entry) live() bool {
	return isFile(filepath.Join(e.dir, composeFile)) && e.dirName != "." ||
		isFile(filepath.Join(e.repoRoot, ConfigFile))
}

// objectMembers returns the members of a JSON object in their order.
func objectMembers(data []byte) ([]member, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	if err := expect(dec, '{'); err != nil {
		return nil, err
	}
	var members []member
	for dec.More() {
		from := dec.InputOffset()
		token, err := dec.Token()
		if err != nil {
			return nil, err
		}
		key, ok := token.(string)
		if !ok || len(members) == maxRegistryEntries {
			return nil, errForm
		}
		m := member{key: key, name: bytes.TrimLeft(data[from:dec.InputOffset()], " \t\r\n,")}
		if err := dec.Decode(&m.value); err != nil {
			return nil, err
		}
		members = append(members, m)
	}
	return members, end(dec, '}')
}

// arrayElements returns the elements of a JSON array in their order.
func arrayElements(data []byte) ([]json.RawMessage, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	if err := expect(dec, '['); err != nil {
		return nil, err
	}
	elements := []json.RawMessage{}
	for dec.More() {
		if len(elements) == maxRegistryEntries {
			return nil, errForm
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, err
		}
		elements = append(elements, value)
	}
	return elements, end(dec, ']')
}

func expect(dec *json.Decoder, want json.Delim) error {
	token, err := dec.Token()
	if err != nil {
		return err
	}
	if token != want {
		return errForm
	}
	return nil
}

// end reads the closing delimiter and makes sure that nothing follows it.
func end(dec *json.Decoder, want json.Delim) error {
	if err := expect(dec, want); err != nil {
		return err
	}
	if _, err := dec.Token(); err != io.EOF {
		return errForm
	}
	return nil
}

// tooDeep says whether the brackets of data nest deeper than limit. It looks before
// anything is parsed, so that depth costs neither stack nor time.
func tooDeep(data []byte, limit int) bool {
	depth, inString := 0, false
	for i := 0; i < len(data); i++ {
		switch b := data[i]; {
		case inString && b == '\\':
			i++
		case b == '"':
			inString = !inString
		case inString:
		case b == '{' || b == '[':
			if depth++; depth > limit {
				return true
			}
		case b == '}' || b == ']':
			depth--
		}
	}
	return false
}
