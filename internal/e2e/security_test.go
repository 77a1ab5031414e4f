package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode"

	"golang.org/x/sys/unix"
)

// hostileText holds what a terminal acts on or does not show: escape sequences, C1
// controls, bare controls, direction marks, tags, characters without a width, bytes that
// are not UTF-8.
const hostileText = "a\x1b[2Jb\x1b]0;t\x07c\u009b1md\re\bf\x7fg\u202eh\u2066i\U000e0041j\u200bk\ufeffl\xffm\x1b]52;c;eA==\x1b\\n"

const shownText = `a\x1b[2Jb\x1b]0;t\x07c\x9b1md\x0de\x08f\x7fg\u202eh\u2066i\U000e0041j\u200bk\ufeffl\xffm\x1b]52;c;eA==\x1b\n`

// terminal runs the program with stdout and stderr on a pseudo-terminal, and returns what
// came there.
func terminal(t *testing.T, dir string, env []string, args ...string) string {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer master.Close()
	fd := int(master.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	tty, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(binary, args...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = dir, env, tty, tty
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(time.Minute, func() { cmd.Process.Kill() })
	defer timer.Stop()
	tty.Close()
	screen, _ := io.ReadAll(master) // It ends with EIO.
	cmd.Wait()
	return strings.ReplaceAll(string(screen), "\r\n", "\n")
}

// logProject is a project with one log file, and what its server's environment is.
func logProject(t *testing.T, log string) (dir string, env []string) {
	t.Helper()
	dir = t.TempDir()
	write(t, filepath.Join(dir, "tailrace.yaml"), "version: 1\nsources:\n  web: {file: web.log}\n", 0o600)
	write(t, filepath.Join(dir, "web.log"), log, 0o600)
	return dir, environment(t, newMarker())
}

// ownColours are what the names of sources are shown in, with their end. The log of the test
// holds none of them.
var ownColours = regexp.MustCompile("\x1b\\[(2|3[0-7])m[a-z|]+\x1b\\[0m")

// What a log holds acts on no terminal, by no command and in no format, and is there as
// it was where there is none.
func TestSecurity_TerminalEscapes(t *testing.T) {
	dir, env := logProject(t, hostileText+"\n")
	for _, args := range [][]string{
		{"logs", "--no-follow"},
		{"logs", "--no-follow", "--json"},
		{"run", "--", "cat", "web.log"},
		{"run", "--", "sh", "-c", "cat web.log >&2"},
	} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			screen := terminal(t, dir, env, args...)
			// The program's own erasing of its progress and its colours are all that may act.
			screen = strings.ReplaceAll(screen, "\r\x1b[K", "")
			screen = ownColours.ReplaceAllString(screen, "")
			for _, r := range screen {
				if r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) {
					t.Errorf("%U is on the terminal: %q", r, screen)
					break
				}
			}
			if args[len(args)-1] != "--json" && !strings.Contains(screen, shownText) {
				t.Errorf("not shown: %q", screen)
			}
		})
	}
	piped := func(args ...string) []byte {
		cmd := exec.Command(binary, args...)
		cmd.Dir, cmd.Env = dir, env
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	for _, args := range [][]string{{"logs", "--no-follow"}, {"run", "--", "cat", "web.log"}} {
		if out := piped(args...); string(out) != hostileText+"\n" {
			t.Errorf("%v in a pipe: %q", args, out)
		}
	}
	found := false
	for _, line := range bytes.Split(piped("logs", "--no-follow", "--json"), []byte("\n")) {
		var e struct {
			Entry struct{ Message, Raw string }
		}
		if json.Unmarshal(line, &e) == nil {
			found = found || e.Entry.Raw == strings.ToValidUTF8(hostileText, "\ufffd") || e.Entry.Message == strings.ToValidUTF8(hostileText, "\ufffd")
		}
	}
	if !found {
		t.Errorf("JSON changed the text: %s", piped("logs", "--no-follow", "--json"))
	}
}

// The same over the protocol: no byte of it is raw in a frame, and the value is the same.
func TestSecurity_EscapesInResults(t *testing.T) {
	text, _ := json.Marshal(strings.ToValidUTF8(hostileText, "\ufffd"))
	s := start(t, stub(t, `cat "$HOSTILE"`), "HOSTILE="+file(t, `{"type":"log","entry":{"message":`+string(text)+"}}\n"))
	r := s.call(snapshotTool, nil)
	r.wantComplete(t, 1)
	if got := r.Structured.messages(t); got[0] != strings.ToValidUTF8(hostileText, "\ufffd") {
		t.Errorf("E4: %q", got[0])
	}
}

// startIn starts the server in a folder, without a handshake.
func startIn(t *testing.T, dir string, args []string, extra ...string) *session {
	t.Helper()
	s := &session{t: t, stderr: &lockedBuffer{}, news: make(chan struct{}, 1), done: make(chan struct{}), marker: newMarker()}
	s.cmd = exec.Command(binary, append([]string{"mcp", "serve"}, args...)...)
	s.cmd.Dir, s.cmd.Env, s.cmd.Stderr = dir, environment(t, s.marker, extra...), s.stderr
	stdin, err := s.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	s.stdin = stdin
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.cmd.Process.Kill(); <-s.done })
	go s.read(stdout)
	return s
}

