package composefile

import (
	"bytes"
	"path/filepath"

	"github.com/compose-spec/compose-go/v2/dotenv"
)

// An Env is the environment that the compose files of a project are interpolated with: the
// captured environment of the process, and the .env files below it. It keeps its values to
// itself. It is immutable.
type Env struct {
	process map[string]string
	files   []envFile // lowest precedence first
	overlay string
}

// An envFile is one file of variables.
type envFile struct {
	path   string
	place  string
	values map[string]string
}

// Env reads the environment of the set. overlay names an environment whose .env.NAME is
// laid over .env; "" and "base" mean none. The error is [ErrEnvFile] or [ErrOverlay].
func (s Set) Env(process []string, overlay string) (*Env, error) {
	e := &Env{process: map[string]string{}, overlay: overlay}
	for _, pair := range process {
		for i := range len(pair) {
			if pair[i] == '=' && i > 0 {
				e.process[pair[:i]] = pair[i+1:]
				break
			}
		}
	}
	if overlay == "base" {
		e.overlay = ""
	}
	names := []string{".env"}
	if e.overlay != "" {
		names = append(names, ".env."+e.overlay)
	}
	for _, name := range names {
		path := filepath.Join(s.Dir, name)
		if !isFile(path) {
			if name != ".env" {
				return nil, ErrOverlay
			}
			continue
		}
		values, err := parseEnvFile(path, e.lookup)
		if err != nil {
			return nil, ErrEnvFile
		}
		e.files = append(e.files, envFile{path, s.place(path), values})
	}
	return e, nil
}

// Overlay is the name of the environment that is laid over the base, or "".
func (e *Env) Overlay() string { return e.overlay }

// Files are the .env files that were read, as paths within the project, the first one with
// the lowest precedence.
func (e *Env) Files() []string {
	out := []string{}
	for _, f := range e.files {
		out = append(out, f.place)
	}
	return out
}

// FileArgs are the options that make Docker Compose read the same files; none where it does
// by itself.
func (e *Env) FileArgs() []string {
	if e.overlay == "" {
		return nil
	}
	var args []string
	for _, f := range e.files {
		args = append(args, "--env-file", f.path)
	}
	return args
}

func (e *Env) lookup(key string) (string, bool) {
	if v, ok := e.process[key]; ok {
		return v, true
	}
	for i := len(e.files) - 1; i >= 0; i-- {
		if v, ok := e.files[i].values[key]; ok {
			return v, true
		}
	}
	return "", false
}

// places says where the environment has a key, the highest precedence first.
func (e *Env) places(key string) []string {
	var out []string
	if _, ok := e.process[key]; ok {
		out = append(out, ProcessPlace)
	}
	for i := len(e.files) - 1; i >= 0; i-- {
		if _, ok := e.files[i].values[key]; ok {
			out = append(out, e.files[i].place)
		}
	}
	return out
}

// ProcessPlace stands for the environment of the process as a source.
const ProcessPlace = "process environment"

func parseEnvFile(path string, lookup func(string) (string, bool)) (values map[string]string, err error) {
	defer func() {
		if recover() != nil {
			values, err = nil, ErrEnvFile
		}
	}()
	data, err := readFile(path)
	if err != nil {
		return nil, err
	}
	return dotenv.ParseWithLookup(bytes.NewReader(data), lookup)
}
