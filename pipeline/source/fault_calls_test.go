//go:build unix

package source_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/tailrace/tailrace/pipeline"
	"github.com/tailrace/tailrace/pipeline/source"
)

// nothingLeft checks at the end of a test that it left no process, zombie or descriptor.
// TestMain looks for goroutines.
func nothingLeft(t *testing.T) {
	t.Helper()
	warm(t)
	before := descriptors(t)
	t.Cleanup(func() {
		eventually(t, "a child is left as a zombie", func() bool { return zombies() == 0 })
		eventually(t, "descriptors are left", func() bool { return descriptors(t) <= before })
	})
}

// warm opens what is opened once: the guard, and the runtime's poller.
func warm(t *testing.T) {
	t.Helper()
	child, err := source.Start(source.Command{Path: "/bin/true"})
	if err != nil {
		t.Fatal(err)
	}
	drain(context.Background(), child, nil)
	if err := child.Close(); err != nil {
		t.Fatal(err)
	}
}

// eventually waits until ok, for 10 s.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Error(what)
			return
		}
	}
}

// zombies counts the children of this process that ended and were not waited for.
func zombies() (n int) {
	tasks, _ := os.ReadDir("/proc/self/task")
	for _, task := range tasks {
		list, _ := os.ReadFile("/proc/self/task/" + task.Name() + "/children")
		for _, pid := range strings.Fields(string(list)) {
			b, _ := os.ReadFile("/proc/" + pid + "/stat")
			if i := strings.LastIndexByte(string(b), ')'); i >= 0 && strings.HasPrefix(string(b[i:]), ") Z") {
				n++
			}
		}
	}
	return n
}

// Every N-th read of both pipes fails once. What was read before it is kept, the error
// says that the rest is missing, and a child that writes on does not wait for a reader.
func TestFault_Read(t *testing.T) {
	nothingLeft(t)
	const script = `for i in 1 2 3; do echo line$i; echo err$i >&2; sleep 0.03; done`
	const whole, wholeErr = "line1\nline2\nline3\n", "err1\nerr2\nerr3\n"
	failed := 0
	for n := int64(1); n <= 9; n++ {
		var calls, hit atomic.Int64
		source.SetReadPipe(t, func(f *os.File, p []byte) (int, error) {
			if calls.Add(1) == n {
				hit.Add(1)
				return 0, syscall.EIO
			}
			return f.Read(p)
		})
		child := shell(t, script)
		r := drain(context.Background(), child, nil)
		if err := child.Close(); err != nil {
			t.Errorf("N=%d: %v", n, err)
		}
		out, text := r.stdout.String(), r.stderr.String()
		if !strings.HasPrefix(whole, out) || !strings.HasPrefix(wholeErr, text) {
			t.Errorf("N=%d: not what was written: %q %q", n, out, text)
		}
		lost := out != whole || text != wholeErr
		if hit.Load() == 0 && lost {
			t.Errorf("N=%d: lost without a fault: %q %q", n, out, text)
		}
		if e := child.Exit(); errors.Is(e.Err, source.ErrRead) != (hit.Load() == 1) || e.End != pipeline.EndSource {
			t.Errorf("N=%d: %d faults, exit %+v", n, hit.Load(), e)
		}
		failed += int(hit.Load())
		wantGone(t, child.Pid())
	}
	if failed < 6 {
		t.Errorf("only %d reads failed", failed)
	}
}

// A child that never ends by itself ends when a pipe cannot be read any more.
func TestFault_ReadOfAFlood(t *testing.T) {
	nothingLeft(t)
	for _, n := range []int64{1, 2, 50} {
		var calls atomic.Int64
		source.SetReadPipe(t, func(f *os.File, p []byte) (int, error) {
			if calls.Add(1) == n {
				return 0, syscall.EIO
			}
			return f.Read(p)
		})
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		script := "while echo x && echo x >&2; do :; done"
		if n == 50 {
			script = "exec yes 2>/dev/null"
		}
		child := shell(t, script)
		drain(ctx, child, nil)
		cancel()
		if e := child.Exit(); e.End != pipeline.EndSource || !errors.Is(e.Err, source.ErrRead) {
			t.Errorf("N=%d: %+v", n, e)
		}
		child.Close()
		wantGone(t, child.Pid())
	}
}

