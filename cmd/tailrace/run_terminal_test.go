//go:build linux

package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// openTerminal returns both sides of a new pseudo-terminal of a width: what is written
// to the second is read from the first.
func openTerminal(t *testing.T, columns uint16) (master, tty *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { master.Close() })
	fd := int(master.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if tty, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tty.Close() })
	if err := unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: columns}); err != nil {
		t.Fatal(err)
	}
	return master, tty
}

// onTerminal runs the program with its streams on one terminal, or with stdout apart, and
// returns what was written there. do is called with what is there so far.
func onTerminal(t *testing.T, columns uint16, stdout io.Writer, do func(screen string), args ...string) string {
	t.Helper()
	master, tty := openTerminal(t, columns)
	cmd := command(t, t.TempDir(), args...)
	cmd.Stderr, cmd.Stdout = tty, stdout
	if stdout == nil {
		cmd.Stdout = tty
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(patience, func() { _ = cmd.Process.Kill() })
	defer timer.Stop()
	tty.Close()
	var screen bytes.Buffer
	buf := make([]byte, 4096)
	for {
		n, err := master.Read(buf)
		screen.Write(buf[:n])
		do(screen.String())
		if err != nil { // EIO: nobody holds the terminal any more
			break
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v: %q", err, screen.String())
	}
	return strings.ReplaceAll(screen.String(), "\r\n", "\n")
}

const eraseLine = "\r\x1b[K"

// The progress is one line that is erased, no longer than the terminal is wide.
func TestRun_ProgressOnATerminal(t *testing.T) {
	seen := filepath.Join(t.TempDir(), "seen")
	var stdout bytes.Buffer
	drawn := func(screen string) {
		if strings.Contains(screen, "B  1 event") {
			_ = os.WriteFile(seen, nil, 0o600)
		}
	}
	script := `echo '{"type":"log"}'; until test -e "$0"; do sleep 0.01; done; echo end`
	screen := onTerminal(t, 24, &stdout, drawn, "run", "--", "sh", "-c", script, seen)
	if stdout.String() != "{\"type\":\"log\"}\nend\n" {
		t.Errorf("stdout is %q", stdout.String())
	}
	at := strings.LastIndex(screen, eraseLine)
	if at < 0 || !strings.HasPrefix(screen[at+len(eraseLine):], "tailrace: complete (19B, 1 event, ") {
		t.Fatalf("the progress is not erased before the summary: %q", screen)
	}
	for _, line := range strings.Split(screen[:at], eraseLine) {
		if len(line) > 23 || strings.ContainsAny(line, "\n\x1b") {
			t.Errorf("not one line of 23 columns: %q", line)
		}
	}
}

// No progress is drawn into a line that is not finished, and none at all with --quiet.
func TestRun_ProgressLeavesTextAlone(t *testing.T) {
	script := `printf one; sleep 0.3; printf two >&2; sleep 0.3; echo`
	screen := onTerminal(t, 80, nil, func(string) {}, "run", "--", "sh", "-c", script)
	if !strings.Contains(screen, "onetwo\n") {
		t.Errorf("got %q", screen)
	}
	quiet := onTerminal(t, 80, nil, func(string) {}, "run", "-q", "--", "sh", "-c", `echo one; sleep 0.3; echo two`)
	if quiet != "one\ntwo\n" {
		t.Errorf("got %q", quiet)
	}
}

// Nothing that a log holds acts on the terminal, on either stream; where stdout is no
// terminal its bytes are as they were.
func TestRun_ControlsOnATerminal(t *testing.T) {
	const script = `printf '\033[2Jred\r\n\342\200\256'; printf '\033]0;title\007' >&2`
	screen := onTerminal(t, 80, nil, func(string) {}, "run", "-q", "--", "sh", "-c", script)
	if want := `\x1b[2Jred` + "\n" + `\u202e\x1b]0;title\x07`; screen != want &&
		screen != `\x1b]0;title\x07\x1b[2Jred`+"\n"+`\u202e` {
		t.Errorf("got %q, want %q", screen, want)
	}
	var stdout bytes.Buffer
	screen = onTerminal(t, 80, &stdout, func(string) {}, "run", "-q", "--", "sh", "-c", script)
	if stdout.String() != "\x1b[2Jred\r\n\u202e" || screen != `\x1b]0;title\x07` {
		t.Errorf("got %q and %q", stdout.String(), screen)
	}
}

// The summary begins a line of its own.
func TestRun_SummaryOnATerminal(t *testing.T) {
	screen := onTerminal(t, 80, nil, func(string) {}, "run", "--max-bytes", "5B", "--", "echo", "hello world")
	if !strings.HasSuffix(screen, "s)\n") || !strings.Contains(screen, "hello\ntailrace: cut off at 5B; raise --max-bytes") {
		t.Errorf("got %q", screen)
	}
}

// A person who starts the server by hand is told what it waits for, and can end it.
func TestServe_HintOnATerminal(t *testing.T) {
	master, tty := openTerminal(t, 80)
	cmd := command(t, t.TempDir(), "mcp", "serve")
	var stdout bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, &stdout, tty
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(patience, func() { _ = cmd.Process.Kill() })
	defer timer.Stop()
	tty.Close()
	said, err := bufio.NewReader(master).ReadString('\n')
	if err != nil || !strings.Contains(said, "end it with Ctrl-D") {
		t.Errorf("got %q, %v", said, err)
	}
	if _, err := master.Write([]byte{4}); err != nil { // Ctrl-D
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil || stdout.Len() != 0 {
		t.Errorf("%v, and stdout is %q", err, stdout.String())
	}
}

// The hint does not stand inside a line of the command's text.
func TestRun_HintOnATerminal(t *testing.T) {
	script := `i=0; while test $i -lt 12; do echo $i; i=$((i+1)); done; printf par; sleep 0.3; echo tial`
	screen := onTerminal(t, 80, nil, func(string) {}, "run", "--max-events", "5", "--", "sh", "-c", script)
	if !strings.Contains(screen, "partial\n") || strings.Count(screen, textHint+"\n") != 1 {
		t.Errorf("got %q", screen)
	}
}

// On a terminal the logs are for people, in colours unless the user has set NO_COLOR, and
// as they are where that was asked for.
func TestLogs_PrettyOnATerminal(t *testing.T) {
	file := filepath.Join(t.TempDir(), "app.log")
	if err := os.WriteFile(file, []byte("level=error msg=\"it \x1b[2J broke\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	show := func(args ...string) string {
		return onTerminal(t, 80, nil, func(string) {}, append([]string{"logs", "--no-follow", "--file", file}, args...)...)
	}
	if got, want := show(), "\x1b[1;31mERROR\x1b[0m \x1b[2m|\x1b[0m it \\x1b[2J broke\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := show("--pretty=false"), "level=error msg=\"it \\x1b[2J broke\"\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
