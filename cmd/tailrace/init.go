package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tailrace/tailrace/internal/lifecycle"
	"github.com/tailrace/tailrace/internal/project"
	"github.com/tailrace/tailrace/internal/visible"
)

const initLong = `Make a folder a project: write a commented tailrace.yaml and register the project.

A tailrace.yaml that is there already is never changed. Registering a project lets its
tailrace.yaml run commands and name files anywhere, and its compose file be started, so
read files that came with a repository first; the commands in tailrace.yaml are listed.

With --auto the folder becomes a project of docker compose. A compose file that is there
is kept: docker-compose.yml in .hack or .dev, or compose.yaml and the like in the folder
itself. Else .hack/docker-compose.yml is written, with a service for each Dockerfile of
the folder and the folders in it; with --manual or --no-discovery it has none yet.

The registry is projects.json in HACK_HOME, ~/.hack by default.

Exit codes: 0 the folder is a project, also where it was one before, 1 the call was
refused.`

// The errors of init that are about the folder.
var (
	errInitDir  = &refusal{codeUsage, "--path is no folder that exists: make it first"}
	errInitName = &refusal{codeUsage, "--name is not the name in tailrace.yaml: change it there, or leave out --name"}
	errInitFile = &refusal{codeNoAccess, "tailrace.yaml could not be written: check the rights of the folder"}
	errInitBase = &refusal{codeUsage, "the name of the folder cannot be the name of a project: give one with --name"}
	errInitText = &refusal{codeUsage, "--name needs at least one letter or digit and at most 253 characters"}
	errInitAuto = &refusal{codeUsage, "--manual and --no-discovery are about the compose file of --auto: add it, or leave them out"}
)

type initOptions struct {
	path, name, devHost, oauthTLD            string
	auto, oauth, manual, noDiscovery, asJSON bool
	named                                    bool
}

func newInitCommand(app *app) *cobra.Command {
	o := &initOptions{}
	cmd := &cobra.Command{Use: "init", Short: "Make a folder a project", Long: initLong, Args: noArgs}
	f := cmd.Flags()
	f.StringVarP(&o.path, "path", "p", ".", "folder of the project, `DIR`")
	f.StringVar(&o.name, "name", "", "`NAME` of the project, by default that of the folder")
	f.BoolVar(&o.auto, "auto", false, "set the folder up for docker compose, without a question")
	f.StringVar(&o.devHost, "dev-host", "", "`HOST` below which the services are reached in development")
	f.BoolVar(&o.manual, "manual", false, "with --auto: write a minimal compose file")
	f.BoolVar(&o.noDiscovery, "no-discovery", false, "with --auto: do not look for Dockerfiles")
	f.BoolVar(&o.oauth, "oauth", false, "accepted for compatibility; there is no proxy for an alias host")
	f.StringVar(&o.oauthTLD, "oauth-tld", "", "accepted for compatibility, as --oauth is")
	f.BoolVar(&o.asJSON, "json", false, "one JSON object")
	return lifecycleCommand(app, cmd, &o.asJSON, func(ctx context.Context, cmd *cobra.Command, _ []string) error {
		o.named = cmd.Flags().Changed("name")
		return o.run(app)
	})
}

// An initialized is what init did.
type initialized struct {
	Action  string `json:"action"`
	Project string `json:"project"`
	// Registered says that the project was registered now, and not before.
	Registered bool `json:"registered"`
	// Written are the files that were written, as paths within the folder.
	Written []string `json:"written"`
	// composed says that the containers of a compose file are a source in a file that was written.
	composed bool
	// Services are those of a compose file that was written.
	Services []string `json:"services"`
}

func (o *initOptions) run(app *app) error {
	c, err := project.NewContext(app.Cwd, app.Env)
	if err != nil {
		return err
	}
	dir, err := o.folder(c)
	if err != nil {
		return err
	}
	name, err := o.projectName(dir)
	if err != nil {
		return err
	}
	// What keeps the project from being registered is said before anything is written.
	if err := c.CheckRegistry(); err != nil {
		return err
	}
	known, registered := c.RegisteredAs(dir)
	if !registered && taken(c, name) {
		return project.ErrNameTaken
	}
	did := initialized{Action: "init", Written: []string{}, Services: []string{}}
	if err := o.write(c, dir, name, &did); err != nil {
		return err
	}
	config := project.Config{}
	if path := filepath.Join(dir, project.ConfigFile); exists(path) {
		if config, err = project.LoadConfig(path); err != nil {
			return err
		}
	}
	// The folder holds a definition now, so what is found is the folder itself.
	p, ok := c.Find(dir)
	if !ok {
		return errInitFile
	}
	p.Name, p.DevHost = name, o.devHost
	if err := c.Register(p); err != nil {
		return err
	}
	did.Project, did.Registered = name, !registered
	if registered {
		did.Project = known
	}
	return o.report(app, did, config)
}

// taken says whether another project that is still there has the name.
func taken(c project.Context, name string) bool {
	for _, e := range c.List() {
		if project.SameName(e.Project.Name, name) && exists(e.Project.Root) {
			return true
		}
	}
	return false
}

// folder checks the flags and returns the folder.
func (o *initOptions) folder(c project.Context) (string, error) {
	switch {
	case o.named && !project.ValidName(o.name):
		return "", errInitText
	case o.devHost != "" && !lifecycle.ValidHost(o.devHost):
		return "", lifecycle.ErrHost
	case !o.auto && (o.manual || o.noDiscovery):
		return "", errInitAuto
	}
	dir := o.path
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(c.Cwd, dir)
	}
	dir = filepath.Clean(dir)
	if info, err := os.Stat(dir); o.path == "" || err != nil || !info.IsDir() {
		return "", errInitDir
	}
	return dir, nil
}

