package project

import (
	"os"
	"path/filepath"
)

// RepoRoot returns the folder of a repoRoot whose files are to be looked at, with links
// resolved. It may be a repository, which holds .git, or lie in a registered project or
// in the captured working directory, unless that is the root of all folders. The error
// is a *[SelectError] whose Argument is repoRoot.
func (c Context) RepoRoot(value string) (string, error) {
	const argument = "repoRoot"
	path, err := c.Existing(argument, value)
	if err != nil {
		return "", err
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", &SelectError{Code: CodePermission, Reason: ReasonUnreadable, Argument: argument}
	}
	if info, err := os.Stat(real); err != nil || !info.IsDir() {
		return "", &SelectError{Code: CodeUsage, Reason: ReasonNotFolder, Argument: argument}
	}
	if _, ok := allowed(path, c.readRegistry()); ok || c.inCwd(real) || holdsGit(real) {
		return real, nil
	}
	return "", &SelectError{Code: CodePermission, Reason: ReasonNotRepo, Argument: argument}
}

// inCwd says whether a resolved path lies in the working directory.
func (c Context) inCwd(real string) bool {
	cwd, err := filepath.EvalSymlinks(c.Cwd)
	return err == nil && filepath.Dir(cwd) != cwd && within(real, cwd)
}

// holdsGit says whether a folder is the root of a repository. A work tree has a file of
// that name. A link is none: it could be made to stand for any folder.
func holdsGit(dir string) bool {
	info, err := os.Lstat(filepath.Join(dir, ".git"))
	return err == nil && (info.IsDir() || info.Mode().IsRegular())
}
