package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tailrace/tailrace/internal/project"
)

// A plan says which sources are read.
type plan struct {
	// project is the name that the events carry, "" where there is none.
	project string
	// root is the folder that files must lie in, "" where they may lie anywhere.
	root    string
	sources []project.Source
}

// plan finds the project and its sources, and refuses what the project has no right to.
func (o *logsOptions) plan(c project.Context) (*plan, error) {
	if len(o.files) > 0 {
		return &plan{sources: []project.Source{o.fileSource(c.Cwd)}}, nil
	}
	p, err := o.findProject(c)
	if err != nil {
		if o.wantsLoki && o.query != "" && !o.byName && !o.byPath {
			return &plan{sources: o.lokiSources(nil, "")}, nil // the query says it all
		}
		return nil, err
	}
	if p.ConfigPath == "" && o.wantsLoki {
		name, ok := c.RegisteredAs(p.Root)
		if !ok {
			name = p.Name
		}
		name = withBranch(name, o.branch)
		return &plan{project: name, sources: o.lokiSources(nil, name)}, nil
	}
	if p.ConfigPath == "" {
		return nil, &refusal{codeMissing, "the project has no tailrace.yaml: run `tailrace init` in its folder"}
	}
	config, err := project.LoadConfig(p.ConfigPath)
	if err != nil {
		return nil, err
	}
	out := &plan{project: p.Name}
	name, registered := c.RegisteredAs(p.Root)
	if registered {
		out.project = name
	}
	if config.Name != "" {
		out.project = config.Name
	}
	out.project = withBranch(out.project, o.branch)
	if o.wantsLoki {
		out.sources = o.lokiSources(config.Sources, out.project)
	} else if out.sources, err = o.choose(config.Sources); err != nil {
		return nil, err
	}
	if registered || o.wantsLoki && out.sources[0].Name == "" {
		return out, nil
	}
	// A repository that was only cloned must neither run anything nor show files from
	// outside of it.
	out.root = p.Root
	for _, s := range out.sources {
		if s.Kind() != project.KindFile {
			return nil, &refusal{codeNoAccess, "a source of this project is " + trusted[s.Kind()] + ", and the project is not registered: " +
				"read its tailrace.yaml, then run `tailrace init` in its folder, or name a source that is a file"}
		}
	}
	return out, nil
}

// trusted names the kinds that are for registered projects only: they run something, or use
// the rights of the user elsewhere.
var trusted = map[string]string{
	project.KindCommand:    "a command",
	project.KindJournal:    "a journal",
	project.KindKubernetes: "in a cluster",
	project.KindLoki:       "on a server",
}

func (o *logsOptions) findProject(c project.Context) (project.Project, error) {
	if o.byName {
		return c.Lookup(o.project)
	}
	dir := c.Cwd
	if o.byPath {
		var err error
		if dir, err = existing(c, o.path); err != nil {
			return project.Project{}, err
		}
	}
	p, ok := c.Find(dir)
	if !ok {
		return p, &project.SelectError{Code: project.CodeNotFound, Reason: project.ReasonNoProject}
	}
	return p, nil
}

// existing returns the absolute path of --path. Unlike a call of an agent, the user of
// the command line may name any folder: what it may do depends on its registration.
func existing(c project.Context, path string) (string, error) {
	if path == "" || strings.ContainsRune(path, 0) {
		return "", &project.SelectError{Code: project.CodeUsage, Reason: project.ReasonInvalidPath, Argument: "path"}
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(c.Cwd, path)
	}
	if _, err := os.Stat(path); err != nil {
		return "", &project.SelectError{Code: project.CodeNotFound, Reason: project.ReasonPathNotFound, Argument: "path"}
	}
	return filepath.Clean(path), nil
}

// choose returns the sources that were asked for, in the order of the file.
func (o *logsOptions) choose(all []project.Source) ([]project.Source, error) {
	if len(all) == 0 {
		return nil, &refusal{codeConfig, "tailrace.yaml lists no sources: add one below its key sources"}
	}
	if len(o.names) == 0 {
		return all, nil
	}
	var chosen []project.Source
	for _, s := range all {
		if slices.Contains(o.names, s.Name) {
			chosen = append(chosen, s)
		}
	}
	if len(chosen) < len(o.names) {
		return nil, &refusal{codeService, "a service that was asked for is no source of the project: the names are the keys below sources in its tailrace.yaml"}
	}
	return chosen, nil
}

// withBranch is the name of a project on a branch.
func withBranch(name, branch string) string {
	if slug := branchSlug(branch); slug != "" {
		return name + "--" + slug
	}
	return name
}

// branchSlug returns a branch as it stands in the name of a project, as the hack command
// line makes it.
func branchSlug(branch string) string {
	branch = strings.TrimSpace(branch)
	if branch == "" {
		return ""
	}
	var slug strings.Builder
	dash := false
	for _, r := range strings.ToLower(branch) {
		switch {
		case r == '_', r == ' ', r == '/', r == '-':
			dash = true
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			if dash {
				slug.WriteByte('-')
			}
			dash = false
			slug.WriteRune(r)
		}
	}
	if slug.Len() == 0 {
		return "branch"
	}
	return strings.TrimPrefix(slug.String(), "-")
}
