package mcp

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tailrace/tailrace/internal/project"
	"github.com/tailrace/tailrace/pipeline"
)

// TestS5_ToolArgv has the command line of each tool.
func TestS5_ToolArgv(t *testing.T) {
	s := start(t, "argv")
	dir := s.dir
	if err := s.server.project.Register(project.Project{Name: "shop", Root: dir, Dir: dir, DirName: "."}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		tool, args string
		want       []string
	}{
		{"hack.projects.list", `{}`, []string{"projects", "--json"}},
		{"hack.projects.list", `{"filter":"a b","includeGlobal":true,"includeUnregistered":true}`, []string{"projects", "--json", "--project", "a b", "--include-global", "--all"}},
		{"hack.projects.list", `{"filter":"--all"}`, []string{"projects", "--json", "--project=--all"}},
		{"hack.project.status", `{"projectName":"shop","branch":"b","profiles":["p","q"]}`, []string{"ps", "--project", "shop", "--branch", "b", "--profile", "p,q", "--json"}},
		{"hack.project.up", `{}`, []string{"up", "--detach"}},
		{"hack.project.down", `{"branch":"b"}`, []string{"down", "--branch", "b"}},
		{"hack.project.restart", `{"profiles":"p"}`, []string{"restart", "--profile", "p"}},
		{"hack.project.run", `{"service":"web"}`, []string{"run", "web"}},
		{"hack.project.run", `{"service":"web","cmd":["ls","-la","--","$(id)",""],"workdir":"-w"}`, []string{"run", "--workdir=-w", "web", "--", "ls", "-la", "--", "$(id)", ""}},
		{"hack.project.exec", `{"service":"web","cmd":["--version"]}`, []string{"exec", "web", "--", "--version"}},
		{"hack.project.open", `{"target":"web"}`, []string{"open", "--json", "web"}},
		{"hack.project.init", `{"path":".","name":"-n","devHost":"x.test","oauth":true,"oauthTld":"dev","manual":true,"noDiscovery":true}`,
			[]string{"init", "--path", dir, "--auto", "--name=-n", "--dev-host", "x.test", "--oauth", "--oauth-tld", "dev", "--manual", "--no-discovery"}},
		{"hack.project.doctor", `{"path":"."}`, []string{"doctor", "--path", dir, "--json"}},
		{"hack.project.instances", `{"projectName":"Shop"}`, []string{"projects", "--json", "--project", "shop"}},
		{"hack.project.instances", `{}`, []string{"projects", "--json", "--project", "shop"}},
	} {
		r := s.call("1", c.tool, c.args)
		var e struct{ Argv []string }
		if err := json.Unmarshal([]byte(*r.Structured.Stdout), &e); err != nil {
			t.Fatalf("%s: %v: %s", c.tool, err, r.raw)
		}
		if !slices.Equal(e.Argv, c.want) {
			t.Errorf("S5: %s %s\n got %q\nwant %q", c.tool, c.args, e.Argv, c.want)
		}
		s.forget()
	}
	// The env tools withhold what the stub says: their command line is in the result.
	for _, c := range []struct{ tool, args, want string }{
		{"hack.project.env.explain", `{"key":"API_KEY","env":"prod","service":"web","target":"compose"}`, " env explain --env prod --service web --target compose --json API_KEY"},
		{"hack.project.env.keys", `{"service":"global"}`, " env list --service global --json"},
	} {
		r := s.call("1", c.tool, c.args)
		if !strings.HasSuffix(*r.Structured.Command, c.want) || *r.Structured.Stdout != "" {
			t.Errorf("S5 S6: %s: %s", c.tool, r.raw)
		}
		s.forget()
	}
}

