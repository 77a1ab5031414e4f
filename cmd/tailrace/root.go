package main

import (
	"github.com/spf13/cobra"
)

const rootLong = `tailrace runs a log command, reads what it writes through a bounded pipeline, and
tells the truth about where it stopped: complete, cut off at a named bound, or backend
failure.`

func newRootCommand(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:           "tailrace",
		Short:         "Bounded log pipelines",
		Long:          rootLong,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return &usageError{"unknown command: see tailrace --help for the known ones"}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.Version = thisBuild().Version
	root.SetVersionTemplate("tailrace {{.Version}}\n")
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return &usageError{flagProblem(err)} })
	// A flag of the reference command line. Nothing here asks anything.
	root.PersistentFlags().Bool("no-interactive", false, "accepted for compatibility: no command asks")
	root.AddCommand(newRunCommand(a), newLogsCommand(a), newInitCommand(a), newMCPCommand(a), newDemoCommand(a), newBenchCommand(a), newManCommand(a), newVersionCommand(a))
	root.AddCommand(newPsCommand(a), newUpCommand(a), newDownCommand(a), newRestartCommand(a), newExecCommand(a),
		newProjectsCommand(a), newOpenCommand(a), newEnvCommand(a), newDoctorCommand(a))
	return root
}

// noArgs refuses arguments without repeating them.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return &usageError{cmd.Name() + " takes no arguments: see its --help"}
	}
	return nil
}
