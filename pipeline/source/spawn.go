package source

import (
	"bufio"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
)

// A SpawnReason says why a command could not be started.
type SpawnReason string

// The spawn reasons.
const (
	CommandNotFound       SpawnReason = "command_not_found"
	CommandIsDirectory    SpawnReason = "command_is_directory"
	CommandNotExecutable  SpawnReason = "command_not_executable"
	CommandBadInterpreter SpawnReason = "command_bad_interpreter"
	CommandBadFormat      SpawnReason = "command_bad_format"
	BadWorkingDirectory   SpawnReason = "bad_working_directory"
	BadArgument           SpawnReason = "bad_argument"
	SpawnFailed           SpawnReason = "spawn_failed"
)

var spawnTexts = map[SpawnReason]string{
	CommandNotFound:       "the command was not found; install it, or give its full path",
	CommandIsDirectory:    "the command is a folder; name an executable file",
	CommandNotExecutable:  "the command is not executable; set its execute permission, or name another file",
	CommandBadInterpreter: "the interpreter that the command asks for was not found or cannot be run; install it, or correct the command's first line",
	CommandBadFormat:      "the command is not a program or a script with an interpreter line; name an executable file",
	BadWorkingDirectory:   "the working directory does not exist or cannot be entered; start from an existing folder",
	BadArgument:           "an argument or a variable holds a NUL byte or is too long; shorten it",
	SpawnFailed:           "the system could not start another process; end some, or raise its limits, and try again",
}

// A SpawnError is why a command could not be started. Its text never holds a path or an
// argument. errors.Is finds it by its reason: errors.Is(err, &SpawnError{Reason: CommandNotFound}).
type SpawnError struct {
	// Reason tells the causes apart.
	Reason SpawnReason
	// Err is the system's error number, or nil. It holds no path.
	Err error
}

// Error returns a fixed text for the reason, with what to do next.
func (e *SpawnError) Error() string { return spawnTexts[e.Reason] }

// Unwrap returns the system's error number.
func (e *SpawnError) Unwrap() error { return e.Err }

// Is says whether target is a SpawnError of the same reason, with the same error number
// or none.
func (e *SpawnError) Is(target error) bool {
	t, ok := target.(*SpawnError)
	return ok && t.Reason == e.Reason && (t.Err == nil || t.Err == e.Err)
}

// resolve finds the executable of a command: a name without a slash on the PATH of env,
// anything else as a path, both relative to its working directory.
func resolve(c Command, env []string) (string, error) {
	switch {
	case holdsNUL(c, env):
		return "", &SpawnError{Reason: BadArgument, Err: syscall.EINVAL}
	case c.Dir != "" && !enterable(c.Dir):
		return "", &SpawnError{Reason: BadWorkingDirectory}
	case c.Path == "":
		return "", &SpawnError{Reason: CommandNotFound}
	case batch(c.Path):
		return "", &SpawnError{Reason: CommandBadFormat}
	}
	if strings.ContainsRune(c.Path, os.PathSeparator) || strings.ContainsRune(c.Path, '/') {
		return absolute(c.Path, c.Dir), nil
	}
	found := CommandNotFound
	for _, folder := range filepath.SplitList(lookup(env, "PATH")) {
		if folder == "" {
			folder = "." // as execvp reads an empty element
		}
		for _, suffix := range suffixes() {
			path := filepath.Join(absolute(folder, c.Dir), c.Path+suffix)
			if info, err := os.Stat(path); err != nil || info.IsDir() {
				continue
			}
			if executable(path) {
				return path, nil
			}
			found = CommandNotExecutable
		}
	}
	return "", &SpawnError{Reason: found}
}

// absolute returns the path that path is from within dir. The system looks the executable
// up after it has entered dir, so that a relative dir must not be left in it.
func absolute(path, dir string) string {
	if filepath.IsAbs(path) {
		return path
	}
	if full, err := filepath.Abs(filepath.Join(dir, path)); err == nil {
		return full
	}
	return path // without a working directory of our own there is nothing to add
}