// Each of the pipes cannot be opened, and each error of the start itself: the error is
// typed, nothing was started, and nothing is left open.
func TestFault_Spawn(t *testing.T) {
	nothingLeft(t)
	for n := 1; n <= 2; n++ {
		t.Run(fmt.Sprint("pipe ", n), func(t *testing.T) {
			calls := 0
			source.SetOpenPipe(t, func() (*os.File, *os.File, error) {
				if calls++; calls == n {
					return nil, nil, os.NewSyscallError("pipe2", syscall.EMFILE)
				}
				return os.Pipe()
			})
			wantSpawnFailed(t, syscall.EMFILE)
		})
	}
	for _, errno := range []syscall.Errno{syscall.EAGAIN, syscall.ENOMEM, syscall.EMFILE, syscall.ENFILE, syscall.EPERM} {
		t.Run(fmt.Sprint("start ", errno), func(t *testing.T) {
			source.SetStartError(t, errno)
			_, err := source.Start(source.Command{Path: "/bin/true"})
			var e *source.SpawnError
			if !errors.As(err, &e) || e.Err != errno {
				t.Fatalf("O11: %v", err)
			}
			if errno != syscall.EPERM && e.Reason != source.SpawnFailed {
				t.Errorf("O11: reason %s", e.Reason)
			}
		})
	}
}

func wantSpawnFailed(t *testing.T, errno syscall.Errno) {
	t.Helper()
	_, err := source.Start(source.Command{Path: "/bin/true"})
	if !errors.Is(err, &source.SpawnError{Reason: source.SpawnFailed, Err: errno}) {
		t.Errorf("O11: %v", err)
	}
}

// A faultyGroup loses signals and exit statuses.
type faultyGroup struct {
	source.ProcessGroup
	mu        sync.Mutex
	signals   int
	lost      func(n int) bool
	waitError error
}

func (g *faultyGroup) deliver(send func()) {
	g.mu.Lock()
	g.signals++
	lost := g.lost != nil && g.lost(g.signals)
	g.mu.Unlock()
	if !lost {
		send()
	}
}

func (g *faultyGroup) Terminate() { g.deliver(g.ProcessGroup.Terminate) }
func (g *faultyGroup) Kill()      { g.deliver(g.ProcessGroup.Kill) }

func (g *faultyGroup) Wait() (int, error) {
	if g.waitError != nil {
		return 0, g.waitError
	}
	return g.ProcessGroup.Wait()
}

// faulty makes the next groups lose what it is told to.
func faulty(t *testing.T, lost func(n int) bool, waitError error) {
	source.SetStartGroup(t, func(g source.ProcessGroup, err error) (source.ProcessGroup, error) {
		if err != nil {
			return nil, err
		}
		return &faultyGroup{ProcessGroup: g, lost: lost, waitError: waitError}, nil
	})
}

// Every N-th signal of a stop is lost. A later one makes up for it, or Close says that
// something is left, in its time.
func TestFault_Kill(t *testing.T) {
	nothingLeft(t)
	source.SetKillPatience(t, 300*time.Millisecond)
	for _, c := range []struct {
		name, script string
		lost         func(n int) bool
		left         bool
	}{
		{"SIGTERM", "echo up; exec sleep 60", func(n int) bool { return n == 1 }, false},
		{"the last kill of an empty group", "echo up; exec sleep 60", func(n int) bool { return n == 2 }, false},
		{"SIGKILL of a deaf leader", "trap '' TERM; echo up; while :; do sleep 0.02; done", func(n int) bool { return n == 2 }, true},
		{"each SIGKILL of a deaf leader", "trap '' TERM; echo up; while :; do sleep 0.02; done", func(n int) bool { return n > 1 }, true},
		{"first SIGKILL of a deaf group", "(trap '' TERM; echo up; while :; do sleep 0.02; done) & sleep 60", func(n int) bool { return n == 2 }, false},
		{"each SIGKILL of a deaf group", "(trap '' TERM; echo up; while :; do sleep 0.02; done) & sleep 60", func(n int) bool { return n > 1 }, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			faulty(t, c.lost, nil)
			child := shell(t, c.script, func(c *source.Command) { c.Grace = 200 * time.Millisecond })
			began := time.Now()
			drain(context.Background(), child, func(*read) bool { return true })
			err := child.Close()
			if took := time.Since(began); took > 5*time.Second {
				t.Errorf("S2: ended after %v", took)
			}
			if errors.Is(err, source.ErrLeft) != c.left {
				t.Errorf("S2: Close says %v", err)
			}
			syscall.Kill(-child.Pid(), syscall.SIGKILL)
			eventually(t, "S2: a process is left", func() bool { return len(members(child.Pid())) == 0 })
		})
	}
}

