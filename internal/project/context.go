package project

import (
	"errors"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"strings"
)

// ErrNoHome says that neither HACK_HOME nor a home folder of the user is known.
var ErrNoHome = errors.New("no home folder: set HACK_HOME to the folder that holds projects.json")

// ErrNoCommand says that no backend command can be named.
var ErrNoCommand = errors.New("no backend command: set HACK_MCP_COMMAND to an executable, or put hack on PATH")

const registryFile = "projects.json"

// A Context is what one session captured of its surroundings. It is frozen: later
// changes of the process's environment or working directory have no effect on it. The
// zero value has no registry and finds no project; use [NewContext]. Do not change its
// slices.
type Context struct {
	// Cwd is the absolute working directory.
	Cwd string
	// Env holds the environment as "KEY=value" strings.
	Env []string
	// Home is HACK_HOME, or .hack in the home folder of the user.
	Home string
	// RegistryPath is the absolute path of projects.json. The file need not exist.
	RegistryPath string
	// Executable is the path of this program, the last resort of [Context.Command].
	Executable string
}

// NewContext captures a context. A relative cwd is made absolute; env is copied. The
// error is [ErrNoHome], or says that the working directory is unknown.
func NewContext(cwd string, env []string) (Context, error) {
	abs, err := filepath.Abs(cwd)
	if err != nil {
		return Context{}, errors.New("the working directory is not known: start in a folder that exists")
	}
	c := Context{Cwd: abs, Env: append(make([]string, 0, len(env)), env...)}
	// An unknown executable matters only where nothing else is configured, and
	// Command says so then.
	c.Executable, _ = os.Executable()

	if home := strings.TrimSpace(c.Getenv("HACK_HOME")); home != "" {
		c.Home = c.abs(home)
	} else if home := c.UserHome(); home != "" {
		c.Home = filepath.Join(c.abs(home), ".hack")
	}
	if config := strings.TrimSpace(c.Getenv("HACK_GLOBAL_CONFIG_PATH")); config != "" {
		c.RegistryPath = filepath.Join(filepath.Dir(c.abs(config)), registryFile)
	} else if c.Home != "" {
		c.RegistryPath = filepath.Join(c.Home, registryFile)
	}
	if c.Home == "" {
		return Context{}, ErrNoHome
	}
	return c, nil
}

// Getenv returns the captured value of a variable, or "". Of duplicates the last one
// counts, as it does for a child process.
func (c Context) Getenv(name string) string {
	for i := len(c.Env) - 1; i >= 0; i-- {
		key, value, ok := strings.Cut(c.Env[i], "=")
		if !ok {
			continue
		}
		if key == name || (runtime.GOOS == "windows" && strings.EqualFold(key, name)) {
			return value
		}
	}
	return ""
}

// UserHome returns the home folder of the user as the captured environment names it,
// else as the system does, or "".
func (c Context) UserHome() string {
	name := "HOME"
	if runtime.GOOS == "windows" {
		name = "USERPROFILE"
	}
	if home := strings.TrimSpace(c.Getenv(name)); home != "" {
		return home
	}
	if u, err := user.Current(); err == nil {
		return u.HomeDir
	}
	return ""
}

// abs resolves a path against the captured working directory. It follows no links.
func (c Context) abs(path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(c.Cwd, path)
}
