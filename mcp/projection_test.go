package mcp

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tailrace/tailrace/internal/project"
)

// values are texts that values of variables are made of.
var values = []string{
	"postgres://app:hunter2@db:5432/app",
	"https://hooks.example.test/T000/hunter2",
	"user@hunter2",
	"KEY=hunter2",
	"hunter2!",
	"hunter2+/==",
	"-----BEGIN hunter2",
	"hunter2\n",
	"hunter2\x00",
	"{hunter2}",
	"höhunter2",
	strings.Repeat("hunter2", 40),
}

// What has not the form of its field is null, whatever field it stands in.
func TestS6_Forms(t *testing.T) {
	for _, v := range values {
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		x := string(text)
		explain := encode(projectExplain(json.RawMessage(strings.ReplaceAll(
			`{"key":V,"available":V,"secret":V,"format":V,"environment":V,"requested_scope":V,"effective_scope":V,"target":V,"delivered_to":[V],"source":V,"precedence":[V,V]}`, "V", x))))
		keys := encode(projectKeys(json.RawMessage(strings.ReplaceAll(
			`{"format":V,"environment":V,"selected_scope":V,"scopes":[V],"missing_required":[V],"vars":[{"key":V},{"key":"OK","secret":V,"required":V,"source":V,"resolved_from":V,"services":[V],"storage":{"kind":V}}]}`, "V", x))))
		for _, got := range []json.RawMessage{explain, keys} {
			if strings.Contains(string(got), "hunter2") {
				t.Errorf("S6: %q is in %s", v, got)
			}
		}
		if want := `{"format":null,"environment":null,"selected_scope":null,"scopes":[],"keys":[{"key":"OK","secret":false,"required":null,"source":null,"resolved_from":null,"services":[]}],"missing_required":[]}`; string(keys) != want {
			t.Errorf("S6: got %s\nwant %s", keys, want)
		}
	}
}

// What has the form is there as it was, and nothing that is not known.
func TestS6_Projections(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"places", `{"key":"a.b-c","source":"config/.env (base)","precedence":["process: env",".hack/hack.env.json","~/.hack"],"delivered_to":["web","global"],"target":"compose"}`,
			`{"key":"a.b-c","available":null,"secret":null,"format":null,"environment":null,"requested_scope":null,"effective_scope":null,"target":"compose","delivered_to":["web","global"],"source":"config/.env (base)","precedence":["process: env",".hack/hack.env.json","~/.hack"]}`},
		{"envelope", `{"ok":true,"data":{"key":"A","value":"v"}}`,
			`{"key":"A","available":null,"secret":null,"format":null,"environment":null,"requested_scope":null,"effective_scope":null,"target":null,"delivered_to":null,"source":null,"precedence":null}`},
		{"an error has no data", `{"ok":false,"error":{"code":"E_ENV_KEY_MISSING","message":"v"}}`, `null`},
		{"array", `[]`, `null`},
		{"null", `null`, `null`},
		{"text", `"A"`, `null`},
		{"nothing", ``, `null`},
	} {
		if got := encode(projectExplain(object([]byte(c.text)))); string(got) != c.want {
			t.Errorf("%s: got %s\nwant %s", c.name, got, c.want)
		}
	}
	for _, c := range []struct{ name, text, want string }{
		{"lists that are not there", `{}`, `{"format":null,"environment":null,"selected_scope":null,"scopes":null,"keys":[],"missing_required":[]}`},
		{"secrets in each spelling", `{"vars":[{"key":"A","secret":true},{"key":"B","storage":{"kind":"secret"}},{"key":"C","source":"keychain"},{"key":"D","secret":false,"storage":{"kind":"plaintext"}}]}`,
			`{"format":null,"environment":null,"selected_scope":null,"scopes":null,"keys":[` +
				`{"key":"A","secret":true,"required":null,"source":null,"resolved_from":null,"services":null},{"key":"B","secret":true,"required":null,"source":null,"resolved_from":null,"services":null},` +
				`{"key":"C","secret":true,"required":null,"source":"keychain","resolved_from":null,"services":null},{"key":"D","secret":false,"required":null,"source":null,"resolved_from":null,"services":null}],"missing_required":[]}`},
		{"an error has no data", `{"ok":false,"error":{}}`, `null`},
	} {
		if got := encode(projectKeys(object([]byte(c.text)))); string(got) != c.want {
			t.Errorf("%s: got %s\nwant %s", c.name, got, c.want)
		}
	}
}

