package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/tailrace/tailrace/internal/lifecycle"
)

const execLong = `Run a command in the running container of a service, with docker compose exec.

The words of the command stand behind --, so that its flags are its own. Nothing passes
through a shell. The project must be registered (see tailrace init).

Exit codes: that of the command; 1 where the call was refused, with a line on stderr.`

func newExecCommand(a *app) *cobra.Command {
	p, e, asJSON := &projectFlags{}, &lifecycle.Errand{}, false
	cmd := &cobra.Command{
		Use:   "exec [flags] SERVICE -- COMMAND [ARGS...]",
		Short: "Run a command in the running container of a service", Long: execLong,
		DisableFlagsInUseLine: true,
	}
	p.all(cmd)
	cmd.Flags().StringVar(&e.Workdir, "workdir", "", "working `DIR` in the container")
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if dash := cmd.ArgsLenAtDash(); len(args) < 2 || dash == 0 || dash > 1 {
			return errors.New("exec needs a service and a command: tailrace exec [flags] SERVICE -- COMMAND [ARGS...]")
		}
		return nil
	}
	return lifecycleCommand(a, cmd, &asJSON, func(ctx context.Context, cmd *cobra.Command, args []string) error {
		e.Service, e.Words = args[0], args[1:]
		return p.errand(ctx, a, cmd, *e, (*lifecycle.Docker).Exec)
	})
}

// errand runs a command in a service, and ends with its exit code.
func (p *projectFlags) errand(ctx context.Context, a *app, cmd *cobra.Command, e lifecycle.Errand,
	run func(*lifecycle.Docker, context.Context, *lifecycle.Target, lifecycle.Errand, lifecycle.Stdio) (int, error)) error {
	c, t, err := p.target(a, cmd)
	if err != nil {
		return err
	}
	d, err := lifecycle.NewDocker(c)
	if err != nil {
		return err
	}
	io, stop := a.stdio(false)
	defer stop()
	e.Terminal = isTerminal(a.Stdin) && isTerminal(a.Stdout)
	code, err := run(d, ctx, t, e, io)
	if err == nil && code != 0 {
		return &exitError{code: code} // The command has said what it had to say.
	}
	return err
}
