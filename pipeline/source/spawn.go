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
	CommandBadInterpreter: "the interpreter named in the command's first line was not found; install it, or correct the line",
	CommandBadFormat:      "the command is not a program or a script with an interpreter line; name an executable file",
	BadWorkingDirectory:   "the working directory does not exist or cannot be entered; start from an existing folder",
	BadArgument:           "an argument or a variable holds a NUL byte or is too long; shorten it",
	SpawnFailed:           "the system could not start another process; end some, or raise its limits, and try again",
}

// A SpawnError is why a command could not be started. Its text never holds a path or an argument.
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

// resolve finds the executable of a command: a name without a slash on the PATH of env,
// anything else as a path, both relative to dir.
func resolve(name, dir string, env []string) (string, error) {
	if name == "" {
		return "", &SpawnError{Reason: CommandNotFound}
	}
	if strings.ContainsRune(name, os.PathSeparator) || strings.ContainsRune(name, '/') {
		return absolute(name, dir), nil
	}
	found := CommandNotFound
	for _, folder := range filepath.SplitList(lookup(env, "PATH")) {
		if folder == "" {
			folder = "." // as execvp reads an empty element
		}
		for _, suffix := range suffixes(env) {
			path := filepath.Join(absolute(folder, dir), name+suffix)
			info, err := os.Stat(path)
			if err != nil || info.IsDir() {
				continue
			}
			if runtime.GOOS == "windows" || info.Mode()&0o111 != 0 {
				return path, nil
			}
			found = CommandNotExecutable
		}
	}
	return "", &SpawnError{Reason: found}
}

func absolute(path, dir string) string {
	if filepath.IsAbs(path) || dir == "" {
		return path
	}
	return filepath.Join(dir, path)
}

// suffixes are what may follow a name on the PATH.
func suffixes(env []string) []string {
	if runtime.GOOS != "windows" {
		return []string{""}
	}
	// Scripts for cmd.exe are left out: it would read their arguments as its own language.
	return []string{"", ".exe", ".com"}
}

// lookup returns the last value of a variable in env.
func lookup(env []string, name string) string {
	for i := len(env) - 1; i >= 0; i-- {
		if k, v, ok := strings.Cut(env[i], "="); ok && (k == name || runtime.GOOS == "windows" && strings.EqualFold(k, name)) {
			return v
		}
	}
	return ""
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
	case errors.Is(statErr, fs.ErrNotExist), errors.Is(statErr, syscall.ENOTDIR):
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
	case errors.Is(err, fs.ErrPermission):
		e.Reason = CommandNotExecutable
		if info.Mode()&0o111 != 0 && interpreterMissing(path) {
			e.Reason = CommandBadInterpreter
		}
	case info.Size() == 0:
		e.Reason = CommandBadFormat
	}
	return e
}

// enterable says whether dir is a folder that a process can be started in.
func enterable(dir string) bool {
	info, err := os.Stat(dir)
	if err != nil || !info.IsDir() {
		return false
	}
	f, err := os.Open(filepath.Join(dir, "."))
	if err == nil {
		f.Close()
	}
	return err == nil || !errors.Is(err, fs.ErrNotExist)
}

// interpreterMissing says whether the file names an interpreter that cannot be run.
func interpreterMissing(path string) bool {
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
	info, err := os.Stat(fields[0])
	return err != nil || info.IsDir() || info.Mode()&0o111 == 0
}

// number takes the system's error number out of an error that may hold a path.
func number(err error) error {
	var n syscall.Errno
	if errors.As(err, &n) {
		return n
	}
	return nil
}
