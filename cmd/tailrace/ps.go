package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/tailrace/tailrace/internal/lifecycle"
)

const psLong = `Show the containers of a project, those that have ended included.

With --json: one object with project, branch, composeProject and items; an item is what
docker compose ps reports of a container.

Exit codes: 0 all is well, 1 the call was refused, else the code of docker compose.`

func newPsCommand(a *app) *cobra.Command {
	p := &projectFlags{}
	cmd := &cobra.Command{Use: "ps", Short: "Show the containers of a project", Long: psLong, Args: noArgs}
	p.all(cmd)
	p.addJSON(cmd, "one JSON object")
	return lifecycleCommand(a, cmd, &p.json, func(ctx context.Context, cmd *cobra.Command, _ []string) error {
		c, t, err := p.target(a, cmd)
		if err != nil {
			return err
		}
		d, err := lifecycle.NewDocker(c)
		if err != nil {
			return err
		}
		if !p.json {
			io, stop := a.stdio(false)
			defer stop()
			return d.ShowPs(ctx, t, io)
		}
		status, err := d.Ps(ctx, t)
		if err != nil {
			return err
		}
		return a.writeJSON(status)
	})
}
