package main

import "github.com/spf13/cobra"

func newDemoCommand(a *app) *cobra.Command {
	return &cobra.Command{Use: "demo", Short: "Show the server at work, with a client of its own", Args: noArgs, RunE: func(*cobra.Command, []string) error { return nil }}
}
