package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// logsApp runs the logs command in a folder of its own, with these files in it.
func logsApp(t *testing.T, files map[string]string, args ...string) (stdout string, err error) {
	t.Helper()
	root := t.TempDir()
	for name, content := range files {
		path := filepath.Join(root, "p", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Join(root, "p"), 0o755); err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	a := &app{
		Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Args: append([]string{"logs"}, args...),
		Env: []string{"HOME=" + filepath.Join(root, "home"), "PATH=/nowhere"}, Cwd: filepath.Join(root, "p"),
		Now: func() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) },
	}
	cmd := newLogsCommand(a)
	cmd.SetArgs(args)
	cmd.SetContext(t.Context())
	err = cmd.Execute()
	return out.String(), err
}

// A refusal before any event: one multi-line object on stdout where it has a code, the
// bare text for stderr where it has none.
func TestLogs_Refusals(t *testing.T) {
	const yaml = "version: 1\nsources:\n  web: {file: web.log}\n  job: {command: [job]}\n"
	const none = ""
	for _, tt := range []struct {
		name string
		yaml string
		args string
		code string
		text string
	}{
		{"unknown option", yaml, "--json --s3cret", "E_USAGE", "unknown option"},
		{"unknown option first", yaml, "--s3cret --json", "E_USAGE", "unknown option"},
		{"unknown short option", yaml, "--json -s3cret", "E_USAGE", "unknown option"},
		{"missing value", yaml, "--json --since", "E_USAGE", "--since needs a value"},
		{"tail of words", yaml, "--json --tail s3cret", "E_USAGE", "--tail does not take this value"},
		{"negative tail", yaml, "--json --tail -1", "E_USAGE", "--tail takes a number"},
		{"two services", yaml, "--json web s3cret", "E_USAGE", "logs takes one SERVICE"},
		{"name and path", yaml, "--json --project s3cret --path .", "E_USAGE", "--project and --path"},
		{"file and project", yaml, "--json --file s3cret --project x", "E_USAGE", "--file is read without a project"},
		{"file and service", yaml, "--json --file s3cret web", "E_USAGE", "--file is read without a project"},
		{"both follows", yaml, "--json --follow --no-follow", "E_USAGE", "--follow and --no-follow"},
		{"empty file", yaml, "--json --file=", "E_USAGE", "--file takes the path"},
		{"empty name", yaml, "--json --project=", "E_USAGE", "projectName is not a project name"},
		{"unknown name", yaml, "--json --project=-s3cret", "E_PROJECT_NOT_FOUND", "projectName names no registered"},
		{"empty path", yaml, "--json --path=", "E_USAGE", "path is not a path"},
		{"missing path", yaml, "--json --path s3cret", "E_PROJECT_NOT_FOUND", "path was not found"},
		{"no project", none, "--json", "E_PROJECT_NOT_FOUND", "there is no project here"},
		{"bad yaml", "version: s3cret\n", "--json", "E_CONFIG_INVALID", "tailrace.yaml:1:10: "},
		{"no sources", "version: 1\n", "--json", "E_CONFIG_INVALID", "lists no sources"},
		{"unknown service", yaml, "--json s3cret", "E_SERVICE_NOT_FOUND", "is no source of the project"},
		{"one unknown service", yaml, "--json --services web,s3cret", "E_SERVICE_NOT_FOUND", "is no source of the project"},
		{"command of a clone", yaml, "--json", "E_PERMISSION", "run `tailrace init`"},
		{"command of a clone by name", yaml, "--json job", "E_PERMISSION", "run `tailrace init`"},

		{"compose and loki", yaml, "--json --pretty --compose --loki", "", "--compose cannot be combined"},
		{"compose and query", yaml, "--json --compose --query s3cret", "", "--compose cannot be combined"},
		{"compose and services", yaml, "--json --compose --services=", "", "--compose cannot be combined"},
		{"compose and since", yaml, "--json --compose --since s3cret", "", "--compose cannot be combined"},
		{"json and pretty", yaml, "--json --pretty --since s3cret", "", "--json and --pretty"},
		{"bad since", yaml, "--json --since s3cret --until 1h", "", "--since is no time"},
		{"bad until", yaml, "--json --no-follow --until s3cret", "", "--until is no time"},
		{"since after until", yaml, "--json --since 1m --until 1h", "", "--since is later than --until"},
		{"until while following", yaml, "--json --until 1h", "", "--until cannot be combined with following"},
		{"empty query", yaml, "--json --query=", "E_USAGE", "--query takes a log query"},
		{"file and Loki", yaml, "--json --file s3cret --loki", "E_USAGE", "--file is read without a project"},
		{"Loki of a clone", "version: 1\nsources: {far: {loki: {token_env: s3cret}}}\n", "--json --loki", "E_PERMISSION", "on a server"},
		{"compose without a file", yaml, "--json --compose", "E_PROJECT_NOT_FOUND", "the project has no compose file"},
		{"bad profile", yaml, "--json --compose --profile=-s3cret", "E_USAGE", "--profile takes names"},
		{"containers of a clone", "version: 1\nsources: {all: {compose: {project: s3cret}}}\n", "--json", "E_PERMISSION", "the containers of a compose project"},
		{"containers without a file", "version: 1\nsources: {all: {compose: {}}}\n", "--json", "E_PROJECT_NOT_FOUND", "it has no compose file"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			files := map[string]string{}
			if tt.yaml != none {
				files["tailrace.yaml"] = tt.yaml
			}
			args := strings.Fields(tt.args)
			stdout, err := logsApp(t, files, args...)
			var exit *exitError
			if !errors.As(err, &exit) || exit.code != 1 {
				t.Fatalf("got error %v, want exit code 1", err)
			}
			said := ""
			if tt.code == "" {
				if stdout != "" {
					t.Errorf("stdout holds %q", stdout)
				}
				if exit.err == nil {
					t.Fatal("nothing is said")
				}
				said = exit.err.Error()
			} else {
				var envelope struct {
					OK    *bool `json:"ok"`
					Error struct{ Code, Message string }
				}
				if err := json.Unmarshal([]byte(stdout), &envelope); err != nil || exit.err == nil {
					t.Fatalf("%v, %v in %q", err, exit.err, stdout)
				}
				if exit.err.Error() != envelope.Error.Message {
					t.Errorf("stderr says %q, the envelope %q", exit.err, envelope.Error.Message)
				}
				if envelope.OK == nil || *envelope.OK || envelope.Error.Code != tt.code {
					t.Errorf("got %+v, want code %s", envelope, tt.code)
				}
				for line := range strings.Lines(stdout) {
					if json.Valid([]byte(line)) && strings.HasPrefix(line, "{") {
						t.Errorf("the line %q reads as an event", line)
					}
				}
				said = envelope.Error.Message
			}
			if !strings.Contains(said, tt.text) || strings.Contains(said, "s3cret") {
				t.Errorf("got %q, want %q", said, tt.text)
			}

			// Without --json the text goes to stderr.
			plain := make([]string, 0, len(args))
			for _, a := range args {
				if a != "--json" {
					plain = append(plain, a)
				}
			}
			if tt.name == "json and pretty" {
				return
			}
			stdout, err = logsApp(t, files, plain...)
			if !errors.As(err, &exit) || exit.code != 1 || exit.err == nil || exit.err.Error() != said || stdout != "" {
				t.Errorf("without --json: got %q and error %v, want %q", stdout, err, said)
			}
		})
	}
}

