package project

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"syscall"
)

// A Selector says which project a call means; nil members are not given. The zero value
// means the project of the working directory.
type Selector struct {
	// ProjectName is the name of a registered project, in any spelling.
	ProjectName *string
	// RepoRoot and Path name a folder of a registered project, or something in it. Both
	// mean the same.
	RepoRoot, Path *string
}

// Select returns the arguments that tell the backend command which project is meant:
// "--project" with the name as it was given, "--path" with an absolute path, or none
// where the working directory says enough. A name that begins with a dash is one
// element with its flag, so that it cannot be read as a flag. The error is a
// *[SelectError].
func (c Context) Select(s Selector) (args []string, err error) {
	given := 0
	for _, value := range [...]*string{s.ProjectName, s.RepoRoot, s.Path} {
		if value != nil {
			given++
		}
	}
	switch {
	case given > 1:
		return nil, &SelectError{Code: CodeUsage, Reason: ReasonConflict, Argument: s.second()}
	case s.ProjectName != nil:
		return c.selectName(*s.ProjectName)
	case s.RepoRoot != nil:
		return c.selectPath("repoRoot", *s.RepoRoot)
	case s.Path != nil:
		return c.selectPath("path", *s.Path)
	}
	return c.selectCwd()
}

// second names the second selector that was given, the one to leave out.
func (s Selector) second() string {
	if s.Path != nil {
		return "path"
	}
	return "repoRoot"
}

func (c Context) selectName(name string) ([]string, error) {
	const argument = "projectName"
	if !ValidName(name) {
		return nil, &SelectError{Code: CodeUsage, Reason: ReasonInvalidName, Argument: argument}
	}
	if _, err := c.Lookup(name); err != nil {
		return nil, err
	}
	return NameArgs(name), nil
}

// NameArgs returns the arguments that select a project by its name. A name that begins
// with a dash is one element with its flag, so that it cannot be read as a flag.
func NameArgs(name string) []string {
	if strings.HasPrefix(name, "-") {
		return []string{"--project=" + name}
	}
	return []string{"--project", name}
}

// Lookup returns the registered project of a name, in any spelling. Several entries of
// one name are refused even where some of them are gone from disk. The error is a
// *[SelectError] whose Argument is projectName.
func (c Context) Lookup(name string) (Project, error) {
	const argument = "projectName"
	if !ValidName(name) {
		return Project{}, &SelectError{Code: CodeUsage, Reason: ReasonInvalidName, Argument: argument}
	}
	key := nameKey(name)
	var found []entry
	for _, e := range c.readRegistry() {
		if nameKey(e.name) == key {
			found = append(found, e)
		}
	}
	switch {
	case len(found) > 1:
		return Project{}, &SelectError{Code: CodeUsage, Reason: ReasonAmbiguous, Argument: argument}
	case len(found) == 0 || !found[0].live():
		return Project{}, &SelectError{Code: CodeNotFound, Reason: ReasonUnknown, Argument: argument}
	}
	return found[0].project(), nil
}

func (c Context) selectPath(argument, value string) ([]string, error) {
	path, err := c.CheckPath(argument, value)
	if err != nil {
		return nil, err
	}
	return []string{"--path", path}, nil
}

// CheckPath returns the absolute path of a selector's value, which must exist and lie in
// a registered project. Argument is the selector's name, for the error, a
// *[SelectError].
func (c Context) CheckPath(argument, value string) (string, error) {
	path, err := c.Existing(argument, value)
	if err != nil {
		return "", err
	}
	path, ok := allowed(path, c.readRegistry())
	if !ok {
		return "", &SelectError{Code: CodePermission, Reason: ReasonOutside, Argument: argument}
	}
	return path, nil
}

// Existing returns the absolute path of a selector's value, which must exist but need
// not lie in a registered project: it is for what makes a folder one. The error is a
// *[SelectError].
func (c Context) Existing(argument, value string) (string, error) {
	if value == "" || strings.ContainsRune(value, 0) {
		return "", &SelectError{Code: CodeUsage, Reason: ReasonInvalidPath, Argument: argument}
	}
	path := c.abs(value)
	if _, err := os.Stat(path); err != nil {
		switch {
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
			return "", &SelectError{Code: CodeNotFound, Reason: ReasonPathNotFound, Argument: argument}
		case errors.Is(err, fs.ErrPermission):
			return "", &SelectError{Code: CodePermission, Reason: ReasonUnreadable, Argument: argument}
		}
		// A name that is too long, a loop of links: no path of anything.
		return "", &SelectError{Code: CodeUsage, Reason: ReasonInvalidPath, Argument: argument}
	}
	return path, nil
}

func (c Context) selectCwd() ([]string, error) {
	if _, ok := c.Find(c.Cwd); ok {
		return nil, nil
	}
	if path, ok := allowed(c.Cwd, c.readRegistry()); ok {
		return []string{"--path", path}, nil
	}
	return nil, &SelectError{Code: CodeNotFound, Reason: ReasonNoProject}
}