// The inventory has no variables: names and folders are as the system has them.
func TestInstances_NamesAsTheyAre(t *testing.T) {
	const text = `{"projects":[{"name":"Läden (alt)","runtime":{"project":"laden","working_dir":"/home/jörg/Läden, alt","services":[{"service":"web","containers":[{"state":"running"}]}]}},{"name":"laden"}]}`
	got := encode(projectInstances(json.RawMessage(text), "läden_alt"))
	want := `{"project":"läden_alt","found":true,"runtime_ok":null,"instances":[{"branch":null,"compose_project":"laden","working_dir":"/home/jörg/Läden, alt","services":[{"service":"web","containers":1,"running":1}]}]}`
	if string(got) != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

// The check of a project is told its folder: the command has no --project.
func TestS5_DoctorByName(t *testing.T) {
	s := start(t, "argv")
	s.register()
	r := s.call("1", "hack.project.doctor", `{"projectName":"SHOP","branch":"b"}`)
	var e struct{ Argv []string }
	if err := json.Unmarshal([]byte(*r.Structured.Stdout), &e); err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Join(e.Argv, "|"), "doctor|--path|"+filepath.Clean(s.dir)+"|--branch|b|--json"; got != want {
		t.Errorf("S5: got %s, want %s", got, want)
	}
	s.call("2", "hack.project.doctor", `{"projectName":"other"}`).refused(t, "E_PROJECT_NOT_FOUND", "unknown_project")
}

// What a call is told to do next is something that it can do.
func TestO12_TextsFitTheTool(t *testing.T) {
	for _, tool := range tools() {
		if tool.data.isLog() {
			continue
		}
		t.Run(tool.name, func(t *testing.T) {
			args := sampleArgs(t, tool)
			session := start(t, "fail")
			session.register()
			failed := session.call("1", tool.name, args).Structured
			if failed.Error == nil || failed.Error.Reason != "command_failed" {
				t.Fatalf("O12: %+v", failed.Error)
			}
			if tool.data.withholds() == strings.Contains(failed.Error.Message, "read stderr") || tool.data.withholds() == strings.Contains(*failed.Stderr, "diagnostics") {
				t.Errorf("O12: %s beside stderr %q", failed.Error.Message, *failed.Stderr)
			}
		})
	}
	for name, want := range map[string]bool{"hack.project.exec": true, "hack.project.status": false} {
		s := start(t, "polite", func(s *server) {
			for _, t := range s.tools {
				t.timeout = 300e6
			}
		})
		args := `{}`
		if want {
			args = `{"service":"web","cmd":["x"],"timeoutMs":300}`
		}
		e := s.call("1", name, args).Structured.Error
		if e == nil || e.Reason != "timeout" || strings.Contains(e.Message, "timeoutMs") != want {
			t.Errorf("O12: %s: %+v", name, e)
		}
	}
}

// register registers the project of the session.
func (s *session) register() {
	s.t.Helper()
	if err := s.server.project.Register(project.Project{Name: "shop", Root: s.dir, Dir: s.dir, DirName: "."}); err != nil {
		s.t.Fatal(err)
	}
}

// sampleArgs are arguments that a tool takes: what is required, and a project where none
// would be found otherwise.
func sampleArgs(t *testing.T, tool *tool) string {
	t.Helper()
	args := map[string]any{}
	for _, f := range tool.fields {
		switch {
		case tool.anchor && f.name == "repoRoot":
			args[f.name] = "."
		case !f.required:
		case f.kind == kindWords:
			args[f.name] = []string{"env"}
		case f.kind == kindKey:
			args[f.name] = "API_KEY"
		case f.kind == kindName:
			args[f.name] = "web"
		default:
			t.Fatal(fmt.Sprintf("%s: no sample of %s", tool.name, f.name))
		}
	}
	text, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