func TestO11_ToolArguments(t *testing.T) {
	s := start(t, "argv")
	for _, c := range []struct{ tool, args, reason string }{
		{"hack.project.run", `{}`, "invalid_arguments"},
		{"hack.project.run", `{"service":"-x"}`, "invalid_arguments"},
		{"hack.project.exec", `{"service":"web"}`, "invalid_arguments"},
		{"hack.project.exec", `{"service":"web","cmd":[]}`, "invalid_arguments"},
		{"hack.project.exec", `{"service":"web","cmd":"ls"}`, "invalid_arguments"},
		{"hack.project.exec", `{"service":"web","cmd":["a\u0000"]}`, "invalid_arguments"},
		{"hack.project.exec", `{"service":"web","cmd":["ls"],"timeoutMs":600001}`, "invalid_arguments"},
		{"hack.project.init", `{}`, "invalid_arguments"},
		{"hack.project.init", `{"projectName":"x"}`, "invalid_arguments"},
		{"hack.project.init", `{"projectName":"x","path":"."}`, "conflicting_selectors"},
		{"hack.project.init", `{"path":"/nonexistent"}`, "path_not_found"},
		{"hack.project.env.explain", `{}`, "invalid_arguments"},
		{"hack.project.env.explain", `{"key":"1X"}`, "invalid_arguments"},
		{"hack.project.env.explain", `{"key":"X","target":"both"}`, "invalid_arguments"},
		{"hack.project.instances", `{"projectName":"nope"}`, "unknown_project"},
		{"hack.projects.list", `{"projectName":"x"}`, "invalid_arguments"},
	} {
		r := s.call("1", c.tool, c.args)
		if e := r.Structured.Error; e == nil || e.Reason != c.reason || r.Structured.Spawned == nil || *r.Structured.Spawned {
			t.Errorf("O11: %s %s: %s", c.tool, c.args, r.raw)
		}
		s.forget()
	}
}

// text gives the stub of the kind print what it prints.
func text(v string) func(*server) {
	return func(s *server) { s.project.Env = append(s.project.Env, stubVariable+"_TEXT="+v) }
}

