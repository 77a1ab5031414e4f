package main

import (
	"bufio"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// newDemoSourceCommand is what the sources of the demo run.
func newDemoSourceCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:    "source",
		Hidden: true,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return &usageError{"source takes one of failing, flood, quotes"}
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			w := bufio.NewWriterSize(a.Stdout, 64<<10)
			defer w.Flush()
			switch args[0] {
			case "failing":
				fmt.Fprintln(w, "INFO migrating")
				fmt.Fprintln(w, "ERROR the table is locked")
				return &exitError{code: 3}
			case "flood":
				fill(w, 9<<20, strings.Repeat("🚀", 250))
			case "quotes":
				// An event holds a line twice, as message and as raw, with each quote escaped.
				fill(w, 5<<20/2, strings.Repeat(`k="v" `, 160))
			default:
				return &usageError{"source takes one of failing, flood, quotes"}
			}
			return nil
		},
	}
}

// fill writes numbered lines of text, size bytes in all.
func fill(w *bufio.Writer, size int, text string) {
	for n := 0; size > 0; n++ {
		written, err := fmt.Fprintf(w, "%d %s\n", n, text)
		if err != nil {
			return
		}
		size -= written
	}
}
