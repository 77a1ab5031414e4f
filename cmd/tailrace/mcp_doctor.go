package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os/signal"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/tailrace/tailrace/internal/lifecycle"
	"github.com/tailrace/tailrace/internal/project"
	"github.com/tailrace/tailrace/internal/visible"
)

const mcpDoctorLong = `Find out whether an MCP client would get what it asks for, and say what is in the way.

The checks, in this order:
  program   which program this is
  command   the command that the tools run
  registry  the registered projects
  project   the one that the working directory lies in
  clients   where the server is installed, and whether it can be started from there
  server    this program is started as a client starts it
  tools     the server is asked for its tools and prompts
  call      a tool is called: the last line of the project's log, or the list of projects

Run it in the folder of the project that you want to see the logs of. A call is a use: it
starts the log command as an agent's call does. Nothing is changed otherwise.

Exit codes: 0 the server works, also where something is only worth knowing (warn),
1 a check failed, 2 usage.`

// The states of a check.
const (
	checkOK    = "ok"
	checkWarn  = "warn"
	checkError = "error"
)

// A mcpCheck is one line of the report.
type mcpCheck struct {
	ID string `json:"id"`
	// Status is ok, warn or error.
	Status string `json:"status"`
	// Detail says what is there.
	Detail string `json:"detail"`
	// Action says what to do; "" where nothing has to be done.
	Action     string `json:"action,omitempty"`
	DurationMs int64  `json:"durationMs"`
}

// A mcpReport is what mcp doctor found.
type mcpReport struct {
	// OK says that no check failed.
	OK     bool             `json:"ok"`
	Checks []mcpCheck       `json:"checks"`
	Counts lifecycle.Counts `json:"counts"`
}

// A mcpDoctor makes the checks. It is used once.
type mcpDoctor struct {
	app     *app
	context project.Context
	report  mcpReport
	began   time.Time // of the check that runs
	// project says that the working directory lies in one whose log can be asked for.
	project bool
}

func newMCPDoctorCommand(a *app) *cobra.Command {
	format := "text"
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Find out whether the server works here, and what is in its way",
		Long:  mcpDoctorLong,
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			if format != "text" && format != "json" {
				return &usageError{"-o takes text or json"}
			}
			defer brokenPipes()()
			ctx, stop := signal.NotifyContext(context.Background(), endSignals()...)
			defer stop()
			report := examine(ctx, a)
			if ctx.Err() != nil {
				return &exitError{code: codeInterrupted, err: errDoctorEnded}
			}
			if err := report.write(a, format); err != nil {
				return err
			}
			if !report.OK {
				return &exitError{code: codeFailed}
			}
			return nil
		},
	}
	cmd.Flags().StringVarP(&format, "output", "o", format, "`FORMAT`: text or json")
	_ = cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions([]string{"text", "json"}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// examine makes all checks. Those of the server are made even where an earlier one failed:
// what the server says is what counts.
func examine(ctx context.Context, a *app) *mcpReport {
	d := &mcpDoctor{app: a, began: a.Now()}
	c, err := project.NewContext(a.Cwd, a.Env)
	if err != nil {
		d.add("program", checkError, "the surroundings cannot be read", err.Error())
		return d.end()
	}
	d.context = c
	d.checkProgram()
	d.checkCommand()
	d.checkRegistry()
	d.checkProject()
	d.checkClients()
	d.checkServer(ctx)
	return d.end()
}

// add notes the result of the check that ran since the last one.
func (d *mcpDoctor) add(id, status, detail, action string) {
	now := d.app.Now()
	d.report.Checks = append(d.report.Checks, mcpCheck{id, status, detail, action, now.Sub(d.began).Milliseconds()})
	switch status {
	case checkOK:
		d.report.Counts.OK++
	case checkWarn:
		d.report.Counts.Warn++
	default:
		d.report.Counts.Error++
	}
	d.began = now
}

func (d *mcpDoctor) end() *mcpReport {
	d.report.OK = d.report.Counts.Error == 0
	return &d.report
}

// write writes the report.
func (r *mcpReport) write(a *app, format string) error {
	if format == "json" {
		e := json.NewEncoder(a.Stdout)
		e.SetEscapeHTML(false)
		if e.Encode(r) != nil {
			return errOutput
		}
		return nil
	}
	return say(a, r.text())
}

// text returns the report for people.
func (r *mcpReport) text() string {
	var out strings.Builder
	w := tabwriter.NewWriter(&out, 0, 8, 2, ' ', 0)
	for _, c := range r.Checks {
		fmt.Fprintf(w, "%s\t%s\t%s\n", c.Status, c.ID, visible.String(c.Detail))
		if c.Action != "" {
			fmt.Fprintf(w, "\t\t-> %s\n", visible.String(c.Action))
		}
	}
	_ = w.Flush() // a strings.Builder takes everything
	warn, failed := r.Counts.Warn, r.Counts.Error
	switch {
	case failed > 0:
		fmt.Fprintf(&out, "\nThe server does not work here as it should: %s.\n", plural(int64(failed), "error"))
	case warn > 0:
		fmt.Fprintf(&out, "\nThe server works, with %s above.\n", plural(int64(warn), "warning"))
	default:
		out.WriteString("\nThe server works.\n")
	}
	return out.String()
}
