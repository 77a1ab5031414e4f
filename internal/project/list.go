package project

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
		out = append(out, Entry{ID: e.id, Project: e.project(), DevHost: e.devHost, Live: e.live()})
	}
	return out
}

// LookPath finds an executable in the absolute folders of the captured PATH. Relative
// entries are passed over: a repository could bring a file of that name.
func (c Context) LookPath(name string) (string, bool) { return c.lookPath(name, false) }
