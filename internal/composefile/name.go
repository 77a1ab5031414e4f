package composefile

import (
	"encoding/json"
	"path/filepath"
	"strings"

	"github.com/compose-spec/compose-go/v2/loader"
	"github.com/compose-spec/compose-go/v2/template"
	"go.yaml.in/yaml/v4"
)

// Name returns the name of the compose project, as Compose derives it: COMPOSE_PROJECT_NAME
// of the environment or of .env, else the name in the last file that has one, else the name
// of the folder. For .hack and .dev the name comes from hack.config.json where the compose
// file has none, else from the folder of the project. With a branch, "--" and the slug of
// the branch follow. The error is [ErrName], [ErrCompose] or [ErrEnvFile].
func (s Set) Name(env *Env, branch string) (string, error) {
	name, err := s.baseName(env)
	if err != nil {
		return "", err
	}
	if name == "" || name != loader.NormalizeProjectName(name) {
		return "", ErrName
	}
	if slug := BranchSlug(branch); slug != "" {
		name += "--" + slug
	}
	return name, nil
}

func (s Set) baseName(env *Env) (string, error) {
	if name, _ := env.lookup("COMPOSE_PROJECT_NAME"); name != "" {
		return name, nil
	}
	name := ""
	for _, file := range s.Files {
		data, err := readFile(file)
		if err != nil {
			return "", ErrCompose
		}
		written, err := topName(data)
		if err != nil {
			return "", err
		}
		if written == "" {
			continue
		}
		if name, err = substitute(written, env.lookup); err != nil {
			return "", ErrName
		}
	}
	if name != "" {
		return name, nil
	}
	if s.Dir == s.Root {
		return loader.NormalizeProjectName(filepath.Base(s.Dir)), nil
	}
	if name := s.Config().Name; name != "" {
		return slug(name), nil
	}
	return slug(filepath.Base(s.Root)), nil
}

// topName reads the member name of a compose file. Other members, and tags in them, are
// not looked at.
func topName(data []byte) (name string, err error) {
	defer func() {
		if recover() != nil { // the parser has paniced on malformed input before
			name, err = "", ErrCompose
		}
	}()
	var top struct {
		Name string `yaml:"name"`
	}
	if yaml.Unmarshal(data, &top) != nil {
		return "", ErrCompose
	}
	return top.Name, nil
}

// substitute fills the variables of a text in. Nothing is logged.
func substitute(text string, lookup func(string) (string, bool)) (string, error) {
	return template.SubstituteWithOptions(text, lookup, template.WithoutLogging)
}

// A Config is what hack.config.json beside the compose file says.
type Config struct {
	Name    string `json:"name"`
	DevHost string `json:"dev_host"`
	// Logs says which backend logs are read from, "compose" or "loki". Other values say
	// nothing.
	Logs struct {
		FollowBackend   string `json:"follow_backend"`
		SnapshotBackend string `json:"snapshot_backend"`
	} `json:"logs"`
}

// Config reads hack.config.json in the folder of the compose file. A file that is not
// there, or cannot be read, says nothing.
func (s Set) Config() Config {
	var c Config
	data, err := readFile(filepath.Join(s.Dir, "hack.config.json"))
	if err != nil || json.Unmarshal(data, &c) != nil {
		return Config{}
	}
	return c
}

// BranchSlug returns a branch as it stands in the name of a compose project: lower case,
// with a dash for each run of separators. A branch without letters and digits is "branch",
// and none at all is "".
func BranchSlug(branch string) string {
	if strings.TrimSpace(branch) == "" {
		return ""
	}
	if s := slug(branch); s != "" {
		return s
	}
	return "branch"
}

// slug keeps the letters and digits of ASCII, and one dash between them for each run of
// separators.
func slug(text string) string {
	var out strings.Builder
	dash := false
	for _, r := range strings.ToLower(strings.TrimSpace(text)) {
		switch {
		case r == '_', r == ' ', r == '/', r == '-':
			dash = true
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			if dash && out.Len() > 0 {
				out.WriteByte('-')
			}
			dash = false
			out.WriteRune(r)
		}
	}
	return out.String()
}
