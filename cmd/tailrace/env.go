package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/tailrace/tailrace/internal/lifecycle"
	"github.com/tailrace/tailrace/internal/visible"
)

const envLong = `Say which variables a project has and where they come from. No value is ever shown.

The sources are the environment of the process, .env and .env.NAME beside the compose
file, and environment and env_file of the services.`

func newEnvCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use: "env", Short: "The variables of a project, without their values", Long: envLong, Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newEnvListCommand(a), newEnvExplainCommand(a))
	return cmd
}

// An envFlags is the flags of the env commands.
type envFlags struct {
	projectFlags
	service string
}

func (e *envFlags) all(cmd *cobra.Command) {
	e.add(cmd)
	e.addEnv(cmd)
	e.addJSON(cmd, "one JSON object")
	cmd.Flags().StringVar(&e.service, "service", "", "only what the service `NAME` gets, or global for what the compose files are filled in with")
}

const envListLong = `List the names of the variables of a project, with their sources. No value is shown.

Exit codes: 0 nothing is missing, 1 a required variable (${NAME:?} in a compose file) has
no value, or the call was refused.`

func newEnvListCommand(a *app) *cobra.Command {
	e := &envFlags{}
	cmd := &cobra.Command{Use: "list", Short: "List the variables", Long: envListLong, Args: noArgs}
	e.all(cmd)
	return lifecycleCommand(a, cmd, &e.json, func(ctx context.Context, cmd *cobra.Command, _ []string) error {
		_, t, err := e.target(a, cmd)
		if err != nil {
			return err
		}
		list, err := lifecycle.ListEnv(ctx, t, e.service, e.env)
		if err != nil {
			return err
		}
		if e.json {
			err = a.writeJSON(list)
		} else {
			err = a.writeText(envListText(list))
		}
		if err == nil && len(list.MissingRequired) > 0 {
			return &exitError{code: codeFailed, err: errors.New("a required variable has no value: see what is missing above")}
		}
		return err
	})
}

func envListText(list *lifecycle.EnvList) string {
	var out strings.Builder
	w := tabwriter.NewWriter(&out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tSTATE\tSOURCE\tSERVICES")
	for _, v := range list.Vars {
		state := "set"
		switch {
		case !v.Set && v.Required:
			state = "missing"
		case !v.Set:
			state = "not set"
		case v.Secret:
			state = "set (secret)"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", v.Key, state, placeText(v.Source, v.ResolvedFrom), visible.String(strings.Join(v.Services, ", ")))
	}
	_ = w.Flush() // a strings.Builder takes everything
	if len(list.MissingRequired) > 0 {
		fmt.Fprintf(&out, "missing: %s\n", strings.Join(list.MissingRequired, ", "))
	}
	return out.String()
}

func placeText(source, from *string) string {
	switch {
	case source == nil:
		return "-"
	case from == nil:
		return visible.String(*source)
	}
	return visible.String(*source + " (from " + *from + ")")
}

const envExplainLong = `Say where a variable of a project comes from and where it goes. Its value is not shown.

--target host (the default) is what the compose files are filled in with; --target compose
is what the containers of the services get.

Exit codes: 0 it is explained, also where it is not set, 1 the call was refused.`

func newEnvExplainCommand(a *app) *cobra.Command {
	e, view := &envFlags{}, "host"
	cmd := &cobra.Command{Use: "explain NAME", Short: "Say where a variable comes from", Long: envExplainLong}
	e.all(cmd)
	cmd.Flags().StringVar(&view, "target", view, "whose `VIEW`: host or compose")
	cmd.Args = func(_ *cobra.Command, args []string) error {
		if len(args) != 1 {
			return errors.New("explain takes the name of one variable")
		}
		return nil
	}
	return lifecycleCommand(a, cmd, &e.json, func(ctx context.Context, cmd *cobra.Command, args []string) error {
		_, t, err := e.target(a, cmd)
		if err != nil {
			return err
		}
		x, err := lifecycle.ExplainEnv(ctx, t, args[0], e.service, view)
		if err != nil {
			return err
		}
		if e.json {
			return a.writeJSON(x)
		}
		return a.writeText(envExplainText(x))
	})
}

func envExplainText(x *lifecycle.EnvExplanation) string {
	if !x.Available {
		return x.Key + " is not set\n"
	}
	text := x.Key + " is set by " + placeText(x.Source, x.ResolvedFrom) + "\n"
	for _, p := range x.Precedence[1:] {
		text += "  over " + visible.String(p) + "\n"
	}
	if len(x.DeliveredTo) > 0 {
		text += "  for the services " + visible.String(strings.Join(x.DeliveredTo, ", ")) + "\n"
	}
	return text
}