func file(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	write(t, path, text, 0o600)
	return path
}

// What the caller sends, what the backend writes, and where things lie is in no error
// text and in no line of the server's log, at the level that says the most.
func TestSecurity_Canaries(t *testing.T) {
	const canary = "c4n4ry"
	dir := filepath.Join(t.TempDir(), canary)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "tailrace.yaml"), "version: 1\nsources: {}\n", 0o600)
	backend := filepath.Join(dir, "backend")
	write(t, backend, "#!/bin/sh\necho '{\"type\":\"error\",\"message\":\""+canary+"\"}'; echo "+canary+" >&2; exit 9\n", 0o700)
	for _, command := range []string{backend, dir, dir + "/none", dir + "/tailrace.yaml"} {
		s := startIn(t, dir, []string{"--log-level", "debug", "--max-commands", "18"}, "HACK_MCP_COMMAND="+command, "SECRET="+canary)
		s.send(strings.TrimSuffix(strings.ReplaceAll(handshake, `"e2e"`, `"`+canary+`"`), "\n"))
		s.reply(`"hello"`, 10*time.Second)
		var calls []string
		for _, args := range []map[string]any{
			nil,
			{"query": canary},
			{"query": "-" + canary},
			{"service": "--" + canary},
			{"services": []string{canary, "-" + canary}},
			{"branch": "../" + canary},
			{"since": canary},
			{"tail": canary},
			{canary: canary},
			{"projectName": canary},
			{"projectName": "-" + canary},
			{"path": "/" + canary},
			{"path": dir + "/.."},
			{"repoRoot": canary, "path": canary},
			{"compose": true, "query": canary},
		} {
			calls = append(calls, s.begin(snapshotTool, args))
		}
		calls = append(calls,
			s.begin("hack.project.exec", map[string]any{"service": canary, "cmd": []string{canary}}),
			s.begin("hack.project.exec", map[string]any{"service": canary, "cmd": []string{canary, "a\x00" + canary}}),
			s.begin("hack.project.open", map[string]any{"target": "-" + canary}))
		for _, id := range calls {
			r := s.finish(id, 30*time.Second)
			if e := r.Structured.Error; e != nil && strings.Contains(e.Code+e.Reason+e.Message, canary) {
				t.Errorf("S9: %+v", *e)
			}
			if sp := r.Structured.Spawned; sp != nil && !*sp && bytes.Contains(r.frame, []byte(canary)) {
				t.Errorf("O11: a refusal repeats what was sent, or a path: %.300s", r.frame)
			}
		}
		for _, line := range []string{
			`{"jsonrpc":"2.0","id":"x","method":"` + canary + `"}`,
			`{"jsonrpc":"2.0","id":"y","method":"tools/call","params":{"name":"` + canary + `"}}`,
			`{"` + canary + `":`,
		} {
			s.send(line)
			s.ping(10 * time.Second)
		}
		s.end(3 * time.Second)
		for _, f := range s.all(func(f frame) bool { return f.msg.Error != nil }) {
			if bytes.Contains(f.raw, []byte(canary)) {
				t.Errorf("S9: a protocol error repeats what was sent: %.300s", f.raw)
			}
		}
		if log := s.stderr.String(); strings.Contains(log, canary) || !strings.Contains(log, "level=INFO") {
			t.Errorf("S9: the log of the server:\n%s", log)
		}
	}
}

// A repository that was only cloned runs no command, whatever it brings: its own hack,
// a source with a command, a link to a file outside. Nor does it through the server.
func TestSecurity_ClonedRepository(t *testing.T) {
	secret := file(t, "s3cr3t\n")
	dir := t.TempDir()
	ran := filepath.Join(t.TempDir(), "ran")
	write(t, filepath.Join(dir, "tailrace.yaml"), "version: 1\nsources:\n  evil: {command: [touch, "+ran+"]}\n  link: {file: link.log}\n  far: {file: "+secret+"}\n  good: {file: good.log}\n", 0o600)
	write(t, filepath.Join(dir, "good.log"), "good\n", 0o600)
	write(t, filepath.Join(dir, "hack"), "#!/bin/sh\ntouch "+ran+"\n", 0o700)
	if err := os.Symlink(secret, filepath.Join(dir, "link.log")); err != nil {
		t.Fatal(err)
	}
	// An empty entry of the PATH means the working directory, for many programs.
	s := startIn(t, dir, nil, "PATH=:/usr/bin:/bin:.")
	s.send(strings.TrimSuffix(handshake, "\n"))
	s.reply(`"hello"`, 10*time.Second)
	for _, args := range []map[string]any{nil, {"service": "evil"}, {"service": "link"}, {"service": "far"}} {
		r := s.call(snapshotTool, args)
		if r.Structured.OK || bytes.Contains(r.frame, []byte("s3cr3t")) {
			t.Errorf("%v: %.400s", args, r.frame)
		}
	}
	r := s.call(snapshotTool, map[string]any{"service": "good"})
	if !r.Structured.OK || !strings.Contains(r.Structured.Stdout, `good`) {
		t.Errorf("what lies in the repository: %.400s", r.frame)
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("something of the repository ran")
	}
	s.end(3 * time.Second)
}
