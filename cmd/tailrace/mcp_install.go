package main

import (
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tailrace/tailrace/internal/install"
	"github.com/tailrace/tailrace/internal/project"
	"github.com/tailrace/tailrace/internal/visible"
)

const installLong = `Write the server into the configuration of an MCP client, and show what is written.

Everything else in the file stays as it is, byte for byte. A second time changes nothing.
A file that is broken is not touched. uninstall takes out again what install wrote.

Without --project the configuration of the user is meant, and the command is the path of
this program. With --project it is the one in the root of the project, for all who work
on it, and the command is the name tailrace, which each of them needs on the PATH.

What stands behind -- is passed on to mcp serve.`

const installExample = `  tailrace mcp install claude-code --dry-run
  tailrace mcp install codex -- --log-level info
  tailrace mcp install vscode --project`

const uninstallLong = `Take the server out of the configuration of an MCP client, and show what is removed.

Only what install wrote is removed. An entry that you added something to stays.`

// installOptions are the flags of install and uninstall.
type installOptions struct {
	project, dryRun bool
	name, command   string
}

func newInstallCommand(a *app) *cobra.Command {
	o := &installOptions{}
	cmd := &cobra.Command{
		Use:                   "install CLIENT [flags] [-- SERVE-FLAGS...]",
		Short:                 "Write the server into the configuration of a client",
		Long:                  installLong + "\n\nClients:\n" + clientList(),
		Example:               installExample,
		Args:                  clientArg,
		ValidArgs:             clientIDs(),
		DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.install(a, args[0], args[1:], cmd.Flags().Changed("command"))
		},
	}
	o.flags(cmd)
	cmd.Flags().StringVar(&o.command, "command", "", "`PATH` or name of the program that the client starts")
	return cmd
}

func newUninstallCommand(a *app) *cobra.Command {
	o := &installOptions{}
	cmd := &cobra.Command{
		Use:                   "uninstall CLIENT [flags]",
		Short:                 "Take the server out of the configuration of a client",
		Long:                  uninstallLong + "\n\nClients:\n" + clientList(),
		ValidArgs:             clientIDs(),
		DisableFlagsInUseLine: true,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return &usageError{"uninstall takes one client: " + strings.Join(clientIDs(), ", ")}
			}
			return clientArg(cmd, args)
		},
		RunE: func(_ *cobra.Command, args []string) error { return o.uninstall(a, args[0]) },
	}
	o.flags(cmd)
	return cmd
}

func (o *installOptions) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&o.project, "project", false, "the configuration of the project that the working directory lies in")
	f.BoolVar(&o.dryRun, "dry-run", false, "show the change and write nothing")
	f.StringVar(&o.name, "name", "tailrace", "`NAME` of the server in the client")
}

// clientArg takes one client, and what stands behind --.
func clientArg(cmd *cobra.Command, args []string) error {
	known := strings.Join(clientIDs(), ", ")
	dash := cmd.ArgsLenAtDash()
	switch {
	case len(args) == 0 || dash == 0:
		return &usageError{cmd.Name() + " needs a client: " + known}
	case len(args) > 1 && dash != 1:
		return &usageError{cmd.Name() + " takes one client; put -- before the flags of mcp serve"}
	case !slices.Contains(clientIDs(), args[0]):
		return &usageError{"unknown client: the known ones are " + known}
	}
	return nil
}

func clientIDs() []string {
	var ids []string
	for _, c := range install.Clients() {
		ids = append(ids, c.ID)
	}
	return ids
}

func clientList() string {
	var lines []string
	for _, c := range install.Clients() {
		scopes := "user"
		if c.HasProject() {
			scopes = "user, --project"
		}
		lines = append(lines, fmt.Sprintf("  %-16s %s (%s)", c.ID, c.Title, scopes))
	}
	return strings.Join(lines, "\n")
}

func (o *installOptions) scope() install.Scope {
	if o.project {
		return install.Project
	}
	return install.User
}

func (o *installOptions) install(a *app, id string, args []string, given bool) error {
	if err := checkServeArgs(a, args); err != nil {
		return err
	}
	client, s, c, err := o.begin(a, id)
	if err != nil {
		return err
	}
	command, temporary := serverCommand(c, o.scope(), o.command, given)
	server := install.Server{Name: o.name, Command: command, Args: args}
	change, err := client.Install(s, o.scope(), server)
	if change != nil {
		o.show(a, client, change)
	}
	if err != nil {
		return err
	}
	if len(change.Edits) == 0 {
		return say(a, "nothing to change: the server is there already\n")
	}
	if o.dryRun {
		if temporary {
			fmt.Fprintln(a.Stderr, "tailrace: note:", errTemporary)
		}
		return say(a, "nothing was written (--dry-run)\n")
	}
	if temporary {
		return errTemporary
	}
	if err := change.Write(); err != nil {
		return err
	}
	return say(a, "written; now "+client.After+"\n`tailrace mcp doctor` in the folder of a project says whether it works\n")
}

func (o *installOptions) uninstall(a *app, id string) error {
	client, s, _, err := o.begin(a, id)
	if err != nil {
		return err
	}
	change, err := client.Uninstall(s, o.scope(), o.name)
	if change != nil {
		o.show(a, client, change)
	}
	switch {
	case err != nil:
		return err
	case len(change.Edits) == 0:
		return say(a, "nothing to remove: no server of this name is there\n")
	case o.dryRun:
		return say(a, "nothing was written (--dry-run)\n")
	}
	if err := change.Write(); err != nil {
		return err
	}
	if change.Removes() {
		return say(a, "removed, with the file, which had nothing else in it\n")
	}
	return say(a, "removed\n")
}

func (o *installOptions) begin(a *app, id string) (install.Client, install.Surroundings, project.Context, error) {
	client, _ := install.ByID(id)
	c, err := project.NewContext(a.Cwd, a.Env)
	if err != nil {
		return client, install.Surroundings{}, c, err
	}
	if o.project && !client.HasProject() {
		return client, install.Surroundings{}, c, &usageError{install.ErrScope.Error()}
	}
	return client, surroundings(c), c, nil
}

// surroundings returns what the places of configurations depend on.
func surroundings(c project.Context) install.Surroundings {
	return install.Surroundings{OS: runtime.GOOS, Home: c.UserHome(), Cwd: c.Cwd, Root: projectRoot(c), Getenv: c.Getenv}
}

// show says which file is meant, and prints the change alone: the lines around it may
// hold the secrets of other servers.
func (o *installOptions) show(a *app, client install.Client, change *install.Change) {
	kind := ""
	if change.New() && len(change.Edits) > 0 {
		kind = ", a new file"
	}
	fmt.Fprintf(a.Stdout, "%s: %s%s\n", client.Title, visible.String(filepath.Clean(change.Path)), kind)
	for _, e := range change.Edits {
		fmt.Fprintf(a.Stdout, "line %d:\n", change.Line(e))
		marked(a, "-", e.Old)
		marked(a, "+", e.New)
	}
}

// marked prints the lines of a piece of text. A line end at its start or end belongs to
// the lines around it.
func marked(a *app, mark, text string) {
	text = strings.Trim(text, "\r\n")
	if text == "" {
		return
	}
	for line := range strings.Lines(text) {
		fmt.Fprintf(a.Stdout, "%s %s\n", mark, visible.String(strings.TrimRight(line, "\r\n")))
	}
}

func say(a *app, text string) error {
	if _, err := a.Stdout.Write([]byte(text)); err != nil {
		return errOutput
	}
	return nil
}
