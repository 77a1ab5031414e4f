//go:build unix

package source_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tailrace/tailrace/pipeline"
	"github.com/tailrace/tailrace/pipeline/source"
)

// shell runs a script as a child. The shell is the command under test here; the source
// itself uses none.
func shell(t *testing.T, script string, more ...func(*source.Command)) *source.Child {
	t.Helper()
	c := source.Command{Path: "/bin/sh", Args: []string{"-c", script}}
	for _, f := range more {
		f(&c)
	}
	child, err := source.Start(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { child.Close() })
	return child
}

type read struct {
	stdout, stderr bytes.Buffer
	cut            bool
}

// drain reads a child to the end of its sequence; stop, if not nil, says when to stop.
func drain(ctx context.Context, src pipeline.Source, stop func(*read) bool) *read {
	r := &read{}
	for c := range src.Chunks(ctx) {
		if c.Stream == pipeline.Stderr {
			r.stderr.Write(c.Data)
		} else {
			r.stdout.Write(c.Data)
		}
		r.cut = r.cut || c.Cut
		if stop != nil && stop(r) {
			break
		}
	}
	return r
}

// members lists the live processes of a group.
func members(pgid int) (alive []int) {
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			continue
		}
		fields := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
		if len(fields) > 2 && fields[2] == strconv.Itoa(pgid) && fields[0] != "Z" && fields[0] != "X" {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(f)))
			alive = append(alive, pid)
		}
	}
	return alive
}

func wantGone(t *testing.T, pgid int) {
	t.Helper()
	if left := members(pgid); len(left) > 0 {
		t.Errorf("S2: left of the group: %v", left)
	}
}

func descriptors(t *testing.T) int {
	t.Helper()
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(fds)
}

func TestChild(t *testing.T) {
	for _, c := range []struct {
		name, script   string
		stdout, stderr string
		code           int
	}{
		{"both streams", "echo out; echo err >&2", "out\n", "err\n", 0},
		{"exit code", "exit 7", "", "", 7},
		{"O2 signal", "kill -9 $$", "", "", 137},
		{"S5 empty stdin", "cat; echo end", "end\n", "", 0},
		{"own process group", `[ "$(ps -o pgid= -p $$ | tr -d ' ')" = $$ ] && echo leads`, "leads\n", "", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			child := shell(t, c.script)
			r := drain(context.Background(), child, nil)
			if r.stdout.String() != c.stdout || r.stderr.String() != c.stderr || r.cut {
				t.Errorf("%q %q cut %v", r.stdout.String(), r.stderr.String(), r.cut)
			}
			if e := child.Exit(); e.End != pipeline.EndSource || e.Code != c.code {
				t.Errorf("exit %+v", e)
			}
		})
	}
}

func TestS5_NoShell(t *testing.T) {
	child, err := source.Start(source.Command{Path: "printf", Args: []string{"%s|", "$HOME", "a b", "*", "--x=;id", ""}})
	if err != nil {
		t.Fatal(err)
	}
	defer child.Close()
	if got := drain(context.Background(), child, nil).stdout.String(); got != "$HOME|a b|*|--x=;id||" {
		t.Errorf("%q", got)
	}
}

func TestStderrFlood(t *testing.T) {
	r := drain(context.Background(), shell(t, "i=0; while [ $i -lt 3000 ]; do printf '%099d\\n' $i >&2; i=$((i+1)); done; echo out"), nil)
	if r.stderr.Len() != 300000 || r.stdout.String() != "out\n" {
		t.Errorf("%d bytes of stderr, stdout %q", r.stderr.Len(), r.stdout.String())
	}
}

