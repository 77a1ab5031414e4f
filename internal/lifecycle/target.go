package lifecycle

import (
	"slices"
	"strings"

	"github.com/tailrace/tailrace/internal/composefile"
	"github.com/tailrace/tailrace/internal/lazyregexp"
	"github.com/tailrace/tailrace/internal/project"
)

// nameRE is what names of services, profiles and environments are made of. None can be
// read as a flag.
var nameRE = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,252}$`)

// A Selection says which project a command is for. The zero value means the one of the
// working directory.
type Selection struct {
	// Project is the name of a registered project, and Path a folder in a project. At most
	// one is given; nil is not given.
	Project, Path *string
	// Branch names the instance, "" the base.
	Branch string
	// Profiles are the compose profiles, separated by commas.
	Profiles string
	// Env names the environment whose .env.NAME is laid over .env; "" and "base" mean none.
	Env string
}

// A Target is one instance of a project.
type Target struct {
	Project project.Project
	// Name is the name that the project is registered by, else that of the compose project.
	Name string
	// Registered says that the user has set the project up.
	Registered bool
	// Branch is the branch as it was given, trimmed; "" for the base instance.
	Branch string
	// ComposeProject is the name of the compose project, with the branch.
	ComposeProject string

	set      composefile.Set
	env      *composefile.Env
	profiles []string
}

// Find finds the project of a selection. The error is a [*project.SelectError].
func Find(c project.Context, s Selection) (project.Project, error) {
	if s.Project != nil {
		return c.Lookup(*s.Project)
	}
	dir := c.Cwd
	if s.Path != nil {
		var err error
		if dir, err = c.Existing("path", *s.Path); err != nil {
			return project.Project{}, err
		}
	}
	p, ok := c.Find(dir)
	if !ok {
		return p, &project.SelectError{Code: project.CodeNotFound, Reason: project.ReasonNoProject}
	}
	return p, nil
}

// Select returns the instance that a selection means. The error is a *[Error] or a
// [*project.SelectError].
func Select(c project.Context, s Selection) (*Target, error) {
	if s.Project != nil && s.Path != nil {
		return nil, ErrNames
	}
	t := &Target{Branch: strings.TrimSpace(s.Branch)}
	for _, name := range strings.Split(s.Profiles, ",") {
		if name = strings.TrimSpace(name); name == "" || slices.Contains(t.profiles, name) {
			continue
		}
		if !nameRE.MatchString(name) {
			return nil, ErrProfile
		}
		t.profiles = append(t.profiles, name)
	}
	if s.Env != "" && !nameRE.MatchString(s.Env) {
		return nil, ErrEnvName
	}
	var err error
	if t.Project, err = Find(c, s); err != nil {
		return nil, err
	}
	if t.set, err = composefile.Find(t.Project); err != nil {
		return nil, problem(err)
	}
	if t.env, err = t.set.Env(c.Env, s.Env); err != nil {
		return nil, problem(err)
	}
	if t.ComposeProject, err = t.set.Name(t.env, t.Branch); err != nil {
		return nil, problem(err)
	}
	entry, registered := c.EntryOf(t.Project.Root)
	t.Registered, t.Name, t.Project.DevHost = registered, entry.Project.Name, entry.DevHost
	if !registered {
		t.Name, _ = t.set.Name(t.env, "") // it was good with the branch
	}
	return t, nil
}

// branchOrNull is the branch for JSON.
func (t *Target) branchOrNull() *string {
	if t.Branch == "" {
		return nil
	}
	return &t.Branch
}
