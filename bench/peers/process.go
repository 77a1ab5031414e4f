package main

import (
	"context"
	"errors"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
)

// process is a way that is a whole process, from its start to its end, its result on
// stdout.
func process(name string, command func(*input) *exec.Cmd) *peer {
	run := func(ctx context.Context, in *input, stdout io.Writer) error {
		cmd := command(in)
		cmd.Stdout = stdout
		if err := cmd.Start(); err != nil {
			return err
		}
		defer context.AfterFunc(ctx, func() { _ = cmd.Process.Kill() })()
		return cmd.Wait()
	}
	return &peer{
		name: name,
		result: func(ctx context.Context, in *input) ([]byte, error) {
			var out strings.Builder
			err := run(ctx, in, &out)
			return []byte(out.String()), err
		},
		timed: func(ctx context.Context, in *input) error {
			return toNull(func(w io.Writer) error { return run(ctx, in, w) })
		},
	}
}

// jq writes each event compactly. It parses all, and counts and bounds nothing.
func jq() *peer {
	p := process("jq -c .", func(in *input) *exec.Cmd { return exec.Command("jq", "-c", ".", in.file) })
	p.against, p.verify = oursCold, verifyLines
	p.about = "the whole process; it parses and writes, it counts and bounds nothing"
	p.startup = func(context.Context, *input) error { return p.find("jq", "jq is not installed (Debian package jq)") }
	return p
}

// find notes the version of a command, or says that it is missing.
func (p *peer) find(path, missing string) error {
	out, err := exec.Command(path, "--version").Output()
	if err != nil {
		return errors.New(missing)
	}
	p.version = strings.TrimSpace(string(out))
	return nil
}

func findNode(string) (string, error) {
	path, err := exec.LookPath("node")
	if err != nil {
		return "", errors.New("node is not installed")
	}
	return path, nil
}

// findBun looks where npm puts Bun: the executable itself, in the package of the system or
// where the install script of bun moves it, not the script before it.
func findBun(scripts string) (string, error) {
	found, err := filepath.Glob(filepath.Join(scripts, "node_modules", "@oven", "bun-*", "bin", "bun"))
	if err != nil {
		return "", err
	}
	for _, path := range append(found, filepath.Join(scripts, "node_modules", "bun", "bin", "bun.exe")) {
		// Of several builds only those run that are for this machine.
		if exec.Command(path, "--version").Run() == nil {
			return filepath.Abs(path)
		}
	}
	return "", errors.New("Bun is not installed: npm ci in bench/peers")
}

// coldScript is the script in a process of its own.
func coldScript(name, scripts string, find func(string) (string, error)) *peer {
	var path string
	p := process(name+", whole process", func(in *input) *exec.Cmd {
		return exec.Command(path, filepath.Join(scripts, "work.mjs"), "once", in.file)
	})
	p.against, p.verify = oursCold, verifyResult(true)
	p.about = "work.mjs: JSON.parse for each line, budget, one JSON.stringify for each channel"
	p.startup = func(context.Context, *input) (err error) {
		if path, err = find(scripts); err != nil {
			return err
		}
		return p.find(path, name+" does not run")
	}
	return p
}

// script is the script in a process that stays, so that its code is compiled and hot.
func script(name, scripts string, find func(string) (string, error)) *peer {
	var path string
	p := staying(name+", warm", func(in *input) *exec.Cmd {
		return exec.Command(path, filepath.Join(scripts, "work.mjs"), "stay", in.file)
	})
	p.against, p.verify = oursWarm, verifyResult(true)
	p.about = "work.mjs in a process that stays: JSON.parse for each line, budget, one JSON.stringify for each channel"
	start := p.startup
	p.startup = func(ctx context.Context, in *input) (err error) {
		if path, err = find(scripts); err != nil {
			return err
		}
		if err := p.find(path, name+" does not run"); err != nil {
			return err
		}
		return start(ctx, in)
	}
	return p
}
