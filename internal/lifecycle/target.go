package lifecycle

import (
	"context"
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

// profiles are the names, each once.
func (s Selection) profiles() []string {
	var names []string
	for _, name := range strings.Split(s.Profiles, ",") {
		if name = strings.TrimSpace(name); name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// check looks at the names.
func (s Selection) check() error {
	for _, name := range s.profiles() {
		if !nameRE.MatchString(name) {
			return ErrProfile
		}
	}
	if s.Env != "" && !nameRE.MatchString(s.Env) {
		return ErrEnvName
	}
	return nil
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
	if err := s.check(); err != nil {
		return nil, err
	}
	p, err := Find(c, s)
	if err != nil {
		return nil, err
	}
	return TargetOf(c, p, s)
}

// TargetOf is [Select] for a project that was found.
func TargetOf(c project.Context, p project.Project, s Selection) (*Target, error) {
	t := &Target{Project: p, Branch: strings.TrimSpace(s.Branch), profiles: s.profiles()}
	if err := s.check(); err != nil {
		return nil, err
	}
	var err error
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

// LogServices returns the services whose logs are meant: of the names those that the compose
// file has, else, with profiles, those that these start. None means all. others are the
// names that it has not. The error is a *[Error].
func (t *Target) LogServices(ctx context.Context, names []string) (services, others []string, err error) {
	if len(names) == 0 && len(t.profiles) == 0 {
		return nil, nil, nil
	}
	model, err := t.set.Model(ctx, t.env, t.Registered)
	if err != nil {
		return nil, nil, problem(err)
	}
	if len(names) == 0 {
		return model.Active(t.profiles), nil, nil
	}
	known := model.Services()
	for _, name := range names {
		if slices.Contains(known, name) {
			services = append(services, name)
		} else {
			others = append(others, name)
		}
	}
	return services, others, nil
}

// LogBackend is the backend that hack.config.json names for logs, "" for none.
func (t *Target) LogBackend(follow bool) string {
	logs := t.set.Config().Logs
	if follow {
		return logs.FollowBackend
	}
	return logs.SnapshotBackend
}

// branchOrNull is the branch for JSON.
func (t *Target) branchOrNull() *string {
	if t.Branch == "" {
		return nil
	}
	return &t.Branch
}
