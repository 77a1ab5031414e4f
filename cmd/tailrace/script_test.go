package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// raceEnd keeps a program that was built with the race detector from sleeping for a
// second at its end.
const raceEnd = "atexit_sleep_ms=0"

// The scripts run the program as its users do, each in a folder of its own.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		RequireExplicitExec: true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("HOME", filepath.Join(e.WorkDir, "user"))
			e.Setenv("HACK_HOME", "")
			e.Setenv("HACK_GLOBAL_CONFIG_PATH", "")
			e.Setenv("GORACE", raceEnd)
			// For a script that takes everything else off its PATH.
			self, _ := exec.LookPath("tailrace")
			e.Setenv("TAILRACE", self)
			// A script that wants a docker puts $DOCKERBIN on its PATH.
			e.Setenv("DOCKERBIN", filepath.Join(e.WorkDir, ".docker", "bin"))
			e.Setenv("FAKE_DOCKER", filepath.Join(e.WorkDir, ".docker"))
			e.Setenv("DOCKER_CONFIG", filepath.Join(e.WorkDir, ".docker"))
			return withDocker(filepath.Join(e.WorkDir, ".docker"))
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"events":    scriptEvents,
			"exits":     scriptExits,
			"fill":      scriptFill,
			"hasjson":   scriptHasJSON,
			"only":      scriptOnly,
			"uncomment": scriptUncomment,
		},
	})
}

func oneArgument(ts *testscript.TestScript, neg bool, args []string) string {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: one argument, no negation")
	}
	return ts.MkAbs(args[0])
}

var now = regexp.MustCompile(`"ts":"20[0-9-]{8}T[0-9:]{8}\.[0-9]{3}Z"`)

// events FILE compares the last stdout with a file in which the times of the clock are
// written NOW.
func scriptEvents(ts *testscript.TestScript, neg bool, args []string) {
	want := ts.ReadFile(oneArgument(ts, neg, args))
	if got := now.ReplaceAllString(ts.ReadFile("stdout"), `"ts":"NOW"`); got != want {
		ts.Fatalf("got\n%swant\n%s", got, want)
	}
}

// exits CODE COMMAND ARGS... runs a command, which must end with the code.
func scriptExits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND ARGS..., no negation")
	}
	code := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		code = exit.ExitCode()
	}
	if got := strconv.Itoa(code); got != args[0] {
		ts.Fatalf("got exit code %s, want %s", got, args[0])
	}
}

// uncomment FILE makes sources of the examples in a tailrace.yaml.
func scriptUncomment(ts *testscript.TestScript, neg bool, args []string) {
	path := oneArgument(ts, neg, args)
	data := bytes.ReplaceAll([]byte(ts.ReadFile(path)), []byte("\n#  "), []byte("\n  "))
	ts.Check(os.WriteFile(path, data, 0o644))
}

// only DIR makes a folder that holds the program and nothing else, for a PATH without
// docker.
func scriptOnly(ts *testscript.TestScript, neg bool, args []string) {
	dir := oneArgument(ts, neg, args)
	exe, err := os.Executable()
	ts.Check(err)
	ts.Check(os.MkdirAll(dir, 0o755))
	ts.Check(os.Symlink(exe, filepath.Join(dir, "tailrace")))
}

// fill FILE VARIABLE writes the value of a variable where the file has its name behind a
// dollar.
func scriptFill(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: fill FILE VARIABLE, no negation")
	}
	text := strings.ReplaceAll(ts.ReadFile(args[0]), "$"+args[1], ts.Getenv(args[1]))
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o644))
}

// hasjson FILE checks that the last stdout is one JSON object, which has all that the file
// has. Members that the file does not name are not looked at; lists are compared whole.
func scriptHasJSON(ts *testscript.TestScript, neg bool, args []string) {
	path := oneArgument(ts, neg, args)
	var got, want any
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(path)), &want))
	if err := json.Unmarshal([]byte(ts.ReadFile("stdout")), &got); err != nil {
		ts.Fatalf("stdout is no JSON: %v", err)
	}
	if where := differs(got, want, "$"); where != "" {
		ts.Fatalf("%s is not as in %s:\n%s", where, args[0], ts.ReadFile("stdout"))
	}
}

// differs returns where got lacks what want has, or "".
func differs(got, want any, at string) string {
	switch want := want.(type) {
	case map[string]any:
		got, ok := got.(map[string]any)
		for key, v := range want {
			if _, there := got[key]; !ok || !there {
				return at + "." + key
			}
			if where := differs(got[key], v, at+"."+key); where != "" {
				return where
			}
		}
		return ""
	case []any:
		got, ok := got.([]any)
		if !ok || len(got) != len(want) {
			return at
		}
		for i, v := range want {
			if where := differs(got[i], v, at+"["+strconv.Itoa(i)+"]"); where != "" {
				return where
			}
		}
		return ""
	}
	if !reflect.DeepEqual(got, want) {
		return at
	}
	return ""
}
