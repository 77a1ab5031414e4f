package lifecycle

import (
	"context"
	"slices"
	"strings"
)

// args are the arguments of docker for a command of Compose.
func (t *Target) args(command ...string) []string {
	args := []string{"compose", "-p", t.ComposeProject}
	for _, file := range t.set.Files {
		args = append(args, "-f", file)
	}
	args = append(args, t.env.FileArgs()...)
	for _, name := range t.profiles {
		args = append(args, "--profile", name)
	}
	return append(args, command...)
}

// Up starts the services of a project. Detached, it returns when they are started; else it
// shows their output until they end.
func (d *Docker) Up(ctx context.Context, t *Target, detach bool, io Stdio) error {
	if detach {
		return d.action(ctx, t, io, "up", "--detach")
	}
	return d.action(ctx, t, io, "up")
}

// Down stops the services of a project and removes their containers. Volumes stay.
func (d *Docker) Down(ctx context.Context, t *Target, io Stdio) error {
	return d.action(ctx, t, io, "down")
}

// Restart is Down and then Up, so that changes of the compose file count.
func (d *Docker) Restart(ctx context.Context, t *Target, io Stdio) error {
	if err := d.Down(ctx, t, io); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return &Error{Code: CodeCompose, Text: "the restart was stopped after the services were: run `tailrace up --detach`"}
	}
	return d.Up(ctx, t, true, io)
}

func (d *Docker) action(ctx context.Context, t *Target, io Stdio, command ...string) error {
	if !t.Registered {
		return ErrNotAllowed
	}
	code, err := d.compose(ctx, t, io, command...)
	if err != nil {
		return err
	}
	if code != 0 {
		return d.explain(ctx, code)
	}
	return nil
}

// An Errand is a command that is run in a service.
type Errand struct {
	Service string
	// Words are the command and its arguments; with none, a new container runs its own.
	Words []string
	// Workdir is the working directory in the container, "" for the service's own.
	Workdir string
	// Terminal says that the streams are a terminal.
	Terminal bool
}

// Run runs an errand in a new container, which is removed at its end. It returns the exit
// code of the command.
func (d *Docker) Run(ctx context.Context, t *Target, e Errand, io Stdio) (int, error) {
	return d.errand(ctx, t, e, io, "run", "--rm")
}

// Exec runs an errand in the container that runs. It returns the exit code of the command.
func (d *Docker) Exec(ctx context.Context, t *Target, e Errand, io Stdio) (int, error) {
	return d.errand(ctx, t, e, io, "exec")
}

func (d *Docker) errand(ctx context.Context, t *Target, e Errand, io Stdio, command ...string) (int, error) {
	switch {
	case !nameRE.MatchString(e.Service):
		return 1, ErrServiceArg
	case strings.ContainsRune(e.Workdir, 0):
		return 1, ErrWorkdir
	case !t.Registered:
		return 1, ErrNotAllowed
	}
	model, err := t.set.Model(ctx, t.env, t.Registered)
	if err != nil {
		return 1, problem(err)
	}
	if !slices.Contains(model.Services(), e.Service) {
		return 1, ErrService
	}
	if !e.Terminal {
		command = append(command, "-T")
	}
	if e.Workdir != "" {
		command = append(command, "--workdir="+e.Workdir)
	}
	// Compose reads no flags behind the name of the service.
	command = append(append(command, e.Service), e.Words...)
	code, err := d.compose(ctx, t, io, command...)
	if err != nil {
		return code, err
	}
	if code != 0 && ownCodes[code] {
		// The code may be Compose's own. Where nothing is wrong with Docker it is taken as
		// the command's.
		if err := d.explain(ctx, code); !ErrCompose.Is(err) {
			return code, err
		}
	}
	return code, nil
}

// ownCodes are the exit codes that Docker and Compose themselves fail with.
var ownCodes = map[int]bool{1: true, 14: true, 15: true, 16: true, 17: true, 18: true, 125: true}
