// Command tailrace runs log commands through a bounded pipeline: on the command line, as
// an MCP server, and as a log backend of its own.
package main

import (
	"fmt"
	"os"
	"time"
)

func main() {
	// A working directory that is gone is an error of the commands that need one.
	cwd, _ := os.Getwd()
	a := &app{
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Args: os.Args[1:], Env: os.Environ(), Cwd: cwd, Now: time.Now,
	}
	os.Exit(a.run())
}

// run runs the command line and returns the exit code.
func (a *app) run() int {
	root := newRootCommand(a)
	root.SetArgs(a.Args)
	root.SetIn(a.Stdin)
	root.SetOut(a.Stdout)
	root.SetErr(a.Stderr)
	code, err := codeOf(root.Execute())
	if err != nil {
		fmt.Fprintln(a.Stderr, "tailrace:", err)
	}
	return code
}
