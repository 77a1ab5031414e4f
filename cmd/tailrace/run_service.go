package main

import (
	"context"
	"errors"
	"slices"

	"github.com/spf13/cobra"

	"github.com/tailrace/tailrace/internal/lifecycle"
	"github.com/tailrace/tailrace/internal/project"
)

const runServiceLong = `

In a project there is a second form, which runs a service of it:

  tailrace run [--project NAME|--path DIR] [--branch NAME] [--profile LIST] SERVICE [-- COMMAND [ARGS...]]

A name before -- is a SERVICE: the command, or the service's own one, runs in a new
container by docker compose run, without bounds, and its exit code is that of tailrace.
The project must be registered (see tailrace init).`

// A serviceRun is the form of run with a service.
type serviceRun struct {
	p projectFlags
	e lifecycle.Errand
}

func (r *serviceRun) add(cmd *cobra.Command) {
	r.p.all(cmd)
	cmd.Flags().StringVar(&r.e.Workdir, "workdir", "", "with SERVICE: working `DIR` in the container")
}

var (
	serviceFlags = []string{"project", "path", "branch", "profile", "env", "workdir"}
	boundFlags   = []string{"max-bytes", "max-events", "max-time", "output", "lines", "fail-on-cut", "quiet"}
)

// means says whether the command line has the form with a service. The error is a
// *[usageError] for one that mixes both.
func (r *serviceRun) means(cmd *cobra.Command, args []string) (bool, error) {
	ofService := slices.ContainsFunc(serviceFlags, cmd.Flags().Changed)
	dash := cmd.ArgsLenAtDash()
	switch service := dash == 1 || dash < 0 && len(args) == 1; {
	case service && slices.ContainsFunc(boundFlags, cmd.Flags().Changed):
		return false, &usageError{"the bounds and formats of run are for a command behind --: leave them out to run a SERVICE, or put -- first"}
	case service:
		r.e.Service, r.e.Words = args[0], args[1:]
		return true, nil
	case ofService && dash == 0:
		return false, &usageError{"--project, --path, --branch, --profile, --env and --workdir are for a SERVICE: name it before --, or leave them out"}
	case ofService && len(args) == 0:
		return false, &usageError{"run needs a service: tailrace run [flags] SERVICE [-- COMMAND [ARGS...]]"}
	}
	return false, nil
}

func (r *serviceRun) run(ctx context.Context, a *app, cmd *cobra.Command) error {
	err := r.p.errand(ctx, a, cmd, r.e, (*lifecycle.Docker).Run)
	var s *project.SelectError
	if errors.As(err, &s) && s.Reason == project.ReasonNoProject && !cmd.Flags().Changed("path") {
		// More likely the -- was forgotten.
		return &usageError{"put -- before the command, so that its flags are its own: tailrace run [flags] -- COMMAND [ARGS...]; a SERVICE is run in a project, and there is none here"}
	}
	return a.failed(false, err)
}
