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

const doctorLong = `Check what the commands need: docker, its compose plugin and engine, the registry of
projects, the project and its variables.

With --json: an object with ok and data; data has checks (id, status ok, warn or error,
detail, durationMs), counts and summary.

Exit codes: 0 nothing is wrong, 1 a check has the status error.`

// A diagnosis is the envelope of a report.
type diagnosis struct {
	OK   bool              `json:"ok"`
	Data *lifecycle.Report `json:"data"`
}

func newDoctorCommand(a *app) *cobra.Command {
	p := &projectFlags{}
	cmd := &cobra.Command{Use: "doctor", Short: "Check what the commands need", Long: doctorLong, Args: noArgs}
	p.add(cmd)
	p.addBranch(cmd)
	p.addJSON(cmd, "one JSON object")
	return lifecycleCommand(a, cmd, &p.json, func(ctx context.Context, cmd *cobra.Command, _ []string) error {
		c, err := project.NewContext(a.Cwd, a.Env)
		if err != nil {
			return err
		}
		report := lifecycle.Examine(ctx, c, p.selection(cmd), a.Now)
		if p.json {
			err = a.writeJSON(diagnosis{OK: true, Data: report})
		} else {
			err = a.writeText(reportText(report))
		}
		if err == nil && report.Counts.Error > 0 {
			return &exitError{code: codeFailed}
		}
		return err
	})
}

func reportText(r *lifecycle.Report) string {
	var out strings.Builder
	w := tabwriter.NewWriter(&out, 0, 8, 2, ' ', 0)
	for _, c := range r.Checks {
		fmt.Fprintf(w, "%s\t%s\t%s\n", c.Status, c.ID, visible.String(c.Detail))
	}
	_ = w.Flush() // a strings.Builder takes everything
	return out.String()
}
