package mcp

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// A sample is a call of a tool, for the documentation, the transcripts and all tests that
// go over the table.
type sample struct {
	// args are its arguments, as JSON.
	args string
	// output is what the command writes then.
	output string
	// follows says that the command goes on after its output until it is stopped.
	follows bool
}

const (
	sampleStart = `{"type":"start","ts":"2026-03-01T10:00:00.000Z","project":"shop","backend":"compose","services":["web"],"follow":%v}` + "\n"
	sampleLogs  = `{"type":"log","ts":"2026-03-01T09:59:58.120Z","project":"shop","backend":"compose","entry":{"source":"compose","message":"listening on 3000","raw":"web-1  | listening on 3000","stream":"stdout","project":"shop","service":"web","instance":"1"}}` + "\n" +
		`{"type":"log","ts":"2026-03-01T09:59:59.004Z","project":"shop","backend":"compose","entry":{"source":"compose","message":"GET /","raw":"web-1  | {\"level\":30,\"msg\":\"GET /\",\"status\":200}","stream":"stdout","project":"shop","service":"web","instance":"1","level":"info","fields":{"status":"200"}}}` + "\n"
	sampleEnd       = `{"type":"end","ts":"2026-03-01T10:00:01.000Z","project":"shop","backend":"compose","reason":"eof"}` + "\n"
	sampleInventory = `{"generated_at":"2026-03-01T10:00:00.000Z","filter":null,"include_global":false,"include_unregistered":false,"runtime_ok":true,` +
		`"projects":[{"name":"shop","dev_host":"shop.localhost","repo_root":"/srv/shop","kind":"registered","status":"running",` +
		`"runtime":{"project":"shop","working_dir":"/srv/shop/.hack","services":[{"service":"web","containers":[{"id":"4f1c","state":"running","status":"Up 2 hours"}]}]},` +
		`"branch_runtime":[{"branch":"fix-1","runtime":{"project":"shop--fix-1","working_dir":"/srv/shop/.hack","services":[{"service":"web","containers":[{"id":"9a20","state":"exited","status":"Exited (1)"}]}]}}]}]}`
)

// samples has one call of each tool.
var samples = map[string]sample{
	SnapshotTool:           {`{"service":"web","tail":2}`, fmt.Sprintf(sampleStart, false) + sampleLogs + sampleEnd, false},
	TailTool:               {`{"service":"web","maxEvents":1}`, fmt.Sprintf(sampleStart, true) + sampleLogs, true},
	"hack.projects.list":   {`{"filter":"shop"}`, sampleInventory + "\n", false},
	"hack.project.status":  {`{"projectName":"shop","branch":"fix-1"}`, `{"project":"shop","branch":"fix-1","composeProject":"shop--fix-1","items":[{"Service":"web","State":"running","Health":"healthy"}]}` + "\n", false},
	"hack.project.up":      {`{"projectName":"shop","profiles":["dev"]}`, "web started\n", false},
	"hack.project.down":    {`{"projectName":"shop"}`, "web stopped\n", false},
	"hack.project.restart": {`{"projectName":"shop"}`, "web restarted\n", false},
	"hack.project.run":     {`{"projectName":"shop","service":"api","cmd":["pnpm","migrate","--force"],"timeoutMs":60000}`, "3 migrations applied\n", false},
	"hack.project.exec":    {`{"projectName":"shop","service":"db","cmd":["psql","-c","select 1"]}`, " ?column? \n----------\n        1\n", false},
	"hack.project.open":    {`{"projectName":"shop","target":"api"}`, `{"url":"https://api.shop.localhost"}` + "\n", false},
	"hack.project.init":    {`{"repoRoot":".","name":"shop","devHost":"shop.localhost"}`, "wrote .hack/docker-compose.yml\n", false},
	"hack.project.doctor":  {`{"projectName":"shop"}`, `{"ok":true,"data":{"checks":[{"id":"docker","status":"ok","detail":"running","durationMs":12}],"counts":{"ok":1,"warn":0,"error":0},"summary":[]}}` + "\n", false},
	"hack.project.env.explain": {`{"projectName":"shop","key":"DATABASE_URL","target":"compose"}`,
		`{"key":"DATABASE_URL","available":true,"secret":true,"format":"v2","environment":"base","requested_scope":null,"effective_scope":"global","target":"compose","delivered_to":["api"],"source":".hack/hack.env.json","precedence":["process",".hack/hack.env.json"],"value":"postgres://app:not-shown@db/app"}` + "\n", false},
	"hack.project.env.keys": {`{"projectName":"shop","env":"prod"}`,
		`{"project":"shop","env_selection":{"requested":"prod","effective":"prod"},"format":"v2","scopes":["global","api"],"selected_scope":"global","vars":[{"key":"DATABASE_URL","required":true,"source":".hack/hack.env.prod.json","services":["api"],"resolved_from":"global","storage":{"kind":"secret","ciphertext":"not-shown"},"value":"not-shown"}],"missing_required":["SMTP_URL"]}` + "\n", false},
	"hack.project.instances": {`{"projectName":"shop"}`, sampleInventory + "\n", false},
}

// sampleOutput is the stub of the kind sample: what it writes is that of the tool whose
// name it is told, and it ends when it is told to.
func sampleOutput(name string) int {
	s, ok := samples[name]
	if !ok {
		return 99
	}
	fmt.Print(s.output)
	if s.follows {
		time.Sleep(time.Minute)
	}
	return 0
}

// hack makes the session's command one that is called hack and is the stub, so that its
// path is the same in every run. The session's folder is the registered project shop.
func hack(t *testing.T) func(*server) {
	return func(s *server) {
		exe, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		s.project.Env = append(s.project.Env, "HACK_MCP_COMMAND=hack")
		s.start = func(c command) (child, *refusal) {
			c.path = exe
			return startChild(c)
		}
	}
}

// telling makes the stub of the kind sample that of one tool.
func telling(tool string) func(*server) {
	return func(s *server) { s.project.Env = append(s.project.Env, stubVariable+"=sample:"+tool) }
}

// sampled calls a tool as its sample has it, and returns the frames that went and came.
func sampled(t *testing.T, tool string) (sent, got string, r result) {
	t.Helper()
	s := start(t, "sample", hack(t), telling(tool))
	s.register()
	sent = callLine("1", tool, samples[tool].args)
	s.send(sent)
	r = s.result("1")
	return sent, s.normal(string(s.reply("1").raw)), r
}

func callLine(id, tool, args string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"%s","arguments":%s}}`, id, tool, args)
}

// normal replaces what differs from run to run: the folder of the session, and durations.
func (s *session) normal(text string) string {
	text = strings.ReplaceAll(text, s.dir, "/srv/shop")
	return durationRE.ReplaceAllString(text, `${1}0`)
}

// TestSamples_EachTool: no tool can be added without a sample, and so without a
// transcript, an example in the documentation and a place in the tests over the table.
func TestSamples_EachTool(t *testing.T) {
	var names []string
	for _, tool := range tools() {
		names = append(names, tool.name)
		if _, ok := samples[tool.name]; !ok {
			t.Errorf("%s has no sample", tool.name)
		}
	}
	for name := range samples {
		if !slices.Contains(names, name) {
			t.Errorf("a sample of %s, which is no tool", name)
		}
	}
}
