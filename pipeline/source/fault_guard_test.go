//go:build linux

package source_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tailrace/tailrace/internal/guard"
	"github.com/tailrace/tailrace/pipeline/source"
)

// helperVariable makes the test binary a process of its own that one test needs.
const helperVariable = "TAILRACE_SOURCE_HELPER"

func init() {
	switch os.Getenv(helperVariable) {
	case "orphans":
		orphans()
	case "descriptors":
		os.Exit(fewDescriptors())
	}
}

// helper runs this test in a process of its own.
func helper(kind string) *exec.Cmd {
	cmd := exec.Command("/proc/self/exe", "-test.run=^$")
	cmd.Env = append(os.Environ(), helperVariable+"="+kind)
	return cmd
}

const deafGroup = `trap '' TERM HUP INT; (trap '' TERM HUP INT; while :; do sleep 0.05; done) & echo up; while :; do sleep 0.05; done`

// orphans is a process that starts a group, has its guard killed, starts another group,
// tells what there is, and waits to be killed.
func orphans() {
	run := func() *source.Child {
		child, err := source.Start(source.Command{Path: "/bin/sh", Args: []string{"-c", deafGroup}})
		if err != nil {
			os.Exit(1)
		}
		return child
	}
	one := run()
	first := guard.Pid()
	if first == 0 || syscall.Kill(first, syscall.SIGKILL) != nil {
		os.Exit(2)
	}
	for !dead(first) {
		time.Sleep(time.Millisecond)
	}
	two := run()
	fmt.Println(one.Pid(), two.Pid(), first, guard.Pid(), one.Guarded() && two.Guarded())
	time.Sleep(time.Minute)
	os.Exit(4)
}

// dead says whether a process has ended with all its threads: until then it holds its
// descriptors.
func dead(pid int) bool {
	tasks, err := os.ReadDir("/proc/" + strconv.Itoa(pid) + "/task")
	return err != nil || len(tasks) == 1 && zombie(pid)
}

// The guard is killed, and then the process that it guarded: the guard that took its
// place knows the groups from before, too.
func TestFault_GuardKilled(t *testing.T) {
	cmd := helper("orphans")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	var one, two, first, second int
	var guarded bool
	if _, err := fmt.Fscan(out, &one, &two, &first, &second, &guarded); err != nil {
		t.Fatal(err)
	}
	if second == 0 || second == first || !guarded {
		t.Fatalf("S3: guard %d after %d, guarded %v", second, first, guarded)
	}
	for _, pgid := range []int{one, two} {
		eventually(t, "the group is not up", func() bool { return len(members(pgid)) >= 2 })
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for _, pgid := range []int{one, two} {
		eventually(t, "S3: a group outlived the process that started it", func() bool { return len(members(pgid)) == 0 })
	}
	eventually(t, "S3: the guard is left", func() bool {
		return errors.Is(syscall.Kill(second, 0), syscall.ESRCH) || zombie(second)
	})
}

// A guard that is killed is replaced in this process, without a zombie or a descriptor.
func TestFault_GuardReplaced(t *testing.T) {
	nothingLeft(t)
	for range 3 {
		before := guard.Pid()
		if before == 0 {
			t.Fatal("no guard runs")
		}
		if err := syscall.Kill(before, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the guard lives", func() bool { return dead(before) })
		warm(t)
		if now := guard.Pid(); now == before || now == 0 {
			t.Fatalf("S3: the guard is %d after %d", now, before)
		}
	}
}

// A guard that is stopped keeps nobody waiting, and goes on with what it missed.
func TestFault_GuardStopped(t *testing.T) {
	nothingLeft(t)
	before := guard.Pid()
	if err := syscall.Kill(before, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	warm(t)
	if took := time.Since(began); took > 3*time.Second {
		t.Errorf("S3: a start took %v", took)
	}
	// It takes what it missed when it goes on.
	if err := syscall.Kill(before, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	warm(t)
	if guard.Pid() != before {
		t.Error("S3: a guard that lives was replaced")
	}
}

// A guard that has stopped reading for so long that its pipe is full is replaced.
func TestFault_GuardStopsReading(t *testing.T) {
	nothingLeft(t)
	before := guard.Pid()
	if err := syscall.Kill(before, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	const nobody = 1 << 30 // above any process id
	for n := 0; guard.Pid() == before; n++ {
		if n > 1<<20 {
			t.Fatal("S3: a guard that does not read is not missed")
		}
		guard.Remove(nobody)
	}
	warm(t)
	if now := guard.Pid(); now == before || now == 0 {
		t.Fatalf("S3: the guard is %d after %d", now, before)
	}
}

// fewDescriptors starts a command with n descriptors to spare, for every n from none to
// enough. Each start succeeds or is refused as it should, and leaves no descriptor.
func fewDescriptors() int {
	count := func() int {
		list, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			return -1
		}
		return len(list)
	}
	run := func() error {
		child, err := source.Start(source.Command{Path: "/bin/sh", Args: []string{"-c", "echo out"}})
		if err != nil {
			return err
		}
		out := ""
		for c := range child.Chunks(context.Background()) {
			out += string(c.Data)
		}
		if err := child.Close(); err != nil || out != "out\n" || child.Exit().Code != 0 {
			return fmt.Errorf("closed with %v, exit %+v, output %q", err, child.Exit(), out)
		}
		return nil
	}
	fail := func(args ...any) int {
		fmt.Println(args...)
		return 1
	}
	if err := run(); err != nil {
		return fail("first", err)
	}
	refused, ran := 0, 0
	for spare := 0; spare <= 16; spare++ {
		guard.Close() // so that the guard, too, must be started with what is there
		before := count()
		var limit syscall.Rlimit
		if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
			return fail(err)
		}
		low := limit
		low.Cur = 64
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &low); err != nil {
			return fail(err)
		}
		var held []*os.File
		for {
			f, err := os.Open(os.DevNull)
			if err != nil {
				break
			}
			held = append(held, f)
		}
		for range min(spare, len(held)) {
			held[len(held)-1].Close()
			held = held[:len(held)-1]
		}
		err := run()
		for _, f := range held {
			f.Close()
		}
		if e := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); e != nil {
			return fail(e)
		}
		switch {
		case err == nil:
			ran++
		case errors.Is(err, &source.SpawnError{Reason: source.SpawnFailed}):
			refused++
		default:
			return fail("O11:", spare, "to spare:", err)
		}
		guard.Close()
		if n := count(); n > before {
			return fail(spare, "to spare:", n, "descriptors,", before, "before")
		}
		if err := run(); err != nil {
			return fail("after", spare, "to spare:", err)
		}
	}
	guard.Close()
	if n := zombies(); n != 0 {
		return fail(n, "zombies")
	}
	fmt.Println("ok", refused, ran)
	return 0
}

// No descriptor is free, or one, or two, and so on: EMFILE at every call that can meet it.
func TestFault_EMFILE(t *testing.T) {
	out, err := helper("descriptors").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	fields := strings.Fields(string(out))
	if len(fields) != 3 || fields[0] != "ok" {
		t.Fatalf("%s", out)
	}
	refused, _ := strconv.Atoi(fields[1])
	ran, _ := strconv.Atoi(fields[2])
	if refused < 5 || ran < 3 {
		t.Errorf("%d starts were refused and %d were not", refused, ran)
	}
}
