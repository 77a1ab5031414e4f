package main

import (
	"io"
	"os"

	"github.com/spf13/cobra"
)

// newBenchSourceCommand is the child of a benchmark where the system has no cat: it
// writes a file to stdout.
func newBenchSourceCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:    "source",
		Hidden: true,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return &usageError{"source takes one file"}
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			f, err := os.Open(args[0])
			if err != nil {
				return &usageError{"the file cannot be read"}
			}
			defer f.Close()
			// The wrapped reader and writer keep io.Copy from a path of its own: what a
			// pipe takes is written at once.
			_, err = io.CopyBuffer(struct{ io.Writer }{a.Stdout}, struct{ io.Reader }{f}, make([]byte, 128<<10))
			return err
		},
	}
}