// suffixes are what may follow a name on the PATH.
func suffixes() []string {
	if runtime.GOOS != "windows" {
		return []string{""}
	}
	return []string{"", ".exe", ".com"}
}

// batch says whether Windows would hand the file to cmd.exe. That reads arguments as a
// language of its own, and no quoting is safe from it, so it is not started.
func batch(path string) bool {
	return runtime.GOOS == "windows" && batchName(path)
}

// batchName knows that Windows drops spaces and dots at the end of a name.
func batchName(path string) bool {
	name := strings.ToLower(strings.TrimRight(path, " ."))
	return strings.HasSuffix(name, ".bat") || strings.HasSuffix(name, ".cmd")
}

// sameName says whether two names are those of one variable.
func sameName(a, b string) bool {
	return a == b || runtime.GOOS == "windows" && strings.EqualFold(a, b)
}

// lookup returns the last value of a variable in env.
func lookup(env []string, name string) string {
	for i := len(env) - 1; i >= 0; i-- {
		if k, v, ok := strings.Cut(env[i], "="); ok && sameName(k, name) {
			return v
		}
	}
	return ""
}

// lastOfEach drops all but the last value of each variable. Which of two a program sees
// depends on the program otherwise.
func lastOfEach(env []string) []string {
	last := make(map[string]int, len(env))
	key := func(i int) string {
		// Windows has variables whose names begin with an equals sign.
		n := strings.IndexByte(env[i][min(1, len(env[i])):], '=') + 1
		if runtime.GOOS == "windows" {
			return strings.ToLower(env[i][:n])
		}
		return env[i][:n]
	}
	for i := range env {
		last[key(i)] = i
	}
	if len(last) == len(env) {
		return env
	}
	kept := make([]string, 0, len(last))
	for i, v := range env {
		if k := key(i); k == "" || last[k] == i {
			kept = append(kept, v)
		}
	}
	return kept
}

func holdsNUL(c Command, env []string) bool {
	for _, list := range [][]string{{c.Path, c.Dir}, c.Args, env} {
		for _, s := range list {
			if strings.IndexByte(s, 0) >= 0 {
				return true
			}
		}
	}
	return false
}

// classify says why starting path in dir failed with err. The system reports several
// causes by the same number, so the files are looked at.
func classify(path, dir string, err error) *SpawnError {
	e := &SpawnError{Reason: SpawnFailed, Err: number(err)}
	if dir != "" && !enterable(dir) {
		e.Reason = BadWorkingDirectory
		return e
	}
	info, statErr := os.Stat(path)
	switch {
	case errors.Is(statErr, fs.ErrNotExist), errors.Is(statErr, syscall.ENOTDIR), errors.Is(statErr, syscall.ENAMETOOLONG):
		e.Reason = CommandNotFound
	case statErr != nil:
		e.Reason = CommandNotExecutable
	case info.IsDir():
		e.Reason = CommandIsDirectory
	case errors.Is(err, syscall.ENOEXEC):
		e.Reason = CommandBadFormat
	case errors.Is(err, syscall.ENOENT):
		e.Reason = CommandBadInterpreter
	case errors.Is(err, syscall.E2BIG), errors.Is(err, syscall.EINVAL), errors.Is(err, syscall.ENAMETOOLONG):
		e.Reason = BadArgument
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.ENOTDIR):
		e.Reason = CommandNotExecutable
		if executable(path) && interpreterBroken(path, dir) {
			e.Reason = CommandBadInterpreter
		}
	case info.Size() == 0:
		e.Reason = CommandBadFormat
	}
	return e
}

// interpreterBroken says whether the file names an interpreter that cannot be run.
func interpreterBroken(path, dir string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	line, _ := bufio.NewReaderSize(f, 256).ReadSlice('\n')
	rest, ok := strings.CutPrefix(string(line), "#!")
	if !ok {
		return false
	}
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		return true
	}
	interpreter := absolute(fields[0], dir)
	info, err := os.Stat(interpreter)
	return err != nil || info.IsDir() || !executable(interpreter)
}

// number takes the system's error number out of an error that may hold a path.
func number(err error) error {
	var n syscall.Errno
	if errors.As(err, &n) {
		return n
	}
	return nil
}
