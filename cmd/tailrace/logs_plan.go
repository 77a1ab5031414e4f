package main

import (
	"context"
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
func (o *logsOptions) plan(ctx context.Context, c project.Context) (*plan, error) {
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
	var config project.Config
	if p.ConfigPath != "" {
		if config, err = project.LoadConfig(p.ConfigPath); err != nil {
			return nil, err
		}
	}
	if o.compose || len(config.Sources) == 0 {
		switch t, err := o.target(c, p); {
		case err != nil:
			return nil, err
		case t != nil && o.wantsLoki:
			return &plan{project: t.ComposeProject, sources: o.lokiSources(nil, t.ComposeProject)}, nil
		case t != nil:
			return o.composePlan(ctx, c, t)
		case o.compose:
			return nil, errNoCompose
		case p.ConfigPath == "" && !o.wantsLoki:
			return nil, &refusal{codeMissing, "the project has no tailrace.yaml: run `tailrace init` in its folder"}
		}
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
	} else if out.sources, err = o.choose(ctx, c, p, config.Sources); err != nil {
		return nil, err
	}
	out.nameAfterCompose()
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
	project.KindCompose:    "the containers of a compose project",
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

// choose returns the sources that were asked for, in the order of the file. What is no name of
// a source is one of a service of those that are containers.
func (o *logsOptions) choose(ctx context.Context, c project.Context, p project.Project, all []project.Source) ([]project.Source, error) {
	if len(all) == 0 {
		return nil, &refusal{codeConfig, "tailrace.yaml lists no sources: add one below its key sources"}
	}
	if len(o.names) == 0 {
		return o.withContainers(ctx, c, p, all, nil)
	}
	var chosen, containers []project.Source
	others := slices.Clone(o.names)
	for _, s := range all {
		if i := slices.Index(others, s.Name); i >= 0 {
			chosen, others = append(chosen, s), slices.Delete(others, i, i+1)
		} else if s.Compose != nil {
			containers = append(containers, s)
		}
	}
	if len(others) > 0 && len(containers) == 0 {
		return nil, &refusal{codeService, "a service that was asked for is no source of the project: the names are the keys below sources in its tailrace.yaml"}
	}
	chosen, err := o.withContainers(ctx, c, p, chosen, nil)
	if err != nil || len(others) == 0 {
		return chosen, err
	}
	containers, err = o.withContainers(ctx, c, p, containers, others)
	return append(chosen, containers...), err
}

// nameAfterCompose takes the name of the compose project where nothing else is read.
func (p *plan) nameAfterCompose() {
	name := ""
	for _, s := range p.sources {
		if s.Compose == nil || name != "" && s.Compose.Project != name {
			return
		}
		name = s.Compose.Project
	}
	p.project = name
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
