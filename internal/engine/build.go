//go:build linux

package engine

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// Install puts the compose plugin where the docker command of this engine finds it.
func (e *Engine) Install(ctx context.Context) error {
	path, err := Plugin(ctx)
	if err != nil {
		return err
	}
	err = os.Symlink(path, filepath.Join(e.Dir, "config/cli-plugins/docker-compose"))
	if errors.Is(err, os.ErrExist) {
		return nil
	}
	return err
}

// Plugin builds the compose plugin, which is a tool of the module in folder plugin, and
// returns its path. It lies in the user's cache, by the text of go.mod and the version of
// Go, so that it is built once.
func Plugin(ctx context.Context) (string, error) {
	module := filepath.Join(folder(), "plugin")
	text, err := os.ReadFile(filepath.Join(module, "go.mod"))
	if err != nil {
		return "", err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	cache = filepath.Join(cache, "tailrace-engine")
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return "", err
	}
	sum := sha256.Sum256(append(text, runtime.Version()...))
	path := filepath.Join(cache, fmt.Sprintf("docker-compose-%x", sum[:8]))
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	// Built beside its place, so that a run that was broken off leaves no half of it.
	part := fmt.Sprintf("%s.%d", path, os.Getpid())
	err = build(ctx, module, part, "github.com/docker/compose/v2/cmd",
		"-trimpath", "-ldflags=-s -w -X github.com/docker/compose/v2/internal.Version=v2.40.3")
	if err != nil {
		return "", err
	}
	return path, os.Rename(part, path)
}

// Build builds the image with the test program.
func (e *Engine) Build(ctx context.Context) error {
	dir := filepath.Join(e.Dir, "image")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := build(ctx, folder(), filepath.Join(dir, "logger"), "./logger", "-trimpath", "-ldflags=-s -w"); err != nil {
		return err
	}
	const text = "FROM scratch\nCOPY logger /logger\nCMD [\"/logger\"]\n"
	if err := os.WriteFile(filepath.Join(dir, "Dockerfile"), []byte(text), 0o644); err != nil {
		return err
	}
	_, err := e.Docker(ctx, dir, "build", "--quiet", "--network", "none", "--tag", Image, ".")
	return err
}

func build(ctx context.Context, dir, out, pkg string, flags ...string) error {
	args := append([]string{"build", "-o", out}, flags...)
	cmd := exec.CommandContext(ctx, "go", append(args, pkg)...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOFLAGS=-mod=mod -buildvcs=false", "GOWORK=off")
	text, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("go build %s: %w\n%s", pkg, err, strings.TrimSpace(string(text)))
	}
	return nil
}

// folder is the folder of this package.
func folder() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Dir(file)
}
