package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/tailrace/tailrace/internal/lifecycle"
)

const restartLong = `Restart the services of a project: docker compose down, then up --detach.

Changes of the compose file count, and containers are new. The project must be registered
(see tailrace init).

Exit codes: 0 they are started again, 1 the call was refused, else the code of docker
compose.`

func newRestartCommand(a *app) *cobra.Command {
	p := &projectFlags{}
	cmd := &cobra.Command{Use: "restart", Short: "Restart the services of a project", Long: restartLong, Args: noArgs}
	p.all(cmd)
	p.addJSON(cmd, "tell the end as one JSON object; Docker's output goes to stderr")
	return lifecycleCommand(a, cmd, &p.json, func(ctx context.Context, cmd *cobra.Command, _ []string) error {
		return p.act(ctx, a, cmd, func(d *lifecycle.Docker, t *lifecycle.Target, io lifecycle.Stdio) error {
			return d.Restart(ctx, t, io)
		})
	})
}
