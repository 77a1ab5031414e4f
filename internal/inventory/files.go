package inventory

import (
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/tailrace/tailrace/internal/lazyregexp"
)

// managerOf are the package managers by the files that only they have.
var managerOf = map[string]string{
	"package-lock.json": "npm", "npm-shrinkwrap.json": "npm", "pnpm-lock.yaml": "pnpm", "yarn.lock": "yarn", "bun.lock": "bun", "bun.lockb": "bun",
	"deno.json": "deno", "deno.jsonc": "deno", "deno.lock": "deno",
	"go.mod": "go", "Cargo.toml": "cargo",
	"uv.lock": "uv", "poetry.lock": "poetry", "pdm.lock": "pdm", "Pipfile": "pipenv", "requirements.txt": "pip", "environment.yml": "conda",
	"Gemfile": "bundler", "composer.json": "composer", "mix.exs": "mix", "pom.xml": "maven", "build.gradle": "gradle", "build.gradle.kts": "gradle",
	"pubspec.yaml": "pub", "Package.swift": "swift", "flake.nix": "nix",
}

var workspaceFiles = []string{"pnpm-workspace.yaml", "go.work", "lerna.json", "nx.json", "turbo.json", "rush.json"}

const (
	maxPaths    = 16 // files of one package manager
	maxServices = 64 // services of one compose file
	maxNames    = 64 // names in one list
)

var (
	composeRE = lazyregexp.New(`^(docker-)?compose(\.[A-Za-z0-9_-]+)*\.ya?ml$`)
	dockerRE  = lazyregexp.New(`^(Dockerfile(\..+)?|.+\.Dockerfile|Containerfile)$`)
	envFileRE = lazyregexp.New(`^(\.env(\..+)?|.+\.env)$`)
	exposeRE  = lazyregexp.New(`(?im)^[ \t]*EXPOSE[ \t]+([^\r\n]+)`)
)

// file looks at one regular file.
func (r *reader) file(full, name string) {
	switch {
	case managerOf[name] != "":
		r.manager(managerOf[name], full)
	case name == "package.json":
		r.packageJSON(full)
	case slices.Contains(workspaceFiles, name):
		r.workspace(full)
	case composeRE.MatchString(name):
		r.compose(full)
	case dockerRE.MatchString(name):
		r.dockerfile(full)
	case envFileRE.MatchString(name):
		r.envFile(full)
	}
}

func (r *reader) manager(name, full string) {
	at, known := r.managers[name]
	if known && len(r.out.PackageManagers[at].Files) >= maxPaths {
		r.out.LeftOut++
		return
	}
	p, ok := r.path(full)
	if !ok {
		return
	}
	if !known {
		at = len(r.out.PackageManagers)
		r.managers[name] = at
		r.out.PackageManagers = append(r.out.PackageManagers, Manager{Name: name})
	}
	r.out.PackageManagers[at].Files = append(r.out.PackageManagers[at].Files, p)
}

func (r *reader) workspace(full string) {
	if p, ok := r.path(full); ok {
		r.out.Workspaces = append(r.out.Workspaces, p)
	}
}

// packageJSON reads which package manager a package.json asks for. Without a word of that
// it stands for node.
func (r *reader) packageJSON(full string) {
	text, ok := r.read(full)
	if !ok {
		return
	}
	var p struct {
		PackageManager any
		Workspaces     json.RawMessage
	}
	if json.Unmarshal(text, &p) != nil {
		r.notRead(full)
		return
	}
	manager := "node"
	if wanted, ok := p.PackageManager.(string); ok {
		if name, _, _ := strings.Cut(wanted, "@"); slices.Contains([]string{"npm", "pnpm", "yarn", "bun"}, name) {
			manager = name
		}
	}
	r.manager(manager, full)
	if len(p.Workspaces) > 0 && string(p.Workspaces) != "null" {
		r.workspace(full)
	}
}

func (r *reader) dockerfile(full string) {
	text, read := r.read(full)
	if !read {
		return
	}
	p, ok := r.path(full)
	if !ok {
		return
	}
	d := Dockerfile{Path: p}
	for _, m := range exposeRE.FindAllSubmatch(text, maxNames) {
		for _, word := range strings.Fields(string(m[1])) {
			d.Ports = r.addPort(d.Ports, word)
		}
	}
	r.out.Dockerfiles = append(r.out.Dockerfiles, d)
}

func (r *reader) addPort(list []string, written string) []string {
	p, ok := port(written)
	if !ok || len(list) >= maxNames {
		r.out.LeftOut++
		return list
	}
	return r.add(list, p, portsRE)
}

// add appends a text to a list once, where it has the form.
func (r *reader) add(list []string, s string, form *lazyregexp.Regexp) []string {
	if slices.Contains(list, s) {
		return list
	}
	if len(list) >= maxNames {
		r.out.LeftOut++
		return list
	}
	if s, ok := r.text(s, form); ok {
		list = append(list, s)
	}
	return list
}

func (r *reader) compose(full string) {
	text, ok := r.read(full)
	if !ok {
		return
	}
	if dir := path.Dir(full); (dir == ".hack" || dir == ".dev") && path.Base(full) == "docker-compose.yml" && r.out.Definition != ".hack" {
		r.out.Definition = dir
	}
	services, err := r.services(text)
	if err != nil {
		r.notRead(full)
		return
	}
	if p, ok := r.path(full); ok {
		r.out.ComposeFiles = append(r.out.ComposeFiles, ComposeFile{Path: p, Services: services})
	}
}
