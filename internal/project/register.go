package project

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
	"unicode/utf8"
)

// The errors of [Context.Register]. What the system said of a file that could not be
// read or written is wrapped, without its path.
var (
	// ErrRegistryForm: the file is there and is no registry of version 1. It is never
	// written over, since what it holds would be lost.
	ErrRegistryForm = errors.New("projects.json cannot be read as a registry of version 1: repair it or move it away, then try again")
	// ErrRegistryBusy: another process holds the lock, or keeps writing.
	ErrRegistryBusy = errors.New("projects.json is in use by another process: try again")
	// ErrRegistryAccess: the file or its folder cannot be read or written.
	ErrRegistryAccess = errors.New("projects.json cannot be read or written: check the rights of its folder")
	// ErrNameTaken: another project of that name is registered.
	ErrNameTaken = errors.New("another project is registered by this name: choose another with --name")
	// ErrProject: the project cannot be registered as it is.
	ErrProject = errors.New("a project needs a name with a letter or digit, and a folder whose path is absolute and UTF-8")
)

const (
	lockWait   = 5 * time.Second
	lockPoll   = 10 * time.Millisecond
	writeTries = 8
)

// Register adds a project to the registry. A root that is registered already, by its
// own path or through links, stays as it is, under the name it has: then nothing is
// written, unless it is given another DevHost, or has got a definition in .hack or .dev. The entry of a project of the same name whose folder is gone is moved to the
// new folder. Members and entries that are not known keep their text and their order.
//
// The file is replaced in one step under a lock, and only if it is still the one that
// was read, so a crash leaves the old file or the new one. The lock is a file beside
// the registry that the system frees when its holder ends. A registry that is a link
// is written where it leads, if a registry is there. New files have the mode 0600, new
// folders 0700. Register may be called by several goroutines and processes at once.
func (c Context) Register(p Project) error {
	if !ValidName(p.Name) || !filepath.IsAbs(p.Root) || !filepath.IsAbs(p.Dir) ||
		!utf8.ValidString(p.Root) || !utf8.ValidString(p.Dir) {
		return ErrProject
	}
	real, err := filepath.EvalSymlinks(p.Root)
	if err != nil {
		return ErrProject
	}
	path, err := c.registryTarget()
	if err != nil {
		return err
	}
	unlock, err := lockFile(filepath.Join(filepath.Dir(path), "."+registryFile+".tailrace.lock"))
	if err != nil {
		return err
	}
	defer unlock()

	for range writeTries {
		r, seen, err := loadRegistry(path)
		if err != nil {
			return err
		}
		if _, ok := registered(real, r.entries); !ok {
			err = r.add(p)
		} else if !r.update(real, p) {
			return nil
		}
		if err != nil {
			return err
		}
		written, err := replaceFile(path, r.text(), seen)
		if err != nil || written {
			return err
		}
	}
	return ErrRegistryBusy
}

// registryTarget returns the path of the file itself, where the registry is a link to
// it, and makes the folder of one that is not there yet.
func (c Context) registryTarget() (string, error) {
	info, err := os.Lstat(c.RegistryPath)
	switch {
	case err == nil && info.Mode()&fs.ModeSymlink != 0:
		// A link that leads nowhere is not followed: it would let a link decide where a
		// new file is made.
		target, err := filepath.EvalSymlinks(c.RegistryPath)
		if err != nil {
			return "", ErrRegistryForm
		}
		return target, nil
	case errors.Is(err, fs.ErrNotExist):
		if err := os.MkdirAll(filepath.Dir(c.RegistryPath), 0o700); err != nil {
			return "", access(err)
		}
	}
	return c.RegistryPath, nil
}

// loadRegistry reads the file for writing, with what tells whether it changed since. A
// file that is not there, or holds nothing, is a new registry.
func loadRegistry(path string) (*registry, fs.FileInfo, error) {
	seen, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return newRegistry(), nil, nil
	}
	if err != nil {
		return nil, nil, access(err)
	}
	data, err := readRegular(path, maxRegistryBytes)
	if errors.Is(err, errForm) {
		return nil, nil, ErrRegistryForm
	}
	if err != nil {
		return nil, nil, access(err)
	}
	if len(bytes.TrimSpace(data)) == 0 {
		return newRegistry(), seen, nil
	}
	r, err := parseRegistry(data)
	if err != nil {
		return nil, nil, ErrRegistryForm
	}
	return r, seen, nil
}

