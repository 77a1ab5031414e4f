package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/tailrace/tailrace/mcp"
)

const serveLong = `Serve the tools to one MCP client on stdin and stdout, or with --http to several.

The server ends when stdin ends, and on SIGTERM, SIGINT and SIGHUP, with exit code 0.
Its own log goes to stderr and never holds what a backend wrote or what a client sent.

With --http the endpoint is /mcp (streamable HTTP). Every request carries the bearer
token; /healthz alone needs none. /metrics has metrics for Prometheus. Addresses that
other machines reach are refused without TLS.

The command that the tools run is the one in HACK_MCP_COMMAND, else hack on the PATH,
else tailrace itself, whose commands take the same arguments.

A line for each command that was run goes to mcp-audit.log in the home folder of hack
(HACK_HOME, else ~/.hack), for the user alone. It never holds arguments or output.`

func newMCPCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "The MCP server",
		Args:  noArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newServeCommand(a), newInstallCommand(a), newUninstallCommand(a), newMCPDoctorCommand(a))
	return cmd
}

func newServeCommand(a *app) *cobra.Command {
	var f serveFlags
	var h httpFlags
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve the tools on stdin and stdout, or over HTTP",
		Long:  serveLong,
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := h.check(cmd); err != nil {
				return err
			}
			log, shared, err := f.open(a, cmd)
			if err != nil {
				return err
			}
			if h.address != "" {
				return h.serveHTTP(a, mcp.HTTPOptions{
					Version: thisBuild().Version, Cwd: a.Cwd, Env: a.Env, Log: log, Shared: shared, Tools: f.tools,
				})
			}
			all, err := mcp.NewShared(shared)
			if err != nil {
				return err
			}
			return serve(a, mcp.Options{
				Version: thisBuild().Version, Cwd: a.Cwd, Env: a.Env, Stdin: a.Stdin, Stdout: a.Stdout,
				Log: log, Shared: all, Tools: f.tools,
			})
		},
	}
	f.bind(cmd)
	h.bind(cmd)
	return cmd
}

func serve(a *app, o mcp.Options) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt, syscall.SIGHUP)
	defer stop()
	defer brokenPipes()()

	if f, ok := a.Stdin.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		fmt.Fprintln(a.Stderr, "tailrace: an MCP client speaks to this server on stdin and stdout; end it with Ctrl-D")
	}
	return mcp.Serve(ctx, o)
}

// brokenPipes makes a reader that went away a write error instead of the program's
// death, by which children would be left behind. The signal is caught and not ignored:
// ignored signals are inherited by children.
func brokenPipes() (stop func()) {
	pipes := make(chan os.Signal, 1)
	signal.Notify(pipes, syscall.SIGPIPE)
	return func() { signal.Stop(pipes) }
}
