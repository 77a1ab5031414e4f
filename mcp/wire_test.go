package mcp

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/tailrace/tailrace/internal/project"
)

var durationRE = regexp.MustCompile(`(\\?"duration_ms\\?":)\d+`)

// A transcript is what went over the wire: requests behind ">", replies behind "<", each
// as it was but for what differs from run to run, and for lines of more than 16 KiB: of
// those there are the ends, the length and the hash.
type transcript struct {
	t    *testing.T
	s    *session
	text strings.Builder
	n    int
}

const maxTranscriptLine = 16 << 10

func (w *transcript) write(direction, line string) {
	line = strings.TrimSuffix(line, "\n")
	if len(line) > maxTranscriptLine {
		// A long line has nothing in it that differs.
		line = fmt.Sprintf("%s ... (%d bytes, SHA-256 %x) ... %s", line[:80], len(line), sha256.Sum256([]byte(line)), line[len(line)-400:])
	} else if w.s != nil {
		line = w.s.normal(line)
	}
	fmt.Fprintf(&w.text, "%s %s\n", direction, line)
}

// note names the case that follows.
func (w *transcript) note(text string) { fmt.Fprintf(&w.text, "\n# %s\n", text) }

// exchange sends a line and waits for the reply to id.
func (w *transcript) exchange(id, line string) {
	w.t.Helper()
	w.s.send(line)
	reply := w.s.reply(id)
	w.s.forget()
	w.write(">", line)
	w.write("<", string(reply.raw))
}

// call makes a call with an id of its own.
func (w *transcript) call(tool, args string) {
	w.t.Helper()
	w.n++
	id := fmt.Sprint(w.n)
	w.exchange(id, callLine(id, tool, args))
}

// on goes on with another server.
func (w *transcript) on(s *session) { w.s = s }

// golden compares the transcript with the file of its name. -update writes it.
func (w *transcript) golden(name string) {
	w.t.Helper()
	path := filepath.Join("testdata", "wire", name+".txt")
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			w.t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(w.text.String()), 0o644); err != nil {
			w.t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		w.t.Fatal(err)
	}
	if got := w.text.String(); got != string(want) {
		at := 0
		for at < len(got) && at < len(want) && got[at] == want[at] {
			at++
		}
		w.t.Errorf("%s: what goes over the wire has changed at byte %d: run go test ./mcp -run Wire -update, and read the difference\n got %.300q\nwant %.300q", path, at, got[at:], want[at:])
	}
}

// TestWire_Tools has one call of each tool.
func TestWire_Tools(t *testing.T) {
	for name := range samples {
		t.Run(name, func(t *testing.T) {
			sent, got, _ := sampled(t, name)
			w := &transcript{t: t}
			w.write(">", sent)
			w.write("<", got)
			w.golden(name)
		})
	}
}

// TestWire_Session has what is no call: the handshake, the prompt, a ping. The list of
// tools is in tools.json.
func TestWire_Session(t *testing.T) {
	w := &transcript{t: t, s: open(t, "sample", hack(t))}
	w.note("the handshake")
	w.exchange(`"a"`, `{"jsonrpc":"2.0","id":"a","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`)
	const initialized = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
	w.s.send(initialized)
	w.write(">", initialized)
	w.note("an id is returned as it was written")
	w.exchange(`"\u0061\/"`, `{"jsonrpc":"2.0","id":"\u0061\/","method":"ping"}`)
	w.exchange(`1e0`, `{"jsonrpc":"2.0","id":1e0,"method":"ping"}`)
	w.note("the prompt")
	w.exchange("2", `{"jsonrpc":"2.0","id":2,"method":"prompts/list"}`)
	w.exchange("3", `{"jsonrpc":"2.0","id":3,"method":"prompts/get","params":{"name":"hack-init","arguments":{"mode":"new-project","projectName":"shop","devHost":"shop.localhost"}}}`)
	w.note("the prompt with an inventory")
	repository(t, w.s.dir, map[string]string{
		"shop/pnpm-lock.yaml": "", "shop/.env": "API_KEY=not-shown\n",
		"shop/compose.yml": "services:\n  web:\n    image: node:22\n    ports: ['3000:3000']\n    environment: [TOKEN=not-shown]\n",
	})
	w.exchange("4", `{"jsonrpc":"2.0","id":4,"method":"prompts/get","params":{"name":"hack-init","arguments":{"repoRoot":"shop"}}}`)
	w.golden("session")
}

