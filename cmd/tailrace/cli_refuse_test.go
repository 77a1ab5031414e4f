package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// runApp runs the program in this process, in a folder and with an environment of its own.
func runApp(dir string, env []string, args ...string) (code int, stdout, stderr string) {
	var out, err bytes.Buffer
	a := &app{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &err, Args: args, Env: env, Cwd: dir, Now: time.Now}
	return a.run(), out.String(), err.String()
}

// errorOf reads the code of an envelope.
func errorOf(t *testing.T, stdout string) string {
	t.Helper()
	var e struct {
		OK    *bool
		Error struct{ Code, Message string }
	}
	if err := json.Unmarshal([]byte(stdout), &e); err != nil || e.OK == nil || *e.OK || e.Error.Message == "" {
		t.Errorf("no envelope: %q", stdout)
	}
	return e.Error.Code
}

// hackCommands are the commands that hack has, too. They exit with 1 for a wrong command
// line, as there; all others with 2.
var hackCommands = map[string]bool{
	"tailrace doctor": true, "tailrace down": true, "tailrace env explain": true, "tailrace env list": true, "tailrace exec": true, "tailrace init": true,
	"tailrace logs": true, "tailrace open": true, "tailrace projects": true, "tailrace ps": true, "tailrace restart": true, "tailrace up": true,
}

// TestEveryCommandRefusesUnknownFlags: with the exit code of the page, and without
// repeating what was given.
func TestEveryCommandRefusesUnknownFlags(t *testing.T) {
	env := []string{"HOME=" + t.TempDir(), "PATH="}
	for _, cmd := range commandTree(newRootCommand(&app{})) {
		path := cmd.CommandPath()
		args := append(strings.Fields(path)[1:], "--s3cret")
		want := 2
		if hackCommands[path] {
			want = 1
		}
		code, stdout, stderr := runApp(t.TempDir(), env, args...)
		if code != want || stdout != "" || strings.Count(stderr, "\n") != 1 || strings.Contains(stderr, "s3cret") {
			t.Errorf("%s: code %d, %q, %q", path, code, stdout, stderr)
		}
		if cmd.Flags().Lookup("json") == nil || want == 2 {
			continue
		}
		code, stdout, _ = runApp(t.TempDir(), env, append(args, "--json")...)
		if code != 1 || errorOf(t, stdout) != codeUsage {
			t.Errorf("%s --json: code %d, %q", path, code, stdout)
		}
	}
}

// TestEveryCommandWithoutDocker: each command that needs it says in one line what is
// missing and what to do, and has the code of that error.
func TestEveryCommandWithoutDocker(t *testing.T) {
	dir := t.TempDir()
	env := []string{"HACK_HOME=" + t.TempDir(), "PATH=" + t.TempDir()}
	if err := os.WriteFile(filepath.Join(dir, "compose.yaml"), []byte("name: shop\nservices: {web: {image: web}}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := runApp(dir, env, "init", "--auto"); code != 0 {
		t.Fatal(stderr)
	}
	const line = "tailrace: docker was not found on the PATH: install Docker with its compose plugin\n"
	for _, args := range [][]string{
		{"ps"}, {"up"}, {"up", "--detach"}, {"down"}, {"restart"}, {"open"}, {"run", "web"}, {"run", "web", "--", "ls"}, {"exec", "web", "--", "ls"},
	} {
		code, stdout, stderr := runApp(dir, env, args...)
		if code != 1 || stdout != "" || stderr != line {
			t.Errorf("%q: code %d, %q, %q", args, code, stdout, stderr)
		}
		if args[0] == "run" || args[0] == "exec" {
			continue
		}
		code, stdout, stderr = runApp(dir, env, append(args, "--json")...)
		if code != 1 || errorOf(t, stdout) != "E_DOCKER_UNAVAILABLE" || stderr != line {
			t.Errorf("%q --json: code %d, %q, %q", args, code, stdout, stderr)
		}
	}
	for _, args := range [][]string{{"projects"}, {"env", "list"}, {"env", "explain", "X"}, {"init"}} {
		if code, _, stderr := runApp(dir, env, args...); code != 0 || stderr != "" {
			t.Errorf("%q: code %d, %q", args, code, stderr)
		}
	}
}
