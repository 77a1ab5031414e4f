package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tailrace/tailrace/internal/project"
	"github.com/tailrace/tailrace/internal/visible"
)

const initLong = `Make a folder a project: write a commented tailrace.yaml and register the project.

A tailrace.yaml that is there already is never changed. Registering a project lets its
tailrace.yaml run commands and name files anywhere, so read a file that came with a
repository first; the commands in it are listed.

The registry is projects.json in HACK_HOME, ~/.hack by default.`

// The errors of init that are about the folder.
var (
	errInitDir  = errors.New("--path is no folder that exists: make it first")
	errInitName = errors.New("--name is not the name in tailrace.yaml: change it there, or leave out --name")
	errInitFile = errors.New("tailrace.yaml could not be written: check the rights of the folder")
	errInitBase = errors.New("the name of the folder cannot be the name of a project: give one with --name")
)

type initOptions struct {
	path, name string
	named      bool
}

func newInitCommand(app *app) *cobra.Command {
	o := &initOptions{}
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Write tailrace.yaml and register the project",
		Long:  initLong,
	}
	cmd.Flags().StringVar(&o.path, "path", ".", "folder of the project, `DIR`")
	cmd.Flags().StringVar(&o.name, "name", "", "`NAME` of the project, by default that of the folder")
	cmd.Args = noArgs
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		o.named = cmd.Flags().Changed("name")
		return o.run(app)
	}
	return cmd
}

func (o *initOptions) run(app *app) error {
	c, err := project.NewContext(app.Cwd, app.Env)
	if err != nil {
		return err
	}
	if o.named && !project.ValidName(o.name) {
		return &usageError{"--name needs at least one letter or digit and at most 253 characters"}
	}
	dir := o.path
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(c.Cwd, dir)
	}
	dir = filepath.Clean(dir)
	if info, err := os.Stat(dir); o.path == "" || err != nil || !info.IsDir() {
		return errInitDir
	}
	name, err := o.projectName(dir)
	if err != nil {
		return err
	}
	written, err := writeConfig(filepath.Join(dir, project.ConfigFile), o.name)
	if err != nil {
		return err
	}
	config, err := project.LoadConfig(filepath.Join(dir, project.ConfigFile))
	if err != nil {
		return err
	}
	known, registered := c.RegisteredAs(dir)
	if registered {
		name = known
	} else {
		// The folder holds a tailrace.yaml now, so what is found is the folder itself.
		p, ok := c.Find(dir)
		if !ok {
			return errInitFile
		}
		p.Name = name
		if err := c.Register(p); err != nil {
			return err
		}
	}
	return report(app, name, written, registered, config)
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
func writeConfig(path, name string) (bool, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	if err != nil {
		return false, errInitFile
	}
	_, err = f.WriteString(configText(name))
	if err = errors.Join(err, f.Close()); err != nil {
		_ = os.Remove(path)
		return false, errInitFile
	}
	return true, nil
}

func configText(name string) string {
	line := "# name: shop           # by default the name of the folder\n"
	if name != "" {
		// A JSON string is a YAML text in double quotes.
		quoted, _ := json.Marshal(name) // a string can always be encoded
		line = "name: " + string(quoted) + "\n"
	}
	return `# The log sources of this project. Show them with: tailrace logs
version: 1
` + line + `
sources:
# Remove the # before a source, or write your own. The name of a source is the name of
# the service in its events.
#
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

// report says what was done, and what the file may do from now on.
func report(app *app, name string, written, registered bool, config project.Config) error {
	var text strings.Builder
	switch {
	case written:
		text.WriteString("wrote tailrace.yaml: add the sources of your logs to it\n")
	case registered:
		text.WriteString("nothing changed: ")
	default:
		text.WriteString("kept the tailrace.yaml that is there\n")
	}
	shown := visible.String(name)
	if registered {
		fmt.Fprintf(&text, "project %s is registered already\n", shown)
	} else {
		fmt.Fprintf(&text, "registered project %s\n", shown)
		for _, s := range config.Sources {
			if s.Command != nil {
				fmt.Fprintf(&text, "source %s may run: %s\n", s.Name, visible.String(strings.Join(s.Command, " ")))
			}
		}
	}
	if _, err := app.Stdout.Write([]byte(text.String())); err != nil {
		return errOutput
	}
	return nil
}