// TestWire_ProtocolErrors has each kind of error that is no result.
func TestWire_ProtocolErrors(t *testing.T) {
	w := &transcript{t: t, s: start(t, "polite", hack(t))}
	for _, c := range []struct{ note, id, line string }{
		{"no JSON", "null", `secret`},
		{"no object", "null", `"secret"`},
		{"a batch", "null", `[{"jsonrpc":"2.0","id":1,"method":"ping"}]`},
		{"another version of JSON-RPC", "1", `{"jsonrpc":"1.0","id":1,"method":"ping"}`},
		{"no method", "1", `{"jsonrpc":"2.0","id":1}`},
		{"an id that is none", "null", `{"jsonrpc":"2.0","id":{},"method":"ping"}`},
		{"an unknown method", "1", `{"jsonrpc":"2.0","id":1,"method":"secret"}`},
		{"an unknown tool", "1", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"secret"}}`},
		{"params that do not fit", "1", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":["secret"]}`},
		{"params that are too long", "1", `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"` + strings.Repeat("y", maxParams) + `"}}`},
		{"a line that is too long", "null", strings.Repeat("y", maxLine+1)},
		{"nested too deep", "null", `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":` + strings.Repeat("[", 512) + strings.Repeat("]", 512) + `}}`},
		{"a later version of the protocol", "1", `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`},
		{"a second handshake", "1", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"secret","version":"1"}}}`},
		{"an unknown prompt", "1", `{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"secret"}}`},
		{"a folder that the prompt may not read", "1", `{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"hack-init","arguments":{"repoRoot":"/"}}}`},
		{"a folder that is not there", "1", `{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"hack-init","arguments":{"repoRoot":"secret"}}}`},
		{"a file in the place of a folder", "1", `{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"hack-init","arguments":{"repoRoot":"tailrace.yaml"}}}`},
		{"a hint that does not fit", "1", `{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"hack-init","arguments":{"devHost":"a secret"}}}`},
	} {
		w.note(c.note)
		w.exchange(c.id, c.line)
	}
	w.note("an id that is in use")
	w.s.send(callLine("1", TailTool, `{"maxMs":60000}`))
	w.exchange("null", `{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	w.s.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	w.golden("errors")
}

// running waits until n commands are running.
func (s *session) running(n int) {
	s.t.Helper()
	until := time.Now().Add(deadline)
	for {
		s.server.children.mu.Lock()
		live := len(s.server.children.live)
		s.server.children.mu.Unlock()
		if live == n {
			return
		}
		if time.Now().After(until) {
			s.t.Fatalf("%d commands are running, not %d", live, n)
		}
		time.Sleep(time.Millisecond)
	}
}

// refusing makes every start fail for one reason.
func refusing(reason string) func(*server) {
	return func(s *server) {
		s.start = func(command) (child, *refusal) { return nil, refusedSpawn(reason) }
	}
}