func TestBurstThenExit(t *testing.T) {
	var want bytes.Buffer
	for i := range 5000 {
		fmt.Fprintf(&want, "%d\n", i)
	}
	file := filepath.Join(t.TempDir(), "burst")
	if err := os.WriteFile(file, want.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	before := 0
	for i := range 50 {
		child, err := source.Start(source.Command{Path: "cat", Args: []string{file}})
		if err != nil {
			t.Fatal(err)
		}
		got := drain(context.Background(), child, nil).stdout.Bytes()
		child.Close()
		if !bytes.Equal(got, want.Bytes()) {
			t.Fatalf("run %d: %d bytes of %d", i, len(got), want.Len())
		}
		if i == 0 {
			before = descriptors(t)
		}
	}
	if n := descriptors(t); n > before {
		t.Errorf("%d descriptors, %d before", n, before)
	}
}

func TestChunksOfOneBufferAreAdjacent(t *testing.T) {
	child := shell(t, "for i in 1 2 3 4 5; do echo line; sleep 0.02; done", func(c *source.Command) { c.BufferBytes = 1 << 20 })
	var whole []byte
	for c := range child.Chunks(context.Background()) {
		if whole == nil {
			whole = c.Data
			continue
		}
		if cap(whole) < len(whole)+1 || &whole[:len(whole)+1][len(whole)] != &c.Data[0] {
			t.Fatal("two chunks of one buffer are apart")
		}
		whole = whole[:len(whole)+len(c.Data)]
	}
	if string(whole) != strings.Repeat("line\n", 5) {
		t.Errorf("%q", whole)
	}
}

func TestS2_StopIgnoredTerm(t *testing.T) {
	child := shell(t, "trap '' TERM HUP INT; while :; do echo x; sleep 0.05; done", func(c *source.Command) { c.Grace = 300 * time.Millisecond })
	began := time.Now()
	r := drain(context.Background(), child, func(r *read) bool { return true })
	if d := time.Since(began); d < 250*time.Millisecond || d > 3*time.Second {
		t.Errorf("S2: the loop ended after %v", d)
	}
	if e := child.Exit(); e.End != pipeline.EndConsumer || e.Code != 137 {
		t.Errorf("exit %+v", e)
	}
	if r.cut {
		t.Error("a consumer's stop is no cut of the source")
	}
	child.Close()
	wantGone(t, child.Pid())
}

func TestS2_StoppedChildGetsTheSignal(t *testing.T) {
	child := shell(t, "echo up; kill -STOP $$; sleep 60")
	drain(context.Background(), child, func(r *read) bool {
		for deadline := time.Now().Add(5 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
			b, _ := os.ReadFile("/proc/" + strconv.Itoa(child.Pid()) + "/stat")
			if bytes.Contains(b, []byte(") T ")) {
				return true
			}
		}
		t.Error("the child did not stop itself")
		return true
	})
	if e := child.Exit(); e.Code != 143 {
		t.Errorf("S2: exit %+v, want the end by SIGTERM", e)
	}
	child.Close()
	wantGone(t, child.Pid())
}

func TestS2_LeaderDiesGroupLives(t *testing.T) {
	child := shell(t, "(trap '' TERM; echo ready; while :; do sleep 0.1; done) & trap 'exit 0' TERM; while :; do sleep 0.05; done",
		func(c *source.Command) { c.Grace = 700 * time.Millisecond })
	began := time.Now()
	drain(context.Background(), child, func(r *read) bool { return strings.Contains(r.stdout.String(), "ready") })
	if d := time.Since(began); d > 600*time.Millisecond {
		t.Errorf("S2: the loop ended %v after the start: it waited for more than the leader", d)
	}
	child.Close()
	wantGone(t, child.Pid())
}

func TestS2_ShortenedGrace(t *testing.T) {
	child := shell(t, "trap '' TERM; echo up; while :; do sleep 0.05; done", func(c *source.Command) { c.Grace = time.Minute })
	drain(context.Background(), child, func(r *read) bool {
		time.AfterFunc(50*time.Millisecond, func() { child.Shorten(100 * time.Millisecond) })
		return true
	})
	child.Close()
	wantGone(t, child.Pid())
}

func TestO10_DescendantHoldsThePipe(t *testing.T) {
	child := shell(t, "echo out; sleep 60 & exit 3")
	began := time.Now()
	r := drain(context.Background(), child, nil)
	if d := time.Since(began); d < 900*time.Millisecond || d > 3*time.Second {
		t.Errorf("O10: ended after %v", d)
	}
	if e := child.Exit(); e.End != pipeline.EndSource || e.Code != 3 || r.stdout.String() != "out\n" {
		t.Errorf("O10: %+v %q", e, r.stdout.String())
	}
	child.Close()
	wantGone(t, child.Pid())
}

func TestO10_TimeBoundWithinTheDrain(t *testing.T) {
	child := shell(t, "echo out; sleep 60 & exit 0")
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	r := drain(ctx, child, nil)
	if e := child.Exit(); e.End != pipeline.EndSource || r.cut {
		t.Errorf("O10: %+v, cut %v", e, r.cut)
	}
}

func TestDetachedWriterHoldsThePipe(t *testing.T) {
	if _, err := exec.LookPath("setsid"); err != nil {
		t.Fatal("setsid is needed: ", err)
	}
	pidFile := filepath.Join(t.TempDir(), "pid")
	child := shell(t, "setsid sh -c 'echo $$ > "+pidFile+"; sleep 30' & while [ ! -s "+pidFile+" ]; do sleep 0.01; done; echo out")
	r := drain(context.Background(), child, nil)
	child.Close()
	if r.stdout.String() != "out\n" {
		t.Errorf("%q", r.stdout.String())
	}
	b, err := os.ReadFile(pidFile)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil {
		t.Fatal(err)
	}
	syscall.Kill(pid, syscall.SIGKILL)
}

func TestKeepGroup(t *testing.T) {
	child := shell(t, "sleep 30 >/dev/null 2>&1 & echo up", func(c *source.Command) { c.KeepGroup = true })
	drain(context.Background(), child, nil)
	child.Close()
	if len(members(child.Pid())) != 1 {
		t.Error("S2: the descendant of a command that may leave daemons is gone")
	}
	syscall.Kill(-child.Pid(), syscall.SIGKILL)
}

func TestContextEndsWithACut(t *testing.T) {
	child := shell(t, "echo up; sleep 60")
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	time.AfterFunc(200*time.Millisecond, cancel)
	r := drain(ctx, child, nil)
	if e := child.Exit(); e.End != pipeline.EndContext || !r.cut || r.stdout.String() != "up\n" {
		t.Errorf("%+v cut %v %q", e, r.cut, r.stdout.String())
	}
}

func TestCloseWithoutReading(t *testing.T) {
	child := shell(t, "yes")
	child.Close()
	wantGone(t, child.Pid())
	child.Close()
}

func TestC2_FloodAfterTheStop(t *testing.T) {
	child := shell(t, "trap 'i=0; while [ $i -lt 20000 ]; do echo flooooooooooooooooooooood; i=$((i+1)); done; exit 0' TERM; echo up; while :; do sleep 0.02; done")
	drain(context.Background(), child, func(r *read) bool { return true })
	if e := child.Exit(); e.Code != 0 {
		t.Errorf("C2: exit %+v: the child was blocked on a full pipe", e)
	}
}

func TestManyOrphans(t *testing.T) {
	before := -1
	for range 5 {
		child := shell(t, "i=0; while [ $i -lt 100 ]; do (sleep 0.2 </dev/null >/dev/null 2>&1 &); i=$((i+1)); done; echo one")
		drain(context.Background(), child, nil)
		child.Close()
		wantGone(t, child.Pid())
		if before < 0 {
			before = descriptors(t)
		}
	}
	if n := descriptors(t); n > before {
		t.Errorf("%d descriptors, %d before", n, before)
	}
}

func TestO11_SpawnErrors(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string, mode os.FileMode) string {
		p := filepath.Join(dir, name)
		if err := os.WriteFile(p, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return p
	}
	for _, c := range []struct {
		name string
		cmd  source.Command
		want source.SpawnReason
	}{
		{"missing", source.Command{Path: dir + "/none"}, source.CommandNotFound},
		{"not on PATH", source.Command{Path: "no-such-command-here"}, source.CommandNotFound},
		{"no name", source.Command{}, source.CommandNotFound},
		{"below a file", source.Command{Path: file("plain", "", 0o600) + "/x"}, source.CommandNotFound},
		{"folder", source.Command{Path: dir}, source.CommandIsDirectory},
		{"no execute bit", source.Command{Path: file("noexec", "#!/bin/sh\n", 0o600)}, source.CommandNotExecutable},
		{"interpreter", source.Command{Path: file("interp", "#!/nonexistent/interp\n", 0o700)}, source.CommandBadInterpreter},
		{"empty", source.Command{Path: file("empty", "", 0o700)}, source.CommandBadFormat},
		{"text", source.Command{Path: file("text", "echo no shell runs this\n", 0o700)}, source.CommandBadFormat},
		{"working directory", source.Command{Path: "/bin/true", Dir: dir + "/nodir"}, source.BadWorkingDirectory},
		{"working directory is a file", source.Command{Path: "/bin/true", Dir: file("f", "", 0o600)}, source.BadWorkingDirectory},
		{"NUL", source.Command{Path: "/bin/true", Args: []string{"a\x00b"}}, source.BadArgument},
		{"too long", source.Command{Path: "/bin/true", Args: []string{strings.Repeat("x", 4<<20)}}, source.BadArgument},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := source.Start(c.cmd)
			var e *source.SpawnError
			if !errors.As(err, &e) || e.Reason != c.want {
				t.Fatalf("%v", err)
			}
			if strings.Contains(err.Error(), dir) || e.Err != nil && strings.Contains(e.Err.Error(), dir) {
				t.Errorf("S9: the error holds a path: %v", err)
			}
		})
	}
}

func BenchmarkChild(b *testing.B) {
	file := filepath.Join(b.TempDir(), "data")
	if err := os.WriteFile(file, bytes.Repeat([]byte("0123456789abcde\n"), 8<<20/16), 0o600); err != nil {
		b.Fatal(err)
	}
	b.Run("drain", func(b *testing.B) {
		b.SetBytes(8 << 20)
		buf := make([]byte, 256<<10)
		for b.Loop() {
			cmd := exec.Command("cat", file)
			out, _ := cmd.StdoutPipe()
			if err := cmd.Start(); err != nil {
				b.Fatal(err)
			}
			for {
				if _, err := out.Read(buf); err != nil {
					break
				}
			}
			cmd.Wait()
		}
	})
	b.Run("Chunks", func(b *testing.B) {
		b.SetBytes(8 << 20)
		b.ReportAllocs()
		for b.Loop() {
			child, err := source.Start(source.Command{Path: "cat", Args: []string{file}, BufferBytes: 8<<20 + 64<<10})
			if err != nil {
				b.Fatal(err)
			}
			n := 0
			for c := range child.Chunks(context.Background()) {
				n += len(c.Data)
			}
			child.Close()
			if n != 8<<20 {
				b.Fatal(n)
			}
		}
	})
}
