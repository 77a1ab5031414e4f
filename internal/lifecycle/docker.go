package lifecycle

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/tailrace/tailrace/internal/project"
)

const (
	// inspectTime bounds a question to Docker whose answer is read here.
	inspectTime = 30 * time.Second
	// inspectGrace is how long Docker has after SIGTERM.
	inspectGrace = time.Second
	// maxAnswer is the largest answer that is read, in bytes.
	maxAnswer = 16 << 20
)

// A Docker runs the docker command. It may be used by several goroutines.
type Docker struct {
	path string
	env  []string
	// plugins are the folders of docker's plugins.
	plugins []string
}

// NewDocker finds docker in the absolute folders of the captured PATH. The error is
// [ErrNoDocker].
func NewDocker(c project.Context) (*Docker, error) {
	path, ok := c.LookPath("docker")
	if !ok {
		return nil, ErrNoDocker
	}
	return &Docker{path: path, env: c.Env, plugins: pluginFolders(c)}, nil
}

// A Stdio is what a command is connected with. Signals are handed on to it; the sender
// stops before it closes the channel, and a nil channel has none.
type Stdio struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Signals        <-chan os.Signal
}

// run runs docker to its end and returns its exit code, 128 + n for signal n. It is ended
// by signals, not by ctx: Compose takes its time to stop what it shows. The error is
// [ErrUnstarted].
func (d *Docker) run(ctx context.Context, dir string, args []string, io Stdio) (int, error) {
	cmd := d.command(context.WithoutCancel(ctx), dir, args)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = io.Stdin, io.Stdout, io.Stderr
	if err := cmd.Start(); err != nil {
		return 1, ErrUnstarted
	}
	done, handed := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(handed)
		for {
			select {
			case s, ok := <-io.Signals:
				if !ok {
					return
				}
				_ = cmd.Process.Signal(s) // it may be gone already
			case <-done:
				return
			}
		}
	}()
	err := cmd.Wait()
	close(done)
	<-handed
	return exitCode(cmd, err)
}

// output runs docker and returns its stdout. What it writes to stderr is dropped: it may
// hold anything of a compose file.
func (d *Docker) output(ctx context.Context, dir string, args []string) (stdout []byte, code int, err error) {
	ctx, cancel := context.WithTimeout(ctx, inspectTime)
	defer cancel()
	cmd := d.command(ctx, dir, args)
	answer := &limited{limit: maxAnswer}
	cmd.Stdout = answer
	code, err = exitCode(cmd, cmd.Run())
	if answer.cut {
		return nil, code, ErrOutput
	}
	return answer.held.Bytes(), code, err
}

func (d *Docker) command(ctx context.Context, dir string, args []string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, d.path, args...)
	cmd.Dir, cmd.Env = dir, d.env
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = inspectGrace
	return cmd
}

func exitCode(cmd *exec.Cmd, err error) (int, error) {
	var exit *exec.ExitError
	switch {
	case err == nil, errors.Is(err, exec.ErrWaitDelay):
		return 0, nil
	case errors.As(err, &exit):
		if code := exit.ExitCode(); code >= 0 {
			return code, nil
		}
		if s, ok := exit.Sys().(syscall.WaitStatus); ok && s.Signaled() {
			return 128 + int(s.Signal()), nil
		}
		return 1, nil
	case cmd.ProcessState == nil:
		return 1, ErrUnstarted
	}
	// A stream of ours could not be written, or the time was over.
	if code := cmd.ProcessState.ExitCode(); code > 0 {
		return code, nil
	}
	return 1, nil
}

// pluginFolders are the folders where docker looks for plugins.
func pluginFolders(c project.Context) []string {
	config := c.Getenv("DOCKER_CONFIG")
	if config == "" {
		config = filepath.Join(c.UserHome(), ".docker")
	}
	return []string{
		filepath.Join(config, "cli-plugins"), "/usr/local/lib/docker/cli-plugins", "/usr/local/libexec/docker/cli-plugins",
		"/usr/lib/docker/cli-plugins", "/usr/libexec/docker/cli-plugins",
	}
}

// compose is run for a command of Compose. Without the plugin docker takes its name for a
// mistake, and answers with all of its help, so that is looked for before. The error may be
// [ErrNoCompose], too.
func (d *Docker) compose(ctx context.Context, t *Target, io Stdio, command ...string) (int, error) {
	if err := d.plugin(ctx); ErrNoCompose.Is(err) {
		return 1, err
	}
	return d.run(ctx, t.set.Dir, t.args(command...), io)
}

// plugin looks for the compose plugin: in the usual folders, else by asking docker.
func (d *Docker) plugin(ctx context.Context) error {
	for _, dir := range d.plugins {
		if _, err := os.Stat(filepath.Join(dir, "docker-compose")); err == nil {
			return nil
		}
	}
	_, code, err := d.output(ctx, "", []string{"compose", "version", "--short"})
	if err == nil && code != 0 {
		err = ErrNoCompose
	}
	return err
}

// explain says why docker failed: the plugin or the engine is missing, or it had a reason
// of its own, which it wrote itself.
func (d *Docker) explain(ctx context.Context, code int) error {
	e := *ErrCompose
	if ctx.Err() != nil { // It was stopped: that is why.
		e.Exit = code
		return &e
	}
	if d.plugin(ctx) != nil {
		e = *ErrNoCompose
	} else if _, c, err := d.output(ctx, "", []string{"version", "--format", "{{.Server.Version}}"}); err != nil || c != 0 {
		e = *ErrNoEngine
	}
	e.Exit = code
	return &e
}

// A limited is a buffer that refuses what goes beyond its limit. The buffer is no embedded
// one: its ReadFrom would go around the limit.
type limited struct {
	held  bytes.Buffer
	limit int
	cut   bool
}

func (l *limited) Write(p []byte) (int, error) {
	if l.held.Len()+len(p) > l.limit {
		l.cut = true
		return 0, ErrOutput
	}
	return l.held.Write(p)
}
