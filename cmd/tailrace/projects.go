package main

import (
	"context"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/tailrace/tailrace/internal/lifecycle"
	"github.com/tailrace/tailrace/internal/project"
	"github.com/tailrace/tailrace/internal/visible"
)

const projectsLong = `List the registered projects, with what runs of them.

With --json: one object with the registered projects in projects, each with its runtime
(services and their containers) and with the runtime of its branches. Where Docker does not
answer, runtime_ok is false and runtime_error says why.

Exit codes: 0 they were listed, whatever Docker said, 1 the call was refused.`

func newProjectsCommand(a *app) *cobra.Command {
	o, asJSON := &lifecycle.InventoryOptions{}, false
	cmd := &cobra.Command{Use: "projects", Short: "List the projects and what runs of them", Long: projectsLong, Args: noArgs}
	f := cmd.Flags()
	f.StringVar(&o.Filter, "project", "", "only the project `NAME`")
	f.BoolVar(&o.Global, "include-global", false, "include the projects of the global infrastructure")
	f.BoolVar(&o.Unregistered, "all", false, "include compose projects that are not registered")
	f.BoolVar(&asJSON, "json", false, "one JSON object")
	return lifecycleCommand(a, cmd, &asJSON, func(ctx context.Context, cmd *cobra.Command, _ []string) error {
		if cmd.Flags().Changed("project") && !project.ValidName(o.Filter) {
			return &refusal{codeUsage, "--project takes the name of a project"}
		}
		c, err := project.NewContext(a.Cwd, a.Env)
		if err != nil {
			return err
		}
		// What cannot be read is not the same as no projects.
		if err := c.CheckRegistry(); err != nil {
			return err
		}
		inv := lifecycle.List(ctx, c, *o, a.Now())
		if asJSON {
			return a.writeJSON(inv)
		}
		return a.writeText(inventoryText(inv))
	})
}

// inventoryText is an inventory for people.
func inventoryText(inv *lifecycle.Inventory) string {
	var out strings.Builder
	if inv.RuntimeError != nil {
		fmt.Fprintf(&out, "What runs is not known: %s\n\n", *inv.RuntimeError)
	}
	if len(inv.Projects) == 0 {
		out.WriteString("no projects: run `tailrace init --auto` in the folder of one\n")
		return out.String()
	}
	w := tabwriter.NewWriter(&out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tSTATUS\tRUNNING\tFOLDER")
	for _, p := range inv.Projects {
		root := "-"
		if p.RepoRoot != nil {
			root = visible.String(*p.RepoRoot)
		}
		fmt.Fprintf(w, "%s\t%s\t%d\t%s\n", visible.String(p.Name), p.Status, p.Running(), root)
		for _, b := range p.BranchRuntime {
			fmt.Fprintf(w, "  %s\tbranch\t%d\t\n", visible.String(b.Branch), b.Runtime.Running())
		}
	}
	_ = w.Flush() // a strings.Builder takes everything
	return out.String()
}
