package main

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/tailrace/tailrace/internal/backend"
	"github.com/tailrace/tailrace/internal/backend/loki"
	"github.com/tailrace/tailrace/internal/project"
)

// lokiSources are the sources that --loki and --query mean: those of the project that are on
// a server, or else one on the usual server. A query of the call takes the place of theirs,
// and services the place of all that is the project's.
func (o *logsOptions) lokiSources(all []project.Source, name string) []project.Source {
	var sources []project.Source
	for _, s := range all {
		if s.Loki != nil {
			sources = append(sources, s)
		}
	}
	if len(sources) == 0 {
		sources = []project.Source{{Loki: &project.Loki{}}}
	}
	for i := range sources {
		l := *sources[i].Loki
		switch {
		case strings.TrimSpace(o.query) != "":
			l.Query = o.query
		case l.Query == "" || len(o.names) > 0:
			l.Query = loki.Selector(name, o.names)
		}
		sources[i].Loki = &l
	}
	return sources
}

// openLoki starts reading a source on a Loki server.
func (r *logsRun) openLoki(l project.Loki) (backend.Source, error) {
	o := loki.Options{
		URL: l.URL, Query: l.Query, Tenant: l.Tenant, Username: l.Username, CA: l.CA,
		Lines: r.o.lines(), Follow: r.o.follow, Since: r.o.sinceAt, Until: r.o.untilAt,
	}
	if o.URL == "" {
		o.URL = r.variable("HACK_LOKI_URL")
	}
	if o.Query == "" {
		o.Query = loki.Selector(r.plan.project, nil)
	}
	if ms, err := strconv.Atoi(r.variable("HACK_LOKI_READY_TIMEOUT_MS")); err == nil && ms > 0 && ms <= 600_000 {
		o.ReadyTimeout = time.Duration(ms) * time.Millisecond
	}
	for _, secret := range [...]struct {
		name string
		into *string
	}{{l.TokenEnv, &o.Token}, {l.PasswordEnv, &o.Password}} {
		if secret.name == "" {
			continue
		}
		if *secret.into = r.variable(secret.name); *secret.into == "" {
			return nil, &backend.Error{Code: backend.CodeUsage, Problem: "the variable that token_env or password_env names is not set: set it to the secret"}
		}
	}
	return loki.Open(o)
}

// lokiReady says whether the server of a source answers, within the time that a call has for
// the question.
func (o *logsOptions) lokiReady(ctx context.Context, c project.Context, s project.Source) bool {
	source, err := (&logsRun{o: o, plan: &plan{}, env: c.Env}).openLoki(*s.Loki)
	if err != nil {
		return false
	}
	defer source.Close()
	l, ok := source.(*loki.Source)
	return ok && l.Ready(ctx) == nil
}

// variable returns a variable of the environment; the last one of a name counts.
func (r *logsRun) variable(name string) string {
	value := ""
	for _, v := range r.env {
		if rest, ok := strings.CutPrefix(v, name+"="); ok {
			value = rest
		}
	}
	return value
}
