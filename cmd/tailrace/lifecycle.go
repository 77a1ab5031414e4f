package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/tailrace/tailrace/internal/lifecycle"
	"github.com/tailrace/tailrace/internal/project"
)

// projectFlags are the flags that say which instance of which project is meant.
type projectFlags struct {
	project, path, branch, profile, env string
	json                                bool
}

func (p *projectFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&p.project, "project", "", "registered project, by `NAME`")
	cmd.Flags().StringVarP(&p.path, "path", "p", "", "project of a folder, searched upward from `DIR`")
}

func (p *projectFlags) addBranch(cmd *cobra.Command) {
	cmd.Flags().StringVar(&p.branch, "branch", "", "instance of the project for the branch `NAME`")
}

func (p *projectFlags) addProfile(cmd *cobra.Command) {
	cmd.Flags().StringVar(&p.profile, "profile", "", "compose profiles to include, as a comma-separated `LIST`")
}

func (p *projectFlags) addEnv(cmd *cobra.Command) {
	cmd.Flags().StringVar(&p.env, "env", "", "environment `NAME`: .env.NAME is laid over .env")
}

func (p *projectFlags) addJSON(cmd *cobra.Command, about string) {
	cmd.Flags().BoolVar(&p.json, "json", false, about)
}

// all adds the flags of the commands that start and stop.
func (p *projectFlags) all(cmd *cobra.Command) {
	p.add(cmd)
	p.addBranch(cmd)
	p.addProfile(cmd)
	p.addEnv(cmd)
}

func (p *projectFlags) selection(cmd *cobra.Command) lifecycle.Selection {
	s := lifecycle.Selection{Branch: p.branch, Profiles: p.profile, Env: p.env}
	if cmd.Flags().Changed("project") {
		s.Project = &p.project
	}
	if cmd.Flags().Changed("path") {
		s.Path = &p.path
	}
	return s
}

// target returns the instance that the flags mean.
func (p *projectFlags) target(a *app, cmd *cobra.Command) (project.Context, *lifecycle.Target, error) {
	c, err := project.NewContext(a.Cwd, a.Env)
	if err != nil {
		return c, nil, err
	}
	t, err := lifecycle.Select(c, p.selection(cmd))
	return c, t, err
}

// lifecycleCommand is what the commands of this kind have in common: errors are told with
// their code, as JSON where that was asked for.
func lifecycleCommand(a *app, cmd *cobra.Command, asJSON *bool, run func(context.Context, *cobra.Command, []string) error) *cobra.Command {
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error {
		return a.refuse(asksForJSON(a.Args), &refusal{codeUsage, flagProblem(err)})
	})
	if args := cmd.Args; args != nil {
		cmd.Args = func(cmd *cobra.Command, given []string) error {
			if err := args(cmd, given); err != nil {
				return a.refuse(*asJSON, &refusal{codeUsage, err.Error()})
			}
			return nil
		}
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		ctx := cmd.Context()
		if ctx == nil {
			ctx = context.Background()
		}
		ctx, stop := signal.NotifyContext(ctx, endSignals()...)
		defer stop()
		return a.failed(*asJSON, run(ctx, cmd, args))
	}
	return cmd
}

// failed says why a command failed, and returns what ends the program: with the exit code
// of Docker, where it has one.
func (a *app) failed(asJSON bool, err error) error {
	var l *lifecycle.Error
	var exit *exitError
	switch {
	case err == nil, errors.As(err, &exit):
		return err
	case !errors.As(err, &l):
		if refusalCode(err) == "" {
			err = &refusal{codeUnexpected, err.Error()}
		}
		return a.refuse(asJSON, err)
	}
	out := a.refuse(asJSON, &refusal{l.Code, l.Text})
	if errors.As(out, &exit) && l.Exit != 0 {
		exit.code = l.Exit
	}
	return out
}

// stdio connects a child with the streams of the program, and hands the signals on that
// only the program gets. With JSON, the child's stdout goes to stderr.
func (a *app) stdio(asJSON bool) (s lifecycle.Stdio, stop func()) {
	signals := make(chan os.Signal, 4)
	list := []os.Signal{syscall.SIGTERM, syscall.SIGHUP}
	if !isTerminal(a.Stdin) {
		// On a terminal, Ctrl-C reaches the child as well, and a second SIGINT means more.
		list = append(list, syscall.SIGINT)
	}
	signal.Notify(signals, list...)
	s = lifecycle.Stdio{Stdin: a.Stdin, Stdout: a.Stdout, Stderr: a.Stderr, Signals: signals}
	if asJSON {
		s.Stdout = a.Stderr
	}
	return s, func() { signal.Stop(signals) }
}

func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// writeJSON writes one object, indented, without escaping for HTML.
func (a *app) writeJSON(v any) error {
	e := json.NewEncoder(a.Stdout)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if e.Encode(v) != nil {
		return &exitError{code: codeFailed, err: errOutput}
	}
	return nil
}

// writeText writes text for people.
func (a *app) writeText(text string) error {
	if _, err := io.WriteString(a.Stdout, text); err != nil {
		return &exitError{code: codeFailed, err: errOutput}
	}
	return nil
}

// done is the envelope of a command that did something.
type done struct {
	OK   bool     `json:"ok"`
	Data doneData `json:"data"`
}

type doneData struct {
	Action         string  `json:"action"`
	Project        string  `json:"project"`
	Branch         *string `json:"branch"`
	ComposeProject string  `json:"composeProject"`
}

// act runs one of the commands that start and stop the services of a project.
func (p *projectFlags) act(ctx context.Context, a *app, cmd *cobra.Command, do func(*lifecycle.Docker, *lifecycle.Target, lifecycle.Stdio) error) error {
	c, t, err := p.target(a, cmd)
	if err != nil {
		return err
	}
	d, err := lifecycle.NewDocker(c)
	if err != nil {
		return err
	}
	io, stop := a.stdio(p.json)
	defer stop()
	if err := do(d, t, io); err != nil || !p.json {
		return err
	}
	out := done{OK: true, Data: doneData{Action: cmd.Name(), Project: t.Name, ComposeProject: t.ComposeProject}}
	if t.Branch != "" {
		out.Data.Branch = &t.Branch
	}
	return a.writeJSON(out)
}
