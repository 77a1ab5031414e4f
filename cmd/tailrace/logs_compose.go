package main

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/tailrace/tailrace/internal/lifecycle"
	"github.com/tailrace/tailrace/internal/project"
)

// target is the compose project of a project, nil where it has no compose file.
func (o *logsOptions) target(c project.Context, p project.Project) (*lifecycle.Target, error) {
	t, err := lifecycle.TargetOf(c, p, lifecycle.Selection{Branch: o.branch, Profiles: o.profile})
	var known *lifecycle.Error
	if errors.As(err, &known) && known.Code == lifecycle.CodeNoProject {
		return nil, nil
	}
	return t, err
}

// composePlan reads the containers of the compose file of a project, or the Loki that
// collects their logs.
func (o *logsOptions) composePlan(ctx context.Context, c project.Context, t *lifecycle.Target) (*plan, error) {
	out := &plan{project: t.ComposeProject}
	if o.prefersLoki(c, t) {
		loki := o.lokiSources(nil, t.ComposeProject)
		if o.lokiReady(ctx, c, loki[0]) {
			out.sources = loki
			return out, nil
		}
	}
	if !t.Registered {
		return nil, lifecycle.ErrNotAllowed
	}
	services, others, err := t.LogServices(ctx, o.names)
	if err != nil {
		return nil, err
	}
	if len(others) > 0 {
		return nil, lifecycle.ErrService
	}
	out.sources = []project.Source{{Compose: &project.Compose{Project: t.ComposeProject, Services: services}}}
	return out, nil
}

// prefersLoki says whether the logs of a compose project are looked for on a Loki server
// first: the reference command line does so where the call has times or several services,
// or the configuration says so, and, without one, for a snapshot. That its collector is
// there is known of projects of its own form only, or where HACK_LOKI_URL is set.
func (o *logsOptions) prefersLoki(c project.Context, t *lifecycle.Target) bool {
	if o.compose || t.Project.DirName == "." && strings.TrimSpace(c.Getenv("HACK_LOKI_URL")) == "" {
		return false
	}
	switch choice := t.LogBackend(o.follow); {
	case o.services != "" || o.since != "" || o.until != "":
		return true
	case choice == project.KindLoki, choice == project.KindCompose:
		return choice == project.KindLoki
	}
	return !o.follow
}

// withContainers fills in what the compose sources of tailrace.yaml leave open. services are
// those that were asked for, none for all.
func (o *logsOptions) withContainers(ctx context.Context, c project.Context, p project.Project, sources []project.Source, services []string) ([]project.Source, error) {
	var t *lifecycle.Target
	for i, s := range sources {
		if s.Compose == nil {
			continue
		}
		own := *s.Compose
		wanted := services
		if own.Project == "" {
			if t == nil {
				var err error
				if t, err = o.target(c, p); err != nil {
					return nil, err
				}
			}
			if t == nil {
				return nil, &refusal{codeMissing, "a source of the project is its containers, and it has no compose file: add one, or the key project to the source"}
			}
			own.Project = t.ComposeProject
			known, others, err := t.LogServices(ctx, services)
			if err != nil {
				return nil, err
			}
			if len(others) > 0 {
				return nil, lifecycle.ErrService
			}
			wanted = known
		}
		switch {
		case len(own.Services) == 0:
			own.Services = wanted
		case len(wanted) > 0:
			own.Services = slices.DeleteFunc(slices.Clone(own.Services), func(name string) bool { return !slices.Contains(wanted, name) })
			if len(own.Services) == 0 {
				return nil, lifecycle.ErrService
			}
		}
		sources[i].Compose = &own
	}
	return sources, nil
}
