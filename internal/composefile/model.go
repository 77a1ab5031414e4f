package composefile

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/compose-spec/compose-go/v2/loader"
	"github.com/compose-spec/compose-go/v2/template"
	"github.com/compose-spec/compose-go/v2/types"
	"github.com/sirupsen/logrus"
)

// A Model is the compose files of a project, merged, with extends and include followed. Its
// variables are not filled in: what is kept are names and templates.
type Model struct {
	set      Set
	env      *Env
	services []service
	// required and mentioned are the variables that the files are interpolated with.
	required  map[string]bool
	mentioned []string
	// secret are the variables that compose secrets are made of.
	secret map[string]bool
}

// A service is what the model keeps of one.
type service struct {
	name     string
	declared []declared
	envFiles []envFile // lowest precedence first
	host     string    // the first host of its caddy label, not filled in
	profiles []string
}

// A declared variable is one line of a service's environment.
type declared struct {
	key, template string
	given         bool // there is a template; without one the value passes through
}

// quiet keeps the loader's warnings, which name files and variables, from stderr.
var quiet = sync.OnceFunc(func() { logrus.SetOutput(io.Discard) })

// Model reads the files. everywhere says that files outside of the project may be read too:
// those of a registered project. The error is [ErrCompose] or [ErrEnvFile].
func (s Set) Model(ctx context.Context, env *Env, everywhere bool) (m *Model, err error) {
	defer func() {
		if recover() != nil {
			m, err = nil, ErrCompose
		}
	}()
	quiet()
	details := types.ConfigDetails{WorkingDir: s.Dir, Environment: types.Mapping{}}
	for _, file := range s.Files {
		data, err := readFile(file)
		if err != nil {
			return nil, ErrCompose
		}
		details.ConfigFiles = append(details.ConfigFiles, types.ConfigFile{Filename: file, Content: data})
	}
	dict, err := loader.LoadModelWithContext(ctx, details, func(o *loader.Options) {
		// The environment is not known to the loader, so that it resolves nothing and no
		// value gets into the model.
		o.SetProjectName("project", true)
		o.SkipInterpolation, o.SkipValidation, o.SkipNormalization, o.SkipConsistencyCheck = true, true, true, true
		if !everywhere {
			o.SkipInclude, o.SkipExtends = true, true
		}
	})
	if err != nil {
		return nil, ErrCompose
	}
	return s.model(dict, env, everywhere)
}

func (s Set) model(dict map[string]any, env *Env, everywhere bool) (*Model, error) {
	m := &Model{set: s, env: env, required: map[string]bool{}, secret: map[string]bool{}}
	for name, v := range template.ExtractVariables(dict, nil) {
		m.mentioned = append(m.mentioned, name)
		m.required[name] = v.Required
	}
	slices.Sort(m.mentioned)
	secrets, _ := dict["secrets"].(map[string]any)
	for _, v := range secrets {
		if one, ok := v.(map[string]any); ok {
			if key, ok := one["environment"].(string); ok {
				m.secret[key] = true
			}
		}
	}
	services, _ := dict["services"].(map[string]any)
	for _, name := range sortedKeys(services) {
		raw, _ := services[name].(map[string]any)
		one := service{name: name, declared: declaredIn(raw["environment"])}
		for _, d := range declaredIn(raw["labels"]) {
			if d.key == "caddy" {
				one.host = d.template
			}
		}
		for _, p := range listOf(raw["profiles"]) {
			if text, ok := p.(string); ok {
				one.profiles = append(one.profiles, text)
			}
		}
		for _, f := range listOf(raw["env_file"]) {
			file, ok, err := s.envFile(f, env, everywhere)
			if err != nil {
				return nil, err
			}
			if ok {
				one.envFiles = append(one.envFiles, file)
			}
		}
		m.services = append(m.services, one)
	}
	return m, nil
}

// envFile reads one env_file of a service. One that is not there, and one that must not be
// read, has no variables.
func (s Set) envFile(v any, env *Env, everywhere bool) (envFile, bool, error) {
	path, ok := v.(string)
	if entry, isMap := v.(map[string]any); isMap {
		path, ok = entry["path"].(string)
	}
	if !ok {
		return envFile{}, false, nil
	}
	path, err := substitute(path, env.lookup)
	if err != nil || path == "" {
		return envFile{}, false, nil
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(s.Dir, path)
	}
	if !isFile(path) || !everywhere && !s.inside(path) {
		return envFile{}, false, nil
	}
	values, err := parseEnvFile(path, env.lookup)
	if err != nil {
		return envFile{}, false, ErrEnvFile
	}
	return envFile{path, s.place(path), values}, true, nil
}

// Services are the names of the services, sorted.
func (m *Model) Services() []string {
	out := []string{}
	for _, s := range m.services {
		out = append(out, s.name)
	}
	return out
}

// Active are the names of the services that Compose starts with some profiles, sorted: those
// without a profile, and those of one of them.
func (m *Model) Active(profiles []string) []string {
	out := []string{}
	for _, s := range m.services {
		if len(s.profiles) == 0 || slices.ContainsFunc(s.profiles, func(p string) bool { return slices.Contains(profiles, p) }) {
			out = append(out, s.name)
		}
	}
	return out
}

// Host is the host name that a service is routed by: the first one of its label caddy; ""
// where it has none.
func (m *Model) Host(name string) string {
	for _, s := range m.services {
		if s.name != name || s.host == "" {
			continue
		}
		text, err := substitute(s.host, m.env.lookup)
		if err != nil {
			return ""
		}
		first, _, _ := strings.Cut(text, ",")
		return strings.TrimSpace(first)
	}
	return ""
}

// declaredIn reads a mapping, or a list of KEY=value.
func declaredIn(v any) []declared {
	var out []declared
	switch v := v.(type) {
	case map[string]any:
		for _, key := range sortedKeys(v) {
			d := declared{key: key, given: v[key] != nil}
			if d.given {
				d.template = fmt.Sprint(v[key])
			}
			out = append(out, d)
		}
	case []any:
		for _, item := range v {
			if text, ok := item.(string); ok {
				key, value, given := strings.Cut(text, "=")
				out = append(out, declared{key, value, given})
			}
		}
	}
	return out
}

func listOf(v any) []any {
	switch v := v.(type) {
	case nil:
		return nil
	case []any:
		return v
	}
	return []any{v}
}

func sortedKeys(m map[string]any) []string {
	out := make([]string, 0, len(m))
	for key := range m {
		out = append(out, key)
	}
	slices.Sort(out)
	return out
}