// The exit status is not to be had, while the child runs or after it. The run ends, says
// so, and what still ran is ended and reaped.
func TestFault_Wait(t *testing.T) {
	nothingLeft(t)
	for _, script := range []string{"echo up; exit 0", "echo up; exec sleep 60", "echo up; sleep 60 & exec sleep 60"} {
		faulty(t, nil, syscall.ECHILD)
		child := shell(t, script)
		began := time.Now()
		r := drain(context.Background(), child, nil)
		if err := child.Close(); err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("O10: ended after %v", took)
		}
		if e := child.Exit(); !errors.Is(e.Err, source.ErrStatus) || e.Code != 1 || r.stdout.String() != "up\n" {
			t.Errorf("exit %+v, stdout %q", e, r.stdout.String())
		}
		wantGone(t, child.Pid())
	}
}

// The child ends in the middle of a code point: its bytes are all there.
func TestFault_ExitInACodePoint(t *testing.T) {
	nothingLeft(t)
	child := shell(t, `printf 'ab\360\237\230'; printf '\342\202' >&2; kill -9 $$`)
	r := drain(context.Background(), child, nil)
	if r.stdout.String() != "ab\xf0\x9f\x98" || r.stderr.String() != "\xe2\x82" || child.Exit().Code != 137 {
		t.Errorf("%q %q %+v", r.stdout.String(), r.stderr.String(), child.Exit())
	}
}

// A leader that stops itself does not hold up the time bound, whatever it ignores.
func TestFault_StoppedAndDeaf(t *testing.T) {
	nothingLeft(t)
	child := shell(t, "trap '' TERM CONT; echo up; kill -STOP $$; while :; do sleep 0.02; done",
		func(c *source.Command) { c.Grace = 200 * time.Millisecond })
	ctx, cancel := context.WithTimeout(context.Background(), 400*time.Millisecond)
	defer cancel()
	began := time.Now()
	r := drain(ctx, child, nil)
	child.Close()
	if took := time.Since(began); took > 3*time.Second || child.Exit().Code != 137 || !r.cut {
		t.Errorf("S2: %v, %+v, cut %v", took, child.Exit(), r.cut)
	}
	wantGone(t, child.Pid())
}

// A flood on both streams in answer to the stop, from the leader and from a descendant,
// is thrown away and holds up nothing.
func TestFault_FloodOnStop(t *testing.T) {
	nothingLeft(t)
	child := shell(t, `flood() { yes flood; }; trap 'flood & flood >&2' TERM; echo up; while :; do sleep 0.01; done`,
		func(c *source.Command) { c.Grace = 300 * time.Millisecond })
	began := time.Now()
	r := drain(context.Background(), child, func(*read) bool { return true })
	child.Close()
	if took := time.Since(began); took > 3*time.Second {
		t.Errorf("C2: ended after %v", took)
	}
	if r.stdout.String() != "up\n" || r.stderr.Len() > 0 {
		t.Errorf("C6: %d and %d bytes", r.stdout.Len(), r.stderr.Len())
	}
	wantGone(t, child.Pid())
}

// A detached writer fills a pipe that nobody waits for: the run ends all the same, and
// the writer is left alone, as it left the group.
func TestFault_DetachedFlood(t *testing.T) {
	nothingLeft(t)
	file := t.TempDir() + "/pid"
	child := shell(t, "setsid sh -c 'echo $$ > "+file+"; exec yes' & while [ ! -s "+file+" ]; do sleep 0.01; done; exit 4")
	began := time.Now()
	for range child.Chunks(context.Background()) {
	}
	if err := child.Close(); err != nil {
		t.Error(err)
	}
	if took := time.Since(began); took > 4*time.Second || child.Exit().Code != 4 {
		t.Errorf("O10: %v, %+v", took, child.Exit())
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil {
		t.Fatal(err)
	}
	// It met a closed pipe.
	eventually(t, "the writer lives on a closed pipe", func() bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) || zombie(pid) })
}

func zombie(pid int) bool {
	b, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return strings.Contains(string(b), ") Z ")
}
