package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tailrace/tailrace/internal/logline"
	"github.com/tailrace/tailrace/internal/project"
)

const (
	// maxOpenFiles is how many files one source can have: they are open at the same time.
	maxOpenFiles = 256
	// scanEvery is how often patterns are looked at for new files, and goneScans after how
	// many looks without a file it is let go: its writer may have it open for a while.
	scanEvery = time.Second
	goneScans = 600
)

// The problems of the files of a source.
const (
	problemNoFile    = "no file matches: check the patterns"
	problemManyFiles = "more than 256 files match: make the patterns narrower"
	problemOutside   = "the file lies outside the folder that it may be read from; use a path inside it"
)

// fileSource is the source that the files of --file make up. What is there under a name is
// that file; of the others, what has one of *?[ in it is a pattern.
func (o *logsOptions) fileSource(cwd string) project.Source {
	var s project.Source
	for _, path := range o.files {
		if !filepath.IsAbs(path) {
			path = filepath.Join(cwd, path)
		}
		s.Files = append(s.Files, filepath.Clean(path))
	}
	if path := s.Files[0]; len(s.Files) == 1 && !isPattern(path) {
		return project.Source{File: path}
	}
	return s
}

func isPattern(path string) bool {
	if !strings.ContainsAny(path, "*?[") {
		return false
	}
	_, err := os.Lstat(path)
	return errors.Is(err, fs.ErrNotExist)
}

// parts returns a source for each file of a source of several, in the order of the patterns
// and of the names.
func (r *logsRun) parts(s project.Source) (parts []project.Source, problem string) {
	var paths []string
	for _, pattern := range s.Files {
		if rel, err := filepath.Rel(r.plan.root, pattern); r.plan.root != "" && (err != nil || !filepath.IsLocal(rel)) {
			return nil, problemOutside
		}
		matches := []string{pattern}
		if isPattern(pattern) {
			matches, _ = filepath.Glob(pattern) // a bad pattern matches nothing
			matches = slices.DeleteFunc(matches, func(path string) bool {
				info, err := os.Stat(path)
				return err == nil && !info.Mode().IsRegular()
			})
		}
		for _, path := range matches {
			if !slices.Contains(paths, path) {
				paths = append(paths, path)
			}
		}
		if len(paths) > maxOpenFiles {
			return nil, problemManyFiles
		}
	}
	for _, path := range paths {
		parts = append(parts, project.Source{Name: s.Name, File: path, Instance: filepath.Base(path)})
	}
	return parts, ""
}

// readFiles reads the files of a source, merged by time.
func (in *logReader) readFiles(ctx context.Context) failure {
	parts, problem := in.run.parts(in.source)
	if problem == "" && len(parts) == 0 {
		problem = problemNoFile
	}
	if problem != "" {
		return failure{problem: problem}
	}
	in.window = timeWindow{} // each of the files has looked at it
	failures := in.run.merge(ctx, parts, func(_ *origin, record logline.Record) bool {
		in.record(record)
		return !in.full
	})
	if ctx.Err() == nil {
		in.give()
	}
	for _, f := range failures {
		if f != (failure{}) {
			return f
		}
	}
	return failure{}
}

// followFiles follows the files of a source, and those that come to match its patterns while
// it does. A file whose name is that of a followed one with something behind it is taken for
// a rotated one, which who follows the other has read.
func (r *logsRun) followFiles(ctx context.Context, s project.Source) failure {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var wg sync.WaitGroup
	var mu sync.Mutex
	var failed failure
	followed := map[string]*followedFile{}
	patterns := slices.ContainsFunc(s.Files, isPattern)
	tick := time.NewTicker(scanEvery)
	defer tick.Stop()
	for first := true; ; first = false {
		parts, problem := r.parts(s)
		if problem != "" || len(followed)+len(parts) > 2*maxOpenFiles {
			if problem == "" {
				problem = problemManyFiles
			}
			stop()
			wg.Wait()
			return failure{problem: problem}
		}
		for _, f := range followed {
			f.gone++
		}
		for _, part := range parts {
			if f := followed[part.File]; f != nil {
				f.gone = 0
				continue
			}
			if !first && isRotated(part.File, followed) {
				continue
			}
			ctx, letGo := context.WithCancel(ctx)
			defer letGo()
			followed[part.File] = &followedFile{letGo: letGo}
			part.FromStart = !first
			wg.Go(func() {
				// Told at once, since the others may go on for long.
				if r.tell(part, r.read(ctx, part)) != "" {
					mu.Lock()
					defer mu.Unlock()
					failed.told = true
				}
			})
		}
		if !patterns {
			break
		}
		for path, f := range followed {
			if f.gone > goneScans {
				f.letGo()
				delete(followed, path)
			}
		}
		select {
		case <-tick.C:
			continue
		case <-ctx.Done():
		}
		break
	}
	wg.Wait()
	return failed
}

// A followedFile is a file that is read by a goroutine of its own.
type followedFile struct {
	letGo context.CancelFunc
	gone  int // looks in a row that did not see it
}

func isRotated(path string, followed map[string]*followedFile) bool {
	for i, c := range path {
		if (c == '.' || c == '-') && followed[path[:i]] != nil {
			return true
		}
	}
	return false
}