func newRegistry() *registry {
	return &registry{projects: 1, members: []member{
		{key: "version", name: []byte(`"version"`), value: json.RawMessage("1")},
		{key: "projects", name: []byte(`"projects"`)},
	}}
}

// update brings the entry whose root leads to the folder real up to date, and says whether
// that changed it: another host for development, and a definition in .hack or .dev that it
// did not have.
func (r *registry) update(real string, p Project) bool {
	for i, raw := range r.raw {
		e, ok := parseEntry(raw)
		if _, is := registered(real, []entry{e}); !ok || !is {
			continue
		}
		var news []member
		if p.DevHost != "" && p.DevHost != e.devHost {
			news = append(news, text("devHost", p.DevHost))
		}
		if e.dirName == "." && p.DirName != "." {
			news = append(news, text("projectDirName", p.DirName), text("projectDir", filepath.Join(e.repoRoot, p.DirName)))
		}
		members, err := objectMembers(raw)
		if err != nil || len(news) == 0 {
			return false
		}
		for _, n := range news {
			at := slices.IndexFunc(members, func(m member) bool { return m.key == n.key })
			if at < 0 {
				members = append(members, n)
				continue
			}
			members[at] = n
			// Of duplicates the last one would count.
			rest := slices.DeleteFunc(members[at+1:], func(m member) bool { return m.key == n.key })
			members = members[:at+1+len(rest)]
		}
		r.raw[i] = object(members)
		return true
	}
	return false
}

// add puts the project into the registry, or moves the entry of its name to it.
func (r *registry) add(p Project) error {
	key := nameKey(p.Name)
	var same []int
	for i, raw := range r.raw {
		if e, ok := parseEntry(raw); ok && nameKey(e.name) == key {
			if _, err := os.Lstat(e.repoRoot); !errors.Is(err, fs.ErrNotExist) {
				return ErrNameTaken
			}
			same = append(same, i)
		}
	}
	switch len(same) {
	case 0:
		if len(r.raw) == maxRegistryEntries {
			return ErrRegistryForm
		}
		members := []member{
			text("id", newID()), text("name", p.Name), text("repoRoot", p.Root),
			text("projectDirName", p.DirName), text("projectDir", p.Dir),
			text("createdAt", time.Now().UTC().Format("2006-01-02T15:04:05.000Z")),
		}
		if p.DevHost != "" {
			members = append(members, text("devHost", p.DevHost))
		}
		r.raw = append(r.raw, object(members))
		return nil
	case 1:
		members, err := objectMembers(r.raw[same[0]])
		if err != nil {
			return ErrRegistryForm
		}
		for i, m := range members {
			switch m.key {
			case "repoRoot":
				members[i].value = text("", p.Root).value
			case "projectDirName":
				members[i].value = text("", p.DirName).value
			case "projectDir":
				members[i].value = text("", p.Dir).value
			}
		}
		r.raw[same[0]] = object(members)
		return nil
	}
	return ErrNameTaken
}

// text returns the registry as it is written: indented, everything else as it was.
func (r *registry) text() []byte {
	var projects bytes.Buffer
	projects.WriteByte('[')
	for i, raw := range r.raw {
		if i > 0 {
			projects.WriteByte(',')
		}
		projects.Write(raw)
	}
	projects.WriteByte(']')
	r.members[r.projects].value = projects.Bytes()
	var out bytes.Buffer
	// What was parsed, and what object wrote, is valid: Indent cannot fail on it.
	_ = json.Indent(&out, object(r.members), "", "  ")
	out.WriteByte('\n')
	return out.Bytes()
}

func object(members []member) json.RawMessage {
	out := []byte{'{'}
	for i, m := range members {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(append(out, m.name...), ':'), m.value...)
	}
	return append(out, '}')
}

// text returns a member whose value is a string.
func text(key, value string) member {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(value) // a string can always be encoded
	return member{key: key, name: []byte(`"` + key + `"`), value: bytes.TrimSpace(out.Bytes())}
}

// newID returns a random identifier in the form of a version 4 UUID.
func newID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// access wraps what the system said, without the path that its error holds.
func access(err error) error {
	var path *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &path):
		err = path.Err
	case errors.As(err, &link):
		err = link.Err
	}
	return fmt.Errorf("%w: %w", ErrRegistryAccess, err)
}
