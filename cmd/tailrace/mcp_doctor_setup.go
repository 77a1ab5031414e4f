package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/tailrace/tailrace/internal/install"
	"github.com/tailrace/tailrace/internal/project"
)

// The checks of what is set up: nothing is started for them.

func (d *mcpDoctor) checkProgram() {
	detail := "tailrace " + thisBuild().Version + " at " + d.context.Executable
	switch {
	case d.context.Executable == "":
		d.add("program", checkError, "the path of this program is not known", "run it by its full path")
	case temporaryBuild(d.context.Executable):
		d.add("program", checkWarn, "a temporary build, which no client can start later", "run `go install ./cmd/tailrace`, then use the installed program")
	default:
		d.add("program", checkOK, detail, "")
	}
}

func (d *mcpDoctor) checkCommand() {
	path, _, err := d.context.Command()
	set := d.context.Getenv("HACK_MCP_COMMAND")
	switch {
	case err != nil:
		d.add("command", checkError, "no command for the tools is known", err.Error())
	case strings.TrimSpace(set) == "" && path == d.context.Executable:
		d.add("command", checkOK, "the tools run tailrace itself: HACK_MCP_COMMAND is not set, and no hack is on the PATH", "")
	case strings.TrimSpace(set) == "":
		d.add("command", checkOK, "the tools run "+path+", which is on the PATH", "")
	case !runnable(path):
		d.add("command", checkError, "HACK_MCP_COMMAND names no executable: "+path,
			"set it to the path of one executable, without arguments, or unset it")
	default:
		d.add("command", checkOK, "the tools run "+path+", by HACK_MCP_COMMAND", "")
	}
}

func (d *mcpDoctor) checkRegistry() {
	if err := d.context.CheckRegistry(); err != nil {
		text := project.ErrRegistryAccess.Error()
		if errors.Is(err, project.ErrRegistryForm) {
			text = project.ErrRegistryForm.Error()
		}
		d.add("registry", checkError, "the registry of projects cannot be used: "+d.context.RegistryPath, text)
		return
	}
	entries, gone := d.context.List(), 0
	for _, e := range entries {
		if !e.Live {
			gone++
		}
	}
	switch {
	case len(entries) == 0:
		d.add("registry", checkWarn, "no project is registered in "+d.context.RegistryPath, "run `tailrace init` in the folder of a project")
	case gone > 0:
		d.add("registry", checkWarn, fmt.Sprintf("of %s %d are gone from the disk", plural(int64(len(entries)), "registered project"), gone),
			"`tailrace projects` shows which; take them out of "+d.context.RegistryPath)
	default:
		d.add("registry", checkOK, fmt.Sprint("registered projects: ", len(entries)), "")
	}
}

func (d *mcpDoctor) checkProject() {
	p, ok := d.context.Find(d.context.Cwd)
	if !ok {
		d.add("project", checkWarn, "the working directory lies in no project",
			"run this in the folder of one, or `tailrace init` here; an agent elsewhere gives projectName")
		return
	}
	name, registered := d.context.RegisteredAs(p.Root)
	if !registered {
		name = p.Name
	}
	var sources string
	if p.ConfigPath != "" {
		config, err := project.LoadConfig(p.ConfigPath)
		if err != nil {
			d.add("project", checkError, "the project at "+p.Root+" cannot be used", err.Error())
			return
		}
		sources = ", sources: " + fmt.Sprint(len(config.Sources))
		if len(config.Sources) == 0 && d.own() {
			d.add("project", checkWarn, name+" at "+p.Root+" has no sources, so there is no log to read", "add a source to its tailrace.yaml, as the comments in it show")
			return
		}
	} else if d.own() {
		d.add("project", checkWarn, name+" at "+p.Root+" has no tailrace.yaml, so tailrace knows no log of it", "run `tailrace init` there and add sources")
		return
	}
	d.project = true
	if !registered {
		d.add("project", checkWarn, name+" at "+p.Root+" is not registered, so nothing in it is run"+sources, "read its tailrace.yaml, then run `tailrace init` there")
		return
	}
	d.add("project", checkOK, name+" at "+p.Root+sources, "")
}

// own says whether the tools run this program.
func (d *mcpDoctor) own() bool {
	path, _, err := d.context.Command()
	return err == nil && path == d.context.Executable
}

// checkClients looks at the configurations of the clients. What they start is looked at,
// and not started: that of a project can come with a repository.
func (d *mcpDoctor) checkClients() {
	s := surroundings(d.context)
	found := 0
	for _, client := range install.Clients() {
		for _, scope := range []install.Scope{install.User, install.Project} {
			if scope == install.Project && !client.HasProject() {
				continue
			}
			_, servers, err := client.Servers(s, scope)
			if err != nil {
				d.add(client.ID, checkWarn, "the configuration of "+client.Title+scopeText(scope)+" cannot be used", err.Error())
				continue
			}
			for _, server := range servers {
				found++
				d.checkEntry(client, scope, server)
			}
		}
	}
	if found == 0 {
		d.add("clients", checkWarn, "the server is installed in no client that is known", "run `tailrace mcp install CLIENT`: "+strings.Join(clientIDs(), ", "))
	}
}

func scopeText(scope install.Scope) string {
	if scope == install.Project {
		return " (project)"
	}
	return ""
}

// checkEntry looks at an entry of a client.
func (d *mcpDoctor) checkEntry(client install.Client, scope install.Scope, server install.Found) {
	again := "run `tailrace mcp install " + client.ID
	if scope == install.Project {
		again += " --project"
	}
	if server.Name != "tailrace" {
		again += " --name " + server.Name
	}
	again += "` to write it anew"
	title := client.Title + scopeText(scope)
	path := server.Command
	if !strings.ContainsAny(path, `/\`) {
		onPath, ok := d.context.LookPath(path)
		if !ok {
			d.add(client.ID, checkWarn, title+" starts "+path+", which is not on this PATH", "put it on the PATH that the client sees, or "+again)
			return
		}
		path = onPath
	}
	switch {
	case !runnable(path):
		d.add(client.ID, checkError, title+" starts "+path+", which is no executable", again)
	case !sameFile(path, d.context.Executable):
		d.add(client.ID, checkWarn, title+" starts another program than this one: "+path, "if that is not meant, "+again)
	default:
		d.add(client.ID, checkOK, title+" starts "+path, "")
	}
}

// runnable says whether a path is that of a file that may be executed.
func runnable(path string) bool {
	info, err := os.Stat(path)
	return filepath.IsAbs(path) && err == nil && info.Mode().IsRegular() &&
		(runtime.GOOS == "windows" || info.Mode().Perm()&0o111 != 0)
}