func TestBranchSlug(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "  ": "", "Fix_1": "fix-1", "feature/Über x": "feature-ber-x", "--a--": "a", "!!": "branch", "-": "branch",
	} {
		if got := branchSlug(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func TestFrame_Events(t *testing.T) {
	f := &frame{
		project: "shop--fix-1", backend: "file", branch: "fix-1",
		now: func() time.Time { return time.Date(2026, 3, 1, 11, 0, 0, 5e6, time.FixedZone("", 3600)) },
	}
	for got, want := range map[string]string{
		string(f.appendStart(nil, []string{"web", "job"}, true, "15m", "")):                    `{"type":"start","ts":"2026-03-01T10:00:00.005Z","project":"shop--fix-1","backend":"file","branch":"fix-1","services":["web","job"],"follow":true,"since":"15m"}`,
		string((&frame{backend: "file", now: f.now}).appendStart(nil, nil, false, "", "1\"h")): `{"type":"start","ts":"2026-03-01T10:00:00.005Z","backend":"file","follow":false,"until":"1\"h"}`,
		string(f.appendError(nil, "", "a\nb")):                                                 `{"type":"error","ts":"2026-03-01T10:00:00.005Z","project":"shop--fix-1","backend":"file","branch":"fix-1","message":"a\nb"}`,
		string(f.appendEnd(nil, "eof")):                                                        `{"type":"end","ts":"2026-03-01T10:00:00.005Z","project":"shop--fix-1","backend":"file","branch":"fix-1","reason":"eof"}`,
	} {
		if got != want+"\n" {
			t.Errorf("got  %swant %s", got, want)
		}
	}
}
