package project_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/tailrace/tailrace/internal/project"
)

func TestContext_HomeAndRegistry(t *testing.T) {
	for _, tt := range []struct {
		name           string
		env            []string
		home, registry string
	}{
		{"home of the user", []string{"HOME=/h"}, "/h/.hack", "/h/.hack/projects.json"},
		{"relative HOME", []string{"HOME=h"}, "/w/h/.hack", "/w/h/.hack/projects.json"},
		{"HACK_HOME", []string{"HOME=/h", "HACK_HOME= /x/../k "}, "/k", "/k/projects.json"},
		{"relative HACK_HOME", []string{"HOME=/h", "HACK_HOME=k"}, "/w/k", "/w/k/projects.json"},
		{"blank HACK_HOME", []string{"HOME=/h", "HACK_HOME= \t"}, "/h/.hack", "/h/.hack/projects.json"},
		{"config path", []string{"HOME=/h", "HACK_GLOBAL_CONFIG_PATH=/c/d/hack.json"}, "/h/.hack", "/c/d/projects.json"},
		{"relative config path", []string{"HOME=/h", "HACK_GLOBAL_CONFIG_PATH= ../d/hack.json"}, "/h/.hack", "/d/projects.json"},
		{"last of duplicates", []string{"HOME=/h", "HACK_HOME=/a", "HACK_HOME=/b"}, "/b", "/b/projects.json"},
		{"name that only begins alike", []string{"HOME=/h", "HACK_HOMES=/a", "HACK_HOME"}, "/h/.hack", "/h/.hack/projects.json"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, err := project.NewContext("/w", tt.env)
			if err != nil {
				t.Fatal(err)
			}
			if c.Home != tt.home || c.RegistryPath != tt.registry || c.Cwd != "/w" {
				t.Errorf("got %s and %s in %s, want %s and %s", c.Home, c.RegistryPath, c.Cwd, tt.home, tt.registry)
			}
		})
	}
}

func TestContext_IsFrozen(t *testing.T) {
	env := []string{"HOME=/h", "A=1"}
	c, err := project.NewContext("/w", env)
	if err != nil {
		t.Fatal(err)
	}
	env[1] = "A=2"
	t.Setenv("A", "3")
	if got := c.Getenv("A"); got != "1" {
		t.Errorf("A is %q after the caller changed it", got)
	}
	if got := c.Getenv("B"); got != "" {
		t.Errorf("B is %q", got)
	}
}

func TestContext_Command(t *testing.T) {
	w := newWorld(t)
	exe := func(name string) string {
		path := w.file(name, "#!/bin/sh\n")
		if err := os.Chmod(path, 0o755); err != nil {
			t.Fatal(err)
		}
		return path
	}
	exe("bin/hack")
	exe("bin/stub")
	exe("cwd/rel/hack")
	exe("cwd/hack")
	w.file("plain/hack", "")
	w.dir("folder/hack")
	path := func(dirs ...string) string {
		for i, d := range dirs {
			dirs[i] = w.path(d)
		}
		out := "PATH="
		for i, d := range dirs {
			if i > 0 {
				out += string(filepath.ListSeparator)
			}
			out += d
		}
		return out
	}
	for _, tt := range []struct {
		name string
		env  []string
		want string
	}{
		{"absolute", []string{"HACK_MCP_COMMAND=/x/y"}, "/x/y"},
		{"trimmed, taken whole", []string{"HACK_MCP_COMMAND= /x/y --flag; id "}, "/x/y --flag; id"},
		{"relative", []string{"HACK_MCP_COMMAND=./command"}, w.path("cwd/command")},
		{"relative without a dot", []string{"HACK_MCP_COMMAND=sub/command"}, w.path("cwd/sub/command")},
		{"a name on PATH", []string{"HACK_MCP_COMMAND=stub", path("none", "bin")}, w.path("bin/stub")},
		{"a name that is nowhere", []string{"HACK_MCP_COMMAND=none", path("bin")}, "none"},
		{"hack on PATH", []string{"HACK_MCP_COMMAND= ", path("bin")}, w.path("bin/hack")},
		{"what cannot be run is passed over", []string{path("plain", "folder", "bin")}, w.path("bin/hack")},
		{"a name on a relative entry of PATH", []string{"HACK_MCP_COMMAND=hack", "PATH=rel"}, w.path("cwd/rel/hack")},
		{"a name on an empty entry of PATH", []string{"HACK_MCP_COMMAND=hack", "PATH=/none:"}, w.path("cwd/hack")},
		{"nothing of the repository by itself, on a relative entry", []string{"PATH=rel:."}, "/self"},
		{"nothing of the repository by itself, on an empty entry", []string{"PATH=/none:"}, "/self"},
		{"nothing else", []string{path("none")}, "/self"},
		{"no PATH", nil, "/self"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, err := project.NewContext(w.path("cwd"), append([]string{"HOME=/h"}, tt.env...))
			if err != nil {
				t.Fatal(err)
			}
			if c.Executable == "" {
				t.Error("the own executable is not known")
			}
			c.Executable = "/self"
			got, args, err := c.Command()
			if err != nil || got != tt.want || len(args) != 0 {
				t.Errorf("got %q %q %v, want %q", got, args, err, tt.want)
			}
		})
	}
	if _, _, err := (project.Context{}).Command(); !errors.Is(err, project.ErrNoCommand) {
		t.Errorf("got error %v, want ErrNoCommand", err)
	}
}
