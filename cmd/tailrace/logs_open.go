package main

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

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
	last := r.o.lines()
	window := timeWindow{since: r.o.sinceAt, until: r.o.untilAt}
	if !r.o.follow && window.set() {
		last = -1 // the times of the lines decide which are the last
	}
	return source.OpenFile(s.File, source.FileOptions{Follow: r.o.follow, LastLines: last, Root: r.plan.root})
}

// openProblem says why a source could not be opened, and nothing of where it is.
func openProblem(err error) string {
	var spawn *source.SpawnError
	switch {
	case errors.As(err, &spawn):
		return spawn.Error() + " (" + string(spawn.Reason) + ")"
	case errors.Is(err, fs.ErrNotExist):
		return "the file does not exist"
	case errors.Is(err, fs.ErrPermission):
		return "the file may not be read by this user"
	}
	return "the file cannot be read"
}
