package mcp

import (
	"github.com/tailrace/tailrace/internal/project"
)

// A selected says which project a call is for: as arguments of the command and, where a
// tool needs it, by its registered name.
type selected struct {
	argv []string
	name string
	// project says that the call is for one project.
	project bool
}

// selection finds the project of a call.
func (s *server) selection(t *tool, args arguments) (selected, *refusal) {
	if t.field("projectName") == nil {
		return selected{}, nil
	}
	sel := args.selector()
	if t.anchor {
		return s.anchor(sel)
	}
	argv, err := s.project.Select(sel)
	if err != nil {
		return selected{}, refusedSelection(err)
	}
	if t.byPath && sel.ProjectName != nil {
		p, err := s.project.Lookup(*sel.ProjectName)
		if err != nil {
			return selected{}, refusedSelection(err)
		}
		return selected{argv: []string{"--path", p.Root}}, nil
	}
	if t.data != instancesData {
		return selected{argv: argv, project: true}, nil
	}
	// The inventory is asked for by name only.
	name, err := s.registeredName(sel, argv)
	if err != nil {
		return selected{}, refusedSelection(err)
	}
	return selected{argv: project.NameArgs(name), name: name, project: true}, nil
}

// anchor is the folder that is to become a project.
func (s *server) anchor(sel project.Selector) (selected, *refusal) {
	conflict := &project.SelectError{Code: project.CodeUsage, Reason: project.ReasonConflict, Argument: "repoRoot"}
	argument, value := "repoRoot", sel.RepoRoot
	if value == nil {
		argument, value = "path", sel.Path
	}
	switch {
	case value == nil:
		return selected{}, invalid("repoRoot or path is required: give the folder to set up")
	case sel.ProjectName != nil, sel.RepoRoot != nil && sel.Path != nil:
		return selected{}, refusedSelection(conflict)
	}
	path, err := s.project.Existing(argument, *value)
	if err != nil {
		return selected{}, refusedSelection(err)
	}
	return selected{argv: []string{"--path", path}, project: true}, nil
}

// registeredName returns the name that the selected project is registered by.
func (s *server) registeredName(sel project.Selector, argv []string) (string, error) {
	if sel.ProjectName != nil {
		p, err := s.project.Lookup(*sel.ProjectName)
		return p.Name, err
	}
	dir := s.project.Cwd
	if len(argv) == 2 {
		dir = argv[1]
	}
	if p, ok := s.project.Find(dir); ok {
		if name, ok := s.project.RegisteredAs(p.Root); ok {
			return name, nil
		}
	}
	return "", &project.SelectError{Code: project.CodeNotFound, Reason: project.ReasonNoProject}
}
