package main

import (
	"context"
	"errors"
	"os/exec"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/tailrace/tailrace/internal/lifecycle"
	"github.com/tailrace/tailrace/internal/project"
)

const openLong = `Show the address of a project, or of a TARGET in it, and open it in the browser.

Where the project has a host for development (tailrace init --dev-host, or dev_host in
hack.config.json), the address is https://HOST, https://TARGET.HOST, and with --branch
https://BRANCH.HOST. Else it is the port that the service TARGET, or the first one that
has any, publishes. A target with http:// or https:// is the address itself.

With --json: one object with url; no browser is opened. Nor is one where stdout is no
terminal.

Exit codes: 0 there is an address, 1 there is none, or the call was refused.`

// An address is the address of a project.
type address struct {
	URL string `json:"url"`
}

func newOpenCommand(a *app) *cobra.Command {
	p := &projectFlags{}
	cmd := &cobra.Command{Use: "open [TARGET]", Short: "Show and open the address of a project", Long: openLong}
	p.add(cmd)
	p.addBranch(cmd)
	p.addJSON(cmd, "one JSON object, and no browser")
	cmd.Args = func(_ *cobra.Command, args []string) error {
		if len(args) > 1 {
			return errors.New("open takes one TARGET")
		}
		return nil
	}
	return lifecycleCommand(a, cmd, &p.json, func(ctx context.Context, cmd *cobra.Command, args []string) error {
		c, t, err := p.target(a, cmd)
		if err != nil {
			return err
		}
		target := ""
		if len(args) == 1 {
			target = args[0]
		}
		url, err := lifecycle.Address(ctx, func() (*lifecycle.Docker, error) { return lifecycle.NewDocker(c) }, t, target)
		if err != nil {
			return err
		}
		if p.json {
			return a.writeJSON(address{url})
		}
		if err := a.writeText(url + "\n"); err != nil || !isTerminal(a.Stdout) {
			return err
		}
		return browse(ctx, c, url)
	})
}

var errBrowser = errors.New("no browser could be opened: open the address by hand")

// browse opens an address, which begins with http, in the browser of the user.
func browse(ctx context.Context, c project.Context, url string) error {
	name, args := "xdg-open", []string{url}
	switch runtime.GOOS {
	case "darwin":
		name = "open"
	case "windows":
		name, args = "rundll32", []string{"url.dll,FileProtocolHandler", url}
	}
	path, ok := c.LookPath(name)
	if !ok {
		return errBrowser
	}
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Env, cmd.Dir = c.Env, c.Cwd
	if cmd.Run() != nil {
		return errBrowser
	}
	return nil
}
