//go:build linux

package engine

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// startTime bounds how long an engine may take until it answers.
const startTime = time.Minute

// An Engine is a running Docker engine. It is safe for concurrent use.
type Engine struct {
	// Dir is the temporary folder that holds everything of the engine.
	Dir string
	// Host is the address of its socket, as DOCKER_HOST has it.
	Host string

	cmd  *exec.Cmd
	done chan struct{} // closed once the engine has ended
}

// Start starts an engine and waits until it answers. Flags are added to those of the
// engine.
func Start(ctx context.Context, flags ...string) (*Engine, error) {
	path, err := daemon()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "engine-")
	if err != nil {
		return nil, err
	}
	e := &Engine{Dir: dir, Host: "unix://" + filepath.Join(dir, "docker.sock"), done: make(chan struct{})}
	for _, name := range [...]string{"data", "exec", "config/cli-plugins"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			return nil, errors.Join(err, os.RemoveAll(dir))
		}
	}
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	defer log.Close()
	// The file in place of /etc/docker/daemon.json keeps the settings of the machine out.
	settings := filepath.Join(dir, "daemon.json")
	if err := os.WriteFile(settings, []byte("{}"), 0o644); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	e.cmd = exec.Command(path, append([]string{
		"--config-file", settings, "--host", e.Host,
		"--data-root", filepath.Join(dir, "data"), "--exec-root", filepath.Join(dir, "exec"),
		"--pidfile", filepath.Join(dir, "pid"),
		"--iptables=false", "--ip6tables=false", "--bridge=none", "--storage-driver=vfs",
	}, flags...)...)
	e.cmd.Stdout, e.cmd.Stderr = log, log
	// A test that is killed takes its engine along.
	e.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // the signal comes when the thread that started it ends
		defer runtime.UnlockOSThread()
		err := e.cmd.Start()
		started <- err
		if err == nil {
			_ = e.cmd.Wait()
		}
		close(e.done)
	}()
	if err := <-started; err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	if err := e.wait(ctx); err != nil {
		tail := e.Log()
		return nil, errors.Join(fmt.Errorf("%w\n%s", err, tail[max(0, len(tail)-4096):]), e.Stop())
	}
	return e, nil
}

// daemon finds the engine of Debian, and no other.
func daemon() (string, error) {
	const path = "/usr/sbin/dockerd"
	if _, err := os.Stat(path); err != nil {
		return "", errors.New("no Docker engine: apt-get install -y --no-install-recommends docker.io")
	}
	return path, nil
}

func (e *Engine) wait(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		c, err := net.Dial("unix", strings.TrimPrefix(e.Host, "unix://"))
		if err == nil {
			_ = c.Close()
			if _, err = e.Docker(ctx, "", "version"); err == nil {
				return nil
			}
		}
		select {
		case <-e.done:
			return errors.New("the engine ended at its start")
		case <-ctx.Done():
			return errors.New("the engine does not answer")
		case <-tick.C:
		}
	}
}

// Pid is the process id of the engine.
func (e *Engine) Pid() int { return e.cmd.Process.Pid }

// Log is what the engine itself has logged.
func (e *Engine) Log() string {
	data, _ := os.ReadFile(filepath.Join(e.Dir, "log"))
	return string(data)
}

// End ends the engine with its containers, but keeps its folder.
func (e *Engine) End() {
	_ = e.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-e.done:
	case <-time.After(40 * time.Second):
		_ = e.cmd.Process.Kill()
		<-e.done
	}
}

// Stop ends the engine with its containers and removes its folder.
func (e *Engine) Stop() error {
	e.End()
	return os.RemoveAll(e.Dir)
}

// Env is the environment for a program that shall use this engine: that of this process
// without its own settings of Docker.
func (e *Engine) Env() []string {
	var env []string
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "DOCKER_") && !strings.HasPrefix(v, "COMPOSE_") {
			env = append(env, v)
		}
	}
	return append(env, "DOCKER_HOST="+e.Host, "DOCKER_CONFIG="+filepath.Join(e.Dir, "config"), "DOCKER_BUILDKIT=0")
}

// Docker runs the docker command in dir, which may be empty, and returns its stdout. The
// error has its stderr.
func (e *Engine) Docker(ctx context.Context, dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "docker", args...)
	cmd.Dir, cmd.Env = dir, e.Env()
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("docker %s: %w\n%s", strings.Join(args, " "), err, stderr.String())
	}
	return string(out), err
}

// Main starts an engine with plugin and image, puts it into where, runs tests, and ends
// it. It returns the code for [os.Exit].
func Main(tests interface{ Run() int }, where **Engine) int {
	e, err := ready(context.Background())
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	*where = e
	code := tests.Run()
	if err := e.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return max(code, 1)
	}
	return code
}

func ready(ctx context.Context) (*Engine, error) {
	e, err := Start(ctx)
	if err != nil {
		return nil, err
	}
	if err = e.Install(ctx); err == nil {
		err = e.Build(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, e.Stop())
	}
	return e, nil
}
