package main

import (
	"errors"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

const manLong = `Write the manual page of a command to stdout, or those of all commands to a folder.

With groff a page can be read at once: tailrace man run | man -l -`

const manExample = `  tailrace man mcp install
  tailrace man --dir /usr/local/share/man/man1`

func newManCommand(a *app) *cobra.Command {
	dir := ""
	cmd := &cobra.Command{
		Use:     "man [COMMAND...]",
		Short:   "Write the manual pages",
		Long:    manLong,
		Example: manExample,
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			forManual(root)
			if cmd.Flags().Changed("dir") {
				if len(args) > 0 {
					return &usageError{"--dir takes all commands: leave out the command"}
				}
				return writeManual(root, dir)
			}
			about, rest, err := root.Find(args)
			if err != nil || len(rest) > 0 || !about.IsAvailableCommand() && about != root {
				return &usageError{"unknown command: see tailrace --help for the known ones"}
			}
			if doc.GenMan(about, manHeader(), a.Stdout) != nil {
				return errOutput
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&dir, "dir", "", "write a file for each command to the folder `DIR`, which is made")
	return cmd
}

var errManual = errors.New("the manual pages cannot be written: check the folder and its rights")

func writeManual(root *cobra.Command, dir string) error {
	if dir == "" {
		return &usageError{"--dir takes the path of a folder"}
	}
	if os.MkdirAll(filepath.Clean(dir), 0o755) != nil || doc.GenManTree(root, manHeader(), dir) != nil {
		return errManual
	}
	return nil
}

// manHeader is what stands at the edges of a page. The date is that of the commit, so that
// a build that is made again has the same pages; without one the library takes
// SOURCE_DATE_EPOCH or the clock.
func manHeader() *doc.GenManHeader {
	h := &doc.GenManHeader{Section: "1", Source: "tailrace " + thisBuild().Version, Manual: "tailrace"}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if at, err := time.Parse(time.RFC3339, s.Value); s.Key == "vcs.time" && err == nil {
				h.Date = &at
			}
		}
	}
	return h
}

// forManual makes the texts of a tree fit for the library, which reads them as Markdown:
// indented lines stay as they are, and nothing else is markup.
func forManual(cmd *cobra.Command) {
	cmd.DisableAutoGenTag = true
	cmd.Long = asMarkdown(cmd.Long)
	for _, c := range cmd.Commands() {
		forManual(c)
	}
}

var markup = strings.NewReplacer("<", `\<`, ">", `\>`, "*", `\*`, "_", `\_`)

func asMarkdown(text string) string {
	var out strings.Builder
	fenced := false
	for line := range strings.Lines(text) {
		if indented := strings.HasPrefix(line, "  "); indented != fenced {
			out.WriteString("\n```\n")
			fenced = indented
		}
		if !fenced && !strings.Contains(line, "`") {
			line = markup.Replace(line)
		}
		out.WriteString(line)
	}
	if fenced {
		out.WriteString("\n```\n")
	}
	return out.String()
}
