package main

import (
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/tailrace/tailrace/mcp"
)

// serveFlags are the flags of the server that hold for each way to reach it.
type serveFlags struct {
	level       string
	maxCommands int
	noAudit     bool
	tools       mcp.Toolset
}

// bind adds the flags to a command.
func (f *serveFlags) bind(cmd *cobra.Command) {
	f.level, f.maxCommands = "warn", mcp.DefaultMaxCommands
	flags := cmd.Flags()
	flags.StringVar(&f.level, "log-level", f.level, "`LEVEL` of the server's own log: debug, info, warn, error")
	_ = cmd.RegisterFlagCompletionFunc("log-level", cobra.FixedCompletions([]string{"debug", "info", "warn", "error"}, cobra.ShellCompDirectiveNoFileComp))
	flags.Var(&count{&f.maxCommands}, "max-commands", "at most `N` commands at once, over all sessions; a call past it is refused as busy")
	flags.BoolVar(&f.noAudit, "no-audit", false, "write no audit log")
	flags.BoolVar(&f.tools.ReadOnly, "read-only", false, "offer only the tools that change nothing")
	flags.StringSliceVar(&f.tools.Names, "tools", nil, "offer only these tools, by their `NAMES` with commas between them")
	_ = cmd.RegisterFlagCompletionFunc("tools", cobra.FixedCompletions(mcp.ToolNames(), cobra.ShellCompDirectiveNoFileComp))
}

// open returns the server's own log, and the settings of what its sessions share. The
// error is a [usageError].
func (f *serveFlags) open(a *app, cmd *cobra.Command) (*slog.Logger, mcp.SharedOptions, error) {
	var none mcp.SharedOptions
	var l slog.Level
	if err := l.UnmarshalText([]byte(f.level)); err != nil {
		return nil, none, &usageError{"--log-level takes debug, info, warn or error"}
	}
	if cmd.Flags().Changed("tools") && len(f.tools.Names) == 0 {
		// An empty variable of a script must not offer everything.
		return nil, none, &usageError{"--tools takes at least one name"}
	}
	if err := f.tools.Check(); err != nil {
		return nil, none, &usageError{"--tools and --read-only: " + err.Error()}
	}
	log := slog.New(slog.NewTextHandler(a.Stderr, &slog.HandlerOptions{Level: l}))
	shared := mcp.SharedOptions{MaxCommands: f.maxCommands, NoAudit: f.noAudit, Log: log}
	if _, err := mcp.NewShared(shared); err != nil {
		return nil, none, &usageError{"--max-commands takes 1 to 1024"}
	}
	return log, shared, nil
}