func TestO12_Data(t *testing.T) {
	const inventory = `{"runtime_ok":true,"projects":[{"name":"other"},{"name":"shop","runtime":{"project":"shop","working_dir":"/srv/shop","services":[{"service":"web","containers":[{"state":"running"},{"state":"exited"}]}]},"branch_runtime":[{"branch":"fix-1","runtime":{"project":"shop--fix-1","services":[]}}]}]}`
	for _, c := range []struct{ name, tool, args, text, want string }{
		{"object", "hack.project.status", `{}`, "{\n  \"project\": \"shop\",\n  \"n\": 1.0\n}\n", `{"project":"shop","n":1.0}`},
		{"no object", "hack.project.status", `{}`, "plain", `null`},
		{"array", "hack.projects.list", `{}`, "[1]", `null`},
		{"envelope", "hack.project.doctor", `{}`, `{"ok":true,"data":{"checks":[]}}`, `{"ok":true,"data":{"checks":[]}}`},
		{"run", "hack.project.run", `{"service":"web","timeoutMs":5000}`, "x", `{"limits":{"timeoutMs":5000}}`},
		{"exec", "hack.project.exec", `{"service":"web","cmd":["x"]}`, "x", `{"limits":{"outputBytes":8388608,"timeoutMs":120000}}`},
		{"up", "hack.project.up", `{}`, "{}", ``},
		{"instances", "hack.project.instances", `{"projectName":"shop"}`, inventory,
			`{"project":"shop","found":true,"runtime_ok":true,"instances":[{"branch":null,"compose_project":"shop","working_dir":"/srv/shop","services":[{"service":"web","containers":2,"running":1}]},{"branch":"fix-1","compose_project":"shop--fix-1","working_dir":null,"services":[]}]}`},
		{"not found", "hack.project.instances", `{"projectName":"shop"}`, `{"projects":[]}`, `{"project":"shop","found":false,"runtime_ok":null,"instances":[]}`},
		{"explain", "hack.project.env.explain", `{"key":"API_KEY"}`, `{"key":"API_KEY","available":true,"secret":true,"format":"v2","environment":"base","requested_scope":null,"effective_scope":"global","target":"host","delivered_to":["web"],"source":".env","precedence":["a","b"],"value":"hunter2"}`,
			`{"key":"API_KEY","available":true,"secret":true,"format":"v2","environment":"base","requested_scope":null,"effective_scope":"global","target":"host","delivered_to":["web"],"source":".env","precedence":["a","b"]}`},
		{"keys", "hack.project.env.keys", `{}`, `{"env_selection":{"effective":"prod"},"scopes":["global"],"vars":[{"key":"A","required":true,"source":"file","storage":{"kind":"secret","ciphertext":"x"},"value":"hunter2","services":null}],"missing_required":["B"]}`,
			`{"format":null,"environment":"prod","selected_scope":null,"scopes":["global"],"keys":[{"key":"A","secret":true,"required":true,"source":"file","resolved_from":null,"services":null}],"missing_required":["B"]}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := start(t, "print", text(c.text))
			if err := s.server.project.Register(project.Project{Name: "shop", Root: s.dir, Dir: s.dir, DirName: "."}); err != nil {
				t.Fatal(err)
			}
			r := s.call("1", c.tool, c.args)
			var got struct {
				StructuredContent struct{ Data json.RawMessage }
			}
			if err := json.Unmarshal(r.raw, &got); err != nil {
				t.Fatal(err)
			}
			if string(got.StructuredContent.Data) != c.want || !*r.Structured.OK {
				t.Errorf("O12: data is %s\nwant %s\nin %s", got.StructuredContent.Data, c.want, r.raw)
			}
		})
	}
}

// TestS6_Canaries plants secrets in every field and stream of what the env commands say.
func TestS6_Canaries(t *testing.T) {
	const canary = `hunter2!{"$ecret"}`
	c, _ := json.Marshal(canary)
	fields := []string{"value", "ciphertext", "raw", "default", "key", "source", "format", "environment", "selected_scope", "requested_scope", "effective_scope", "target", "note"}
	var all []string
	for _, f := range fields {
		all = append(all, fmt.Sprintf(`"%s":%s`, f, c))
	}
	one := "{" + strings.Join(all, ",") + `,"delivered_to":[` + string(c) + `],"precedence":[` + string(c) + `],"services":[` + string(c) + `],"storage":{"kind":` + string(c) + `}}`
	object := one[:len(one)-1] + `,"scopes":[` + string(c) + `],"missing_required":[` + string(c) + `],"vars":[` + one + `,{"key":"OK","value":` + string(c) + `,"extra":` + one + `}],"env_selection":{"effective":` + string(c) + `}}`
	for _, tool := range []string{"hack.project.env.keys", "hack.project.env.explain"} {
		for _, code := range []int{0, 3} {
			for _, text_ := range []string{object, canary, `{"ok":false,"error":{"message":` + string(c) + `}}`, `{"ok":true,"data":` + object + `}`} {
				s := start(t, fmt.Sprintf("print:%d", code), text(text_))
				r := s.call("1", tool, map[bool]string{true: `{"key":"OK"}`, false: `{}`}[strings.HasSuffix(tool, "explain")])
				for _, leak := range []string{"hunter2", "$ecret"} {
					if strings.Contains(string(r.raw), leak) || strings.Contains(s.log.String(), leak) {
						t.Errorf("S6: %s, exit %d: %s", tool, code, r.raw)
					}
				}
				if *r.Structured.OK != (code == 0) || *r.Structured.Stdout != "" {
					t.Errorf("O12: %s", r.raw)
				}
			}
		}
	}
}

func TestO12_FailureTimeoutAndCutAreToldApart(t *testing.T) {
	for _, c := range []struct {
		stub, args, reason string
		truncated          bool
	}{
		{"fail", `{"service":"web"}`, "command_failed", false},
		{"hang", `{"service":"web","timeoutMs":300}`, "timeout", false},
		{"flood:9", `{"service":"web"}`, "output_limit", true},
	} {
		t.Run(c.reason, func(t *testing.T) {
			s := start(t, c.stub)
			r := s.call("1", "hack.project.run", c.args)
			if e := r.Structured.Error; *r.Structured.OK || e == nil || e.Reason != c.reason || (r.Structured.OutputTruncated != nil) != c.truncated {
				t.Errorf("O12: %.600s", r.raw)
			}
			if c.truncated && len(*r.Structured.Stdout) > pipeline.CaptureLimit {
				t.Errorf("C1: %d bytes", len(*r.Structured.Stdout))
			}
			if (len(r.Structured.Data) == 0) != c.truncated {
				t.Errorf("O12: data %.600s", r.Structured.Data)
			}
			if len(r.raw) > pipeline.ResultLimit {
				t.Errorf("B2: %d bytes", len(r.raw))
			}
			s.ping("2")
		})
	}
}

// An error event in the output of a command that is no log collection is no evidence.
func TestO12_ErrorEventsAreOutput(t *testing.T) {
	s := start(t, "print", text(`{"type":"error"}`))
	if r := s.call("1", "hack.project.status", `{}`); !*r.Structured.OK {
		t.Errorf("O12: %s", r.raw)
	}
}

// TestToolsWithoutABackend: where the program itself is the command, it serves all tools.
func TestToolsWithoutABackend(t *testing.T) {
	srv, _, err := newServer(t.Context(), Options{Cwd: t.TempDir(), Env: []string{"PATH=", "HOME=" + t.TempDir()}, Stdin: strings.NewReader(""), Stdout: &strings.Builder{}})
	if err != nil {
		t.Fatal(err)
	}
	if path, _, err := srv.project.Command(); err != nil || path != srv.project.Executable {
		t.Error("the command is not the program itself")
	}
	if len(srv.tools) != len(ToolNames()) {
		t.Errorf("%d tools: %s", len(srv.tools), srv.known)
	}
}
