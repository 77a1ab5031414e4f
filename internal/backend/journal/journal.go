// Package journal reads the journal of systemd by its program journalctl.
//
// An entry becomes a record: its unit is the service, its priority the level, and its time
// the one at which the journal took it. A follow whose program ends goes on behind the last
// entry by its cursor, so that nothing is lost or repeated.
package journal

import (
	"context"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/tailrace/tailrace/internal/backend"
	"github.com/tailrace/tailrace/internal/backend/tool"
	"github.com/tailrace/tailrace/internal/project"
)

const (
	// attempts is how often in a row a follow is started again without a new entry, and
	// retryAfter how long it waits before.
	attempts   = 5
	retryAfter = time.Second
)

// Options say what is read. The zero value reads all that there is, once.
type Options struct {
	project.Journal
	// Env is the environment of journalctl.
	Env []string
	// Lines is how many of the last entries are read, of those between the times; a negative
	// number means all.
	Lines int
	// Follow goes on with new entries.
	Follow bool
	// Since and Until bound the times of entries; zero means no such bound. Of a follow that
	// begins with some last entries, these can be older than Since.
	Since, Until time.Time
}

// A Source is a journal as a [backend.Source].
type Source struct {
	o   Options
	err error
}

// Open checks that there is a journal. The error is a *[backend.Error].
func Open(o Options) (*Source, error) {
	problem := ""
	switch {
	case o.File != "":
		if _, err := os.Stat(o.File); err != nil {
			problem = "the journal file was not found or may not be read; check its path"
		}
	case o.Directory != "":
		if !holds(o.Directory) {
			problem = "the folder holds no journal files; check its path"
		}
	case !holds("/var/log/journal") && !holds("/run/log/journal"):
		problem = "there is no journal on this machine: name a file or a directory of one"
	}
	if problem != "" {
		return nil, &backend.Error{Code: backend.CodeNotFound, Problem: problem}
	}
	return &Source{o: o}, nil
}

// holds says whether a folder, or a folder in it, has journal files.
func holds(dir string) bool {
	for _, pattern := range [...]string{"*.journal", "*.journal~", "*/*.journal", "*/*.journal~"} {
		if found, _ := filepath.Glob(filepath.Join(dir, pattern)); len(found) > 0 {
			return true
		}
	}
	return false
}

// args are the arguments of journalctl; cursor is that of the last entry, or "".
func (o *Options) args(cursor string) []string {
	args := []string{"--output=json", "--all", "--no-pager", "--output-fields=" + fields}
	for _, unit := range o.Units {
		if o.User {
			args = append(args, "--user-unit="+unit)
		} else {
			args = append(args, "--unit="+unit)
		}
	}
	if o.User && len(o.Units) == 0 {
		args = append(args, "--user")
	}
	for _, v := range [...][2]string{{"--identifier=", o.Identifier}, {"--priority=", o.Priority}, {"--file=", o.File}, {"--directory=", o.Directory}} {
		if v[1] != "" {
			args = append(args, v[0]+v[1])
		}
	}
	if !o.Until.IsZero() {
		args = append(args, "--until="+stamp(o.Until))
	}
	if o.Follow {
		args = append(args, "--follow")
	}
	if cursor != "" {
		return append(args, "--after-cursor="+cursor, "--lines=all")
	}
	if !o.Since.IsZero() && !(o.Follow && o.Lines >= 0) {
		args = append(args, "--since="+stamp(o.Since))
	}
	if o.Lines < 0 {
		return append(args, "--lines=all")
	}
	if o.backward() {
		args = append(args, "--reverse")
	}
	return append(args, "--lines="+strconv.Itoa(o.Lines))
}

// backward says whether entries are read from the newest on, and turned around here. Of the last
// entries of a time journalctl gives the first ones, or leaves out some, when it reads forward.
func (o *Options) backward() bool {
	return o.Lines >= 0 && !o.Follow && (!o.Since.IsZero() || !o.Until.IsZero())
}

// stamp writes a time as journalctl reads it, in seconds since 1970.
func stamp(t time.Time) string {
	us := t.UnixMicro()
	if us < 0 {
		us = 0
	}
	return "@" + strconv.FormatInt(us/1e6, 10) + "." + strconv.FormatInt(us%1e6+1e6, 10)[1:]
}

// Batches yields the entries.
func (s *Source) Batches(ctx context.Context) iter.Seq[[]backend.Item] {
	return func(yield func([]backend.Item) bool) {
		cursor, failed := "", 0
		for {
			before, stopped := cursor, false
			var batch []backend.Item
			backward := s.o.backward()
			give := func() bool {
				if backward {
					return true // all of them first
				}
				if len(batch) > 0 && !yield(batch) {
					stopped = true
				}
				batch = batch[:0]
				return !stopped
			}
			result, err := tool.Run(ctx, tool.Command{
				Name: "journalctl", Args: s.o.args(cursor), Env: s.o.Env,
				Missing: "journalctl was not found: install systemd, or put its folder on the PATH",
			}, func(line []byte) bool {
				r, at, ok := record(line)
				if at != "" {
					cursor = at
				}
				if ok {
					batch = append(batch, backend.Item{Record: r})
				}
				return len(batch) < 1000 || give()
			}, give)
			if err != nil {
				s.err = err
				return
			}
			if stopped || ctx.Err() != nil {
				return
			}
			if backward {
				slices.Reverse(batch)
				if backward = false; !give() {
					return
				}
			}
			if result.Long > 0 && !yield([]backend.Item{{Notice: &backend.Notice{
				Dropped: result.Long, Message: "entries of more than 32 MiB were left out",
			}}}) {
				return
			}
			if !s.o.Follow {
				s.err = problem(result)
				return
			}
			if cursor != before {
				failed = 0
			}
			if failed++; failed > attempts || cursor == "" && result.Exit.Failed() {
				if s.err = problem(result); s.err == nil {
					s.err = &backend.Error{Code: backend.CodeFailed, Problem: "journalctl does not follow the journal: run it by hand to see why"}
				}
				return
			}
			select {
			case <-time.After(retryAfter):
			case <-ctx.Done():
				return
			}
		}
	}
}

// problem says why journalctl failed; nil where it did not.
func problem(r tool.Result) error {
	switch {
	case !r.Exit.Failed():
		return nil
	case r.Says("Permission denied", "insufficient permissions", "Operation not permitted"):
		return &backend.Error{Code: backend.CodeDenied, Exit: r.Exit.Code, Problem: "the journal may not be read: add the user to the group systemd-journal, or run as root"}
	case r.Says("No such file", "No data available", "No journal files"):
		return &backend.Error{Code: backend.CodeNotFound, Exit: r.Exit.Code, Problem: "the journal cannot be opened: check that it is a journal file, or a folder of them"}
	}
	return &backend.Error{Code: backend.CodeFailed, Exit: r.Exit.Code, Problem: "journalctl failed with exit code " + strconv.Itoa(r.Exit.Code) + ": run it by hand to see why"}
}

// Err says why the journal could not be read to its end.
func (s *Source) Err() error { return s.err }

// Close does nothing: the program has ended with the loop.
func (s *Source) Close() error { return nil }