// TestWire_Refusals has a result of each reason for which nothing is started.
func TestWire_Refusals(t *testing.T) {
	w := &transcript{t: t, s: start(t, "argv", hack(t))}
	w.s.register()
	two := project.Project{Name: "twice", Root: t.TempDir(), DirName: "."}
	two.Dir = two.Root
	if err := w.s.server.project.Register(two); err != nil {
		t.Fatal(err)
	}
	registry := w.s.server.project.RegistryPath
	text, err := os.ReadFile(registry)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ note, tool, args string }{
		{"an argument that does not fit", SnapshotTool, `{"tail":0}`},
		{"an argument that is not known", "hack.project.status", `{"secret":1}`},
		{"an argument that is missing", "hack.project.exec", `{"service":"web"}`},
		{"two selectors", "hack.project.status", `{"projectName":"shop","path":"."}`},
		{"a name that is none", "hack.project.status", `{"projectName":"!"}`},
		{"an unknown project", "hack.project.up", `{"projectName":"secret"}`},
		{"a path that is none", "hack.project.status", `{"path":""}`},
		{"a path that is not there", "hack.project.status", `{"path":"secret"}`},
		{"a path outside of all projects", "hack.project.status", `{"path":"/"}`},
		{"nothing to set up", "hack.project.init", `{}`},
	} {
		w.note(c.note)
		w.call(c.tool, c.args)
	}
	w.note("a name of two projects")
	if err := os.WriteFile(registry, []byte(strings.Replace(string(text), `"twice"`, `"Shop"`, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	w.call("hack.project.status", `{"projectName":"shop"}`)
	w.note("no project in the working directory")
	if err := os.Remove(filepath.Join(w.s.dir, "tailrace.yaml")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(registry, []byte(`{"version":1,"projects":[]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	w.call("hack.project.status", `{}`)

	for _, reason := range []string{"command_not_found", "command_is_directory", "command_not_executable", "command_bad_interpreter", "command_bad_format", "bad_working_directory", "bad_argument", "spawn_failed"} {
		w.on(start(t, "argv", hack(t), refusing(reason)))
		w.note(reason)
		w.call("hack.project.status", `{}`)
	}
	w.on(start(t, "still", hack(t), func(s *server) {
		shared, err := NewShared(SharedOptions{MaxCommands: 1, NoAudit: true})
		if err != nil {
			t.Error(err)
			return
		}
		s.shared = shared
	}))
	w.note("too many commands at once")
	w.s.send(callLine("0", "hack.project.status", `{}`))
	w.s.running(1)
	w.call("hack.project.status", `{}`)
	w.on(start(t, "argv", hack(t), func(s *server) { s.start = func(command) (child, *refusal) { panic("secret") } }))
	w.note("a fault inside the server")
	w.call("hack.project.status", `{}`)
	w.golden("refusals")
}

// TestWire_Failures has each way in which a command ends that is no success, and each
// bound that is one.
func TestWire_Failures(t *testing.T) {
	w := &transcript{t: t}
	for _, c := range []struct{ note, stub, tool, args string }{
		{"a log backend that failed", "fail", SnapshotTool, `{}`},
		{"a command that failed", "fail", "hack.project.status", `{}`},
		{"a command that failed, with its output withheld", "fail", "hack.project.env.keys", `{}`},
		{"the time of a command was over", "still", "hack.project.exec", `{"service":"web","cmd":["sleep"],"timeoutMs":200}`},
		{"the output of a command passed the bound", "flood:1000", "hack.project.run", `{"service":"web"}`},
		{"the output of a log backend passed the bound", "flood:1000", SnapshotTool, `{}`},
		{"the time of a tail was over", "still", TailTool, `{"maxMs":200}`},
	} {
		w.on(start(t, c.stub, hack(t)))
		w.note(c.note)
		w.call(c.tool, c.args)
	}
	w.golden("failures")
}

// TestWire_EachReason: each reason that the code knows is in a transcript.
func TestWire_EachReason(t *testing.T) {
	var wire strings.Builder
	for _, name := range []string{"errors", "refusals", "failures"} {
		text, err := os.ReadFile(filepath.Join("testdata", "wire", name+".txt"))
		if err != nil {
			t.Fatal(err)
		}
		wire.Write(text)
	}
	for _, reason := range knownReasons(t) {
		// Whoever runs the tests as root can read every path.
		if reason != project.ReasonUnreadable && !strings.Contains(wire.String(), `"reason":"`+reason+`"`) {
			t.Errorf("no transcript has the reason %s", reason)
		}
	}
}

// knownReasons are the reasons of errors, read from where the code names them.
func knownReasons(t *testing.T) []string {
	t.Helper()
	var reasons []string
	for _, c := range []struct{ file, pattern string }{
		{"../internal/project/errors.go", `Reason\w+ += "(\w+)"`},
		{"refusal.go", `(?:refusal\{\w+, |: +\{\w+, )"(\w+)"`},
		{"capture.go", `Reason: "(\w+)"`},
		{"../stages/payload_of.go", `Reason\w+ += "(\w+)"`},
		{"refusal.go", `reasonBusy += "(\w+)"`},
	} {
		text, err := os.ReadFile(c.file)
		if err != nil {
			t.Fatal(err)
		}
		found := regexp.MustCompile(c.pattern).FindAllSubmatch(text, -1)
		if len(found) == 0 {
			t.Errorf("%s names no reason", c.file)
		}
		for _, m := range found {
			reasons = append(reasons, string(m[1]))
		}
	}
	return reasons
}
