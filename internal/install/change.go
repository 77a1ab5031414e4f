package install

import (
	"bytes"
	"io/fs"
)

// A Change is what is about to happen to a configuration.
type Change struct {
	// Path is the file that is changed: links are followed.
	Path string
	// Edits are the changes of its text. There are none where nothing is to be done.
	Edits []Edit

	before []byte // nil where there is no file
	info   fs.FileInfo
	mode   fs.FileMode // of a new file
	gone   bool
}

func (c Client) open(s Surroundings, scope Scope) (*Change, error) {
	path, err := c.Path(s, scope)
	if err != nil {
		return nil, err
	}
	ch := &Change{Path: path, mode: 0o600}
	if ch.Path, err = resolve(path); err != nil {
		ch.Path = path
		return ch, err
	}
	if scope == Project {
		// It is for all who work on the project, and comes with a repository.
		ch.mode = 0o644
		if !inside(s.Root, ch.Path) {
			return ch, ErrOutside
		}
	}
	ch.before, ch.info, err = readFile(ch.Path)
	return ch, err
}

// New says whether there is no file yet.
func (c *Change) New() bool { return c.before == nil }

// Removes says whether the file is removed as a whole, since install made it.
func (c *Change) Removes() bool { return c.gone }

// Line returns the line that an edit begins in, from 1.
func (c *Change) Line(e Edit) int { return 1 + bytes.Count(c.before[:e.At], []byte("\n")) }

// Write makes the change: the file is replaced at once, or not at all. Without edits it
// does nothing.
func (c *Change) Write() error {
	switch {
	case len(c.Edits) == 0:
		return nil
	case c.gone:
		return removeFile(c.Path, c.before)
	}
	return writeFile(c.Path, c.before, apply(c.before, c.Edits), c.info, c.mode)
}
