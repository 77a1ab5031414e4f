package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/tailrace/tailrace/internal/lifecycle"
)

const upLong = `Start the services of a project with docker compose up.

With --detach the command returns when they are started; else it shows their output and
stops them at Ctrl-C. The project must be registered (see tailrace init).

Exit codes: 0 they are started, 1 the call was refused, else the code of docker compose.`

func newUpCommand(a *app) *cobra.Command {
	p, detach := &projectFlags{}, false
	cmd := &cobra.Command{Use: "up", Short: "Start the services of a project", Long: upLong, Args: noArgs}
	p.all(cmd)
	p.addJSON(cmd, "tell the end as one JSON object; Docker's output goes to stderr")
	cmd.Flags().BoolVarP(&detach, "detach", "d", false, "return when the services are started")
	return lifecycleCommand(a, cmd, &p.json, func(ctx context.Context, cmd *cobra.Command, _ []string) error {
		return p.act(ctx, a, cmd, func(d *lifecycle.Docker, t *lifecycle.Target, io lifecycle.Stdio) error {
			return d.Up(ctx, t, detach, io)
		})
	})
}
