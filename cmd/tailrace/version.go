package main

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version is set by release builds; otherwise the build information says what it can.
var version = ""

// A build is what this program says of itself.
type build struct {
	Version string `json:"version"`
	Commit  string `json:"commit,omitempty"`
	Go      string `json:"go"`
	OS      string `json:"os"`
	Arch    string `json:"arch"`
}

func thisBuild() build {
	b := build{Version: version, Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH}
	if info, ok := debug.ReadBuildInfo(); ok {
		if b.Version == "" && info.Main.Version != "(devel)" {
			b.Version = info.Main.Version
		}
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				b.Commit = s.Value
			}
		}
	}
	if b.Version == "" {
		b.Version = "dev"
	}
	return b
}

func newVersionCommand(a *app) *cobra.Command {
	format := "text"
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Say which version this is",
		Long:  "Say which version this is.\n\nExit codes: 0 it was said, 2 the command line is wrong.",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			b := thisBuild()
			switch format {
			case "text":
				commit := ""
				if b.Commit != "" {
					commit = "commit " + b.Commit + ", "
				}
				fmt.Fprintf(a.Stdout, "tailrace %s (%s%s, %s/%s)\n", b.Version, commit, b.Go, b.OS, b.Arch)
			case "json":
				return json.NewEncoder(a.Stdout).Encode(b)
			default:
				return &usageError{"-o takes text or json"}
			}
			return nil
		},
	}
	cmd.Flags().StringVarP(&format, "output", "o", format, "`FORMAT`: text or json")
	_ = cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions([]string{"text", "json"}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}
