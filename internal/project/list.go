package project

import "path/filepath"

// An Entry is one registered project, as the registry has it.
type Entry struct {
	// ID is the identifier of the entry.
	ID string
	// Project is the project. Its folder may be gone.
	Project Project
	// DevHost is the host name for development, "" where none is known.
	DevHost string
	// Live says that the definition of the project is on disk.
	Live bool
}

// List returns the registered projects, in the order of the registry. A registry that
// cannot be read has none.
func (c Context) List() []Entry {
	var out []Entry
	for _, e := range c.readRegistry() {
		out = append(out, e.public())
	}
	return out
}

// EntryOf returns the entry that root is registered by, where [Context.Registered] says
// that it is.
func (c Context) EntryOf(root string) (Entry, bool) {
	real, err := filepath.EvalSymlinks(c.abs(root))
	if err != nil {
		return Entry{}, false
	}
	e, ok := registered(real, c.readRegistry())
	if !ok {
		return Entry{}, false
	}
	return e.public(), true
}

func (e entry) public() Entry {
	return Entry{ID: e.id, Project: e.project(), DevHost: e.devHost, Live: e.live()}
}

// LookPath finds an executable in the absolute folders of the captured PATH. Relative
// entries are passed over: a repository could bring a file of that name.
func (c Context) LookPath(name string) (string, bool) { return c.lookPath(name, false) }

// CheckRegistry says whether the registry can be read: nil where it can, and where there is
// none yet. The error is [ErrRegistryForm] or [ErrRegistryAccess].
func (c Context) CheckRegistry() error {
	_, _, err := loadRegistry(c.RegistryPath)
	return err
}
