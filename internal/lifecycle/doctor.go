package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/tailrace/tailrace/internal/project"
)

// A Check is one line of a report.
type Check struct {
	ID string `json:"id"`
	// Status is ok, warn or error.
	Status string `json:"status"`
	// Detail says what is there, or what to do.
	Detail     string `json:"detail"`
	DurationMs int64  `json:"durationMs"`
}

// Counts are the numbers of checks by their status.
type Counts struct {
	OK    int `json:"ok"`
	Warn  int `json:"warn"`
	Error int `json:"error"`
}

// A Report is what [Examine] found.
type Report struct {
	Checks []Check `json:"checks"`
	Counts Counts  `json:"counts"`
	// Summary is one line for each check that is not ok.
	Summary []string `json:"summary"`
}

const (
	statusOK    = "ok"
	statusWarn  = "warn"
	statusError = "error"
)

// Examine checks what the commands of this package need: docker, its compose plugin, its
// engine, the registry, and the project of a selection. now is the clock.
func Examine(ctx context.Context, c project.Context, s Selection, now func() time.Time) *Report {
	r := &Report{Checks: []Check{}, Summary: []string{}}
	check := func(id string, look func() (status, detail string)) {
		began := now()
		status, detail := look()
		r.add(Check{ID: id, Status: status, Detail: detail, DurationMs: now().Sub(began).Milliseconds()})
	}
	d, dockerErr := NewDocker(c)
	check("docker", func() (string, string) {
		if dockerErr != nil {
			return statusError, dockerErr.Error()
		}
		return statusOK, "docker is on the PATH"
	})
	if dockerErr == nil {
		check("compose", func() (string, string) {
			return d.version(ctx, "the compose plugin", ErrNoCompose, "compose", "version", "--short")
		})
		check("engine", func() (string, string) {
			return d.version(ctx, "the engine", ErrNoEngine, "version", "--format", "{{.Server.Version}}")
		})
	}
	check("registry", func() (string, string) { return registryState(c) })
	var t *Target
	check("project", func() (status, detail string) {
		t, status, detail = projectState(c, s)
		return status, detail
	})
	if t != nil {
		check("environment", func() (string, string) { return environmentState(ctx, t) })
	}
	return r
}

func (r *Report) add(c Check) {
	r.Checks = append(r.Checks, c)
	switch c.Status {
	case statusOK:
		r.Counts.OK++
		return
	case statusWarn:
		r.Counts.Warn++
	default:
		r.Counts.Error++
	}
	r.Summary = append(r.Summary, c.ID+": "+c.Detail)
}

// version asks for a version. What is no version is not repeated.
func (d *Docker) version(ctx context.Context, what string, missing error, args ...string) (status, detail string) {
	out, code, err := d.output(ctx, "", args)
	if err != nil || code != 0 {
		return statusError, missing.Error()
	}
	v := strings.TrimSpace(string(out))
	if !nameRE.MatchString(strings.ReplaceAll(strings.ReplaceAll(v, "+", "."), "~", ".")) {
		return statusOK, what + " answers"
	}
	return statusOK, what + " answers, version " + v
}

func registryState(c project.Context) (status, detail string) {
	if err := c.CheckRegistry(); err != nil {
		if errors.Is(err, project.ErrRegistryForm) {
			return statusError, project.ErrRegistryForm.Error()
		}
		return statusError, project.ErrRegistryAccess.Error()
	}
	entries, gone := c.List(), 0
	for _, e := range entries {
		if !e.Live {
			gone++
		}
	}
	if gone > 0 {
		return statusWarn, fmt.Sprintf("%d of %d registered projects are gone from disk: `tailrace projects` shows which", gone, len(entries))
	}
	return statusOK, fmt.Sprintf("registered projects: %d", len(entries))
}

func projectState(c project.Context, s Selection) (t *Target, status, detail string) {
	t, err := Select(c, s)
	var e *Error
	switch {
	case err == nil && !t.Registered:
		return t, statusWarn, ErrNotAllowed.Text
	case err == nil:
		return t, statusOK, "the project is registered, and its compose files give it a name"
	case errors.As(err, &e) && e.Code == CodeNoProject:
		return nil, statusWarn, e.Text // It may have other logs than those of containers.
	}
	var sel *project.SelectError
	if errors.As(err, &sel) && sel.Reason == project.ReasonNoProject {
		return nil, statusWarn, err.Error()
	}
	return nil, statusError, err.Error()
}

func environmentState(ctx context.Context, t *Target) (status, detail string) {
	m, err := t.model(ctx, "")
	if err != nil {
		return statusError, err.Error()
	}
	if missing := m.Missing(); len(missing) > 0 {
		return statusError, "required variables have no value: " + strings.Join(missing, ", ")
	}
	return statusOK, fmt.Sprintf("services: %d, and no required variable is missing", len(m.Services()))
}
