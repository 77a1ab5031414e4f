package main

import (
	"errors"
	"path/filepath"
	"strings"
	"time"

	"github.com/tailrace/tailrace/internal/backend"
	"github.com/tailrace/tailrace/internal/backend/compose"
	"github.com/tailrace/tailrace/internal/backend/journal"
	"github.com/tailrace/tailrace/internal/backend/kube"
	"github.com/tailrace/tailrace/internal/project"
	"github.com/tailrace/tailrace/pipeline"
	"github.com/tailrace/tailrace/pipeline/source"
)

// commandGrace is how long a command has after SIGTERM. It is shorter than the time that
// a server gives this program, so that the command is gone before this program is.
const commandGrace = 500 * time.Millisecond

// openSource starts reading a source.
func (r *logsRun) openSource(s project.Source) (pipeline.Source, error) {
	if s.Command == nil {
		return r.openFile(s)
	}
	path := s.Command[0]
	if !filepath.IsAbs(path) && strings.ContainsAny(path, `/`+string(filepath.Separator)) {
		path = filepath.Join(s.Dir, path)
	}
	return source.Start(source.Command{
		Path: path, Args: s.Command[1:], Dir: s.Dir, Env: append(r.env[:len(r.env):len(r.env)], s.Env...),
		Grace: commandGrace,
	})
}

func (r *logsRun) openFile(s project.Source) (pipeline.Source, error) {
	o := source.FileOptions{
		Follow: r.o.follow, LastLines: r.o.lines(), Root: r.plan.root, Decompress: true,
		Since: r.o.sinceAt, Until: r.o.untilAt, Time: lineTime,
	}
	window := timeWindow{since: r.o.sinceAt, until: r.o.untilAt}
	switch {
	case s.FromStart:
		o.LastLines = 0 // all
	case !r.o.follow && window.set():
		o.LastLines = 0 // all: the times of the lines decide which ones are the last
	case o.LastLines == 0:
		o.LastLines = -1 // only what is added
	case o.LastLines < 0:
		o.LastLines = 0 // all
	}
	return source.OpenFile(s.File, o)
}

// openProblem says why a source could not be opened. The texts of package source hold
// nothing of where it is.
func openProblem(err error) string {
	var spawn *source.SpawnError
	if errors.As(err, &spawn) {
		return spawn.Error() + " (" + string(spawn.Reason) + ")"
	}
	return err.Error()
}

// readProblem says why a source could not be read to its end.
func readProblem(err error) string {
	if errors.Is(err, source.ErrCompressed) {
		return err.Error()
	}
	return "could not be read to its end"
}

// openBackend starts reading a source of records.
func (r *logsRun) openBackend(s project.Source) (backend.Source, error) {
	lines := r.o.lines()
	switch {
	case s.Journal != nil:
		return journal.Open(journal.Options{
			Journal: *s.Journal, Env: r.env, Lines: lines, Follow: r.o.follow, Since: r.o.sinceAt, Until: r.o.untilAt,
		})
	case s.Kubernetes != nil:
		if !r.o.untilAt.IsZero() {
			lines = -1 // kubectl knows no end of times, and the last ones are those before it
		}
		return kube.Open(kube.Options{Kubernetes: *s.Kubernetes, Env: r.env, Lines: lines, Follow: r.o.follow, Since: r.o.sinceAt}), nil
	case s.Compose != nil:
		return compose.Open(compose.Options{
			Project: s.Compose.Project, Services: s.Compose.Services, Env: r.env,
			Lines: lines, Follow: r.o.follow, Since: r.o.sinceAt, Until: r.o.untilAt,
		})
	case s.Loki != nil:
		return r.openLoki(*s.Loki)
	}
	return nil, &backend.Error{Code: backend.CodeUsage, Problem: "is of a kind that this program does not know"}
}
