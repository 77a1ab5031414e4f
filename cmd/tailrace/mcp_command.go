package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/tailrace/tailrace/internal/install"
	"github.com/tailrace/tailrace/internal/project"
)

// programName is what the program is called on a PATH.
const programName = "tailrace"

// errTemporary is about a program that `go run` or `go test` built.
var errTemporary = errors.New("this program is a temporary build that will be gone: run `go install ./cmd/tailrace`, or name the program with --command")

// serverCommand returns the command of the server's entry: the given one, the name for a
// project, else this program. temporary says that it will be gone soon.
func serverCommand(c project.Context, scope install.Scope, given string, isGiven bool) (command string, temporary bool) {
	switch {
	case isGiven && strings.ContainsAny(given, `/\`) && !filepath.IsAbs(given):
		return filepath.Join(c.Cwd, given), false
	case isGiven:
		return given, false
	case scope == install.Project:
		return programName, false
	}
	found, ok := c.LookPath(programName)
	switch {
	case temporaryBuild(c.Executable) && ok && !temporaryBuild(found):
		return found, false
	case temporaryBuild(c.Executable):
		return programName, true
	case ok && sameFile(found, c.Executable):
		// Package managers keep a link of a name that outlives the version behind it.
		return found, false
	}
	return c.Executable, false
}

// checkServeArgs says whether mcp serve takes some arguments, so that a client is not set up
// with a server that does not start.
func checkServeArgs(a *app, args []string) error {
	serve := newServeCommand(a)
	if err := serve.ParseFlags(args); err != nil {
		return &usageError{"behind --: " + flagProblem(err)}
	}
	if serve.Flags().NArg() > 0 {
		return &usageError{"behind -- stand flags of mcp serve only"}
	}
	for _, name := range append([]string{"http", "help"}, httpOnly...) {
		if serve.Flags().Changed(name) {
			return &usageError{"a client that starts the server speaks to it on stdin and stdout: leave out --" + name}
		}
	}
	return nil
}

func sameFile(a, b string) bool {
	infoA, errA := os.Stat(a)
	infoB, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(infoA, infoB)
}

// temporaryBuild says whether a path lies in a folder that the go command makes for
// programs that it builds and runs at once.
func temporaryBuild(path string) bool {
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		if strings.HasPrefix(filepath.Base(dir), "go-build") {
			return true
		}
		if dir == filepath.Dir(dir) {
			return path == ""
		}
	}
}

// projectRoot returns the root of the project that the working directory lies in: that
// of a project of ours, else of a git repository, else the working directory itself.
func projectRoot(c project.Context) string {
	if p, ok := c.Find(c.Cwd); ok {
		return p.Root
	}
	for dir := c.Cwd; ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			return c.Cwd
		}
	}
}