// write writes the files of the project that are missing: a compose file with --auto, and
// tailrace.yaml where nothing else makes the folder a project.
func (o *initOptions) write(c project.Context, dir, name string, did *initialized) error {
	composed, defined := lifecycle.Composed(c, dir)
	if o.auto {
		if !composed {
			services, err := lifecycle.Scaffold(dir, name, !o.manual && !o.noDiscovery)
			if err != nil {
				return err
			}
			did.Written, did.Services = append(did.Written, lifecycle.ScaffoldFile), services
			return nil
		}
		if defined {
			return nil
		}
	}
	written, err := writeConfig(filepath.Join(dir, project.ConfigFile), o.name, composed)
	if written {
		did.composed = composed
		did.Written = append(did.Written, project.ConfigFile)
	}
	return err
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// projectName returns the name that the project is registered by: the one in its
// tailrace.yaml, else --name, else that of the folder.
func (o *initOptions) projectName(dir string) (string, error) {
	config := project.Config{}
	path := filepath.Join(dir, project.ConfigFile)
	if _, err := os.Lstat(path); err == nil {
		if config, err = project.LoadConfig(path); err != nil {
			return "", err
		}
	}
	switch {
	case config.Name != "" && o.named && config.Name != o.name:
		return "", errInitName
	case config.Name != "":
		return config.Name, nil
	case o.named:
		return o.name, nil
	case !project.ValidName(filepath.Base(dir)):
		return "", errInitBase
	}
	return filepath.Base(dir), nil
}

// writeConfig writes the commented file and says whether it did: one that is there, even
// as a link that leads nowhere, stays.
func writeConfig(path, name string, composed bool) (bool, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	if err != nil {
		return false, errInitFile
	}
	_, err = f.WriteString(configText(name, composed))
	if err = errors.Join(err, f.Close()); err != nil {
		_ = os.Remove(path)
		return false, errInitFile
	}
	return true, nil
}

// schemaURL is where editors find the schema of tailrace.yaml. Nothing here reads it.
const schemaURL = "https://raw.githubusercontent.com/tailrace/tailrace/main/docs/schema/tailrace.schema.json"

// configText is the file for a project of a name, "" for that of the folder. Where there is a
// compose file, its containers are a source.
func configText(name string, composed bool) string {
	line := "# name: shop           # by default the name of the folder\n"
	if name != "" {
		// A JSON string is a YAML text in double quotes.
		quoted, _ := json.Marshal(name) // a string can always be encoded
		line = "name: " + string(quoted) + "\n"
	}
	mark := "#"
	if composed {
		mark = ""
	}
	containers := mark + "  containers:\n" + mark + "    compose: {}                          # the containers of the project's compose file\n"
	return `# yaml-language-server: $schema=` + schemaURL + `
# The log sources of this project. Show them with: tailrace logs
version: 1
` + line + `
sources:
# Remove the # before a source, or write your own. The name of a source is the name of
# the service in its events, but for containers, which have their own.
#
` + containers + `#
#  web:
#    file: logs/web.log                   # relative to this file
#
#  worker:
#    command: ["./worker", "--verbose"]   # a list; no shell reads it
#    dir: .                               # where it runs, relative to this file
#    env: {LOG_LEVEL: debug}              # beyond the environment of the caller
#
# Commands run only where the project is registered (tailrace init).
`
}

// report says what was done, and what the files may do from now on.
func (o *initOptions) report(app *app, did initialized, config project.Config) error {
	if o.oauth || o.oauthTLD != "" {
		// Nothing depends on it: a line on stderr is all that can be said.
		_, _ = io.WriteString(app.Stderr, "tailrace: --oauth has no effect: tailrace has no proxy that an alias host could lead to\n")
	}
	if o.asJSON {
		return app.writeJSON(struct {
			OK   bool        `json:"ok"`
			Data initialized `json:"data"`
		}{true, did})
	}
	var text strings.Builder
	for _, file := range did.Written {
		switch {
		case file == project.ConfigFile && did.composed:
			text.WriteString("wrote tailrace.yaml: the containers of the compose file are its source\n")
		case file == project.ConfigFile:
			text.WriteString("wrote tailrace.yaml: add the sources of your logs to it\n")
		case len(did.Services) == 0:
			text.WriteString("wrote " + file + " without a service: add yours, then run `tailrace up --detach`\n")
		default:
			text.WriteString("wrote " + file + " with the services " + strings.Join(did.Services, ", ") + ": read it, then run `tailrace up --detach`\n")
		}
	}
	switch {
	case len(did.Written) > 0:
	case !did.Registered && o.devHost == "":
		text.WriteString("nothing changed: ")
	case o.auto:
		text.WriteString("kept the compose file that is there\n")
	case did.Registered:
		text.WriteString("kept the tailrace.yaml that is there\n")
	}
	shown := visible.String(did.Project)
	if !did.Registered {
		fmt.Fprintf(&text, "project %s is registered already\n", shown)
	} else {
		fmt.Fprintf(&text, "registered project %s\n", shown)
		for _, s := range config.Sources {
			if s.Command != nil {
				fmt.Fprintf(&text, "source %s may run: %s\n", s.Name, visible.String(strings.Join(s.Command, " ")))
			}
		}
	}
	return app.writeText(text.String())
}
