package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/tailrace/tailrace/internal/lifecycle"
)

const downLong = `Stop the services of a project and remove their containers, with docker compose down.

Volumes stay. The project must be registered (see tailrace init).

Exit codes: 0 they are stopped, 1 the call was refused, else the code of docker compose.`

func newDownCommand(a *app) *cobra.Command {
	p := &projectFlags{}
	cmd := &cobra.Command{Use: "down", Short: "Stop the services of a project", Long: downLong, Args: noArgs}
	p.all(cmd)
	p.addJSON(cmd, "tell the end as one JSON object; Docker's output goes to stderr")
	return lifecycleCommand(a, cmd, &p.json, func(ctx context.Context, cmd *cobra.Command, _ []string) error {
		return p.act(ctx, a, cmd, func(d *lifecycle.Docker, t *lifecycle.Target, io lifecycle.Stdio) error {
			return d.Down(ctx, t, io)
		})
	})
}
