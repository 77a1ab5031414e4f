package project

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// Command returns the backend command and the arguments that stand before those of a
// call. It is, in this order: HACK_MCP_COMMAND, trimmed and taken whole as one
// executable; hack in an absolute folder of the captured PATH; this program. A relative
// path is resolved against the captured working directory, a name on the captured PATH.
// A name that is not there, and a path that cannot be run, are returned all the same:
// starting it gives the typed reason. The error is [ErrNoCommand].
func (c Context) Command() (path string, args []string, err error) {
	if name := strings.TrimSpace(c.Getenv("HACK_MCP_COMMAND")); name != "" {
		if isPath(name) {
			return c.abs(name), nil, nil
		}
		if found, ok := c.lookPath(name, true); ok {
			return found, nil, nil
		}
		return name, nil, nil
	}
	if found, ok := c.lookPath("hack", false); ok {
		return found, nil, nil
	}
	if c.Executable == "" {
		return "", nil, ErrNoCommand
	}
	return c.Executable, nil, nil
}

func isPath(name string) bool {
	return strings.ContainsRune(name, '/') ||
		(runtime.GOOS == "windows" && strings.ContainsAny(name, `\:`))
}

// lookPath finds an executable on the captured PATH. The standard library's lookup
// reads the environment of the process and refuses relative entries, which here mean
// folders below the captured working directory. They count for a name that somebody set,
// and not for the default: a repository that was only cloned could bring a file of that
// name, and an empty entry of PATH would have it run.
func (c Context) lookPath(name string, relative bool) (string, bool) {
	path := c.Getenv("PATH")
	if path == "" {
		return "", false
	}
	for _, dir := range filepath.SplitList(path) {
		if !relative && !filepath.IsAbs(dir) {
			continue
		}
		base := filepath.Join(c.abs(dir), name)
		for _, ext := range c.extensions(name) {
			if executable(base + ext) {
				return base + ext, true
			}
		}
	}
	return "", false
}

// extensions returns what may follow a command's name in a folder of PATH.
func (c Context) extensions(name string) []string {
	if runtime.GOOS != "windows" {
		return []string{""}
	}
	list := c.Getenv("PATHEXT")
	if list == "" {
		list = ".COM;.EXE;.BAT;.CMD"
	}
	exts := strings.Split(list, ";")
	if filepath.Ext(name) != "" {
		exts = append([]string{""}, exts...)
	}
	return exts
}

func executable(path string) bool {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	return runtime.GOOS == "windows" || info.Mode().Perm()&0o111 != 0
}
