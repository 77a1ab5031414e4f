package project

import (
	"path/filepath"
	"strings"
)

// Registered says whether root is the root of a registered project, by its own name or
// through links. A folder below a registered root is not: a repository that was cloned
// into a registered one has not been set up by the user. A relative root is resolved
// against the captured working directory.
func (c Context) Registered(root string) bool {
	_, ok := c.RegisteredAs(root)
	return ok
}

// RegisteredAs returns the name that root is registered by, where [Context.Registered]
// says that it is.
func (c Context) RegisteredAs(root string) (name string, ok bool) {
	real, err := filepath.EvalSymlinks(c.abs(root))
	if err != nil {
		return "", false
	}
	e, ok := registered(real, c.readRegistry())
	return e.name, ok
}

// registered returns the first of the entries that leads to the folder real, which is
// resolved.
func registered(real string, entries []entry) (entry, bool) {
	for _, e := range entries {
		if e.repoRoot == real {
			return e, true
		}
		if root, err := filepath.EvalSymlinks(e.repoRoot); err == nil && root == real {
			return e, true
		}
	}
	return entry{}, false
}

// allowed says whether path lies in a registered project, and returns the path to hand
// on. What counts is where the path leads: one that lies in a project by its name and
// leads out of all of them is refused. One that only leads into a project is returned
// resolved, so that a search upward from it meets that project and no other.
func allowed(path string, entries []entry) (string, bool) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", false
	}
	named, inside := false, false
	for _, e := range entries {
		for _, root := range [...]string{e.repoRoot, e.dir} {
			named = named || within(path, root)
			if inside && named {
				return path, true
			}
			if inside {
				continue
			}
			if resolved, err := filepath.EvalSymlinks(root); err == nil {
				inside = within(real, resolved)
			}
		}
	}
	switch {
	case inside && named:
		return path, true
	case inside:
		return real, true
	}
	return "", false
}

// within says whether path is root or lies below it. Both are clean and absolute. A name
// that only begins with two dots is a name like any other.
func within(path, root string) bool {
	rel, err := filepath.Rel(root, path)
	if err != nil {
		return false
	}
	return rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}
