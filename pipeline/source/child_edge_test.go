//go:build linux

package source_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/tailrace/tailrace/pipeline"
	"github.com/tailrace/tailrace/pipeline/source"
)

// awaitZombie waits until the leader has exited; it stays a zombie until its run is over.
func awaitZombie(t *testing.T, pid int) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		b, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		if bytes.Contains(b, []byte(") Z ")) {
			return
		}
	}
	t.Fatal("the child did not exit")
}

func TestO10_SlowConsumerLosesNothing(t *testing.T) {
	// The descendant keeps the pipe open, so that only the grace ends the reading. The
	// consumer is away until long after that.
	child := shell(t, "i=0; while [ $i -lt 2000 ]; do printf '%099d\\n' $i; i=$((i+1)); done; sleep 60 & exit 0")
	chunks := 0
	r := drain(context.Background(), child, func(*read) bool {
		switch chunks++; chunks {
		case 1:
			awaitZombie(t, child.Pid()) // the rest fills the queue and the pipe
		case 6:
			time.Sleep(pipeline.DrainGrace + 100*time.Millisecond) // by now the exit is known
		}
		return false
	})
	if e := child.Exit(); r.stdout.Len() != 200000 || r.cut || e.End != pipeline.EndSource || e.Code != 0 {
		t.Errorf("O10: %d bytes of 200000, cut %v, %+v", r.stdout.Len(), r.cut, e)
	}
}

func TestO10_CancelAfterTheExitEndsTheWait(t *testing.T) {
	child := shell(t, "echo out; sleep 60 & exit 4")
	ctx, cancel := context.WithCancel(context.Background())
	began := time.Now()
	r := drain(ctx, child, func(*read) bool {
		awaitZombie(t, child.Pid())
		// The status is taken a moment after the exit can be seen.
		time.AfterFunc(200*time.Millisecond, cancel)
		return false
	})
	if e := child.Exit(); e.End != pipeline.EndSource || e.Code != 4 || r.cut || r.stdout.String() != "out\n" {
		t.Errorf("O10: %+v cut %v %q after %v", e, r.cut, r.stdout.String(), time.Since(began))
	}
	child.Close()
	wantGone(t, child.Pid())
}

func TestCloseFromElsewhereIsACut(t *testing.T) {
	child := shell(t, "echo up; sleep 60")
	closed := make(chan error, 1)
	r := drain(context.Background(), child, func(r *read) bool {
		if r.stdout.Len() > 0 && !r.cut {
			go func() { closed <- child.Close() }()
		}
		return false
	})
	if e := child.Exit(); !r.cut || e.End != pipeline.EndConsumer || e.Code != 143 {
		t.Errorf("cut %v, %+v", r.cut, e)
	}
	if err := <-closed; err != nil {
		t.Error(err)
	}
	wantGone(t, child.Pid())
}

func TestLastValueOfAVariableCounts(t *testing.T) {
	child := shell(t, `printf %s "$A"; env | grep -c ^A=`, func(c *source.Command) {
		c.Env = append(os.Environ(), "A=first", "A=last")
	})
	if got := drain(context.Background(), child, nil).stdout.String(); got != "last1\n" {
		t.Errorf("%q", got)
	}
}

func TestRelativePathsAreTakenFromDir(t *testing.T) {
	root := t.TempDir()
	t.Chdir(root)
	if err := os.MkdirAll(filepath.Join(root, "sub", "bin"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "sub", "bin", "tool"), []byte("#!/bin/sh\necho here\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]source.Command{
		"path":            {Path: "./bin/tool", Dir: "sub"},
		"PATH":            {Path: "tool", Dir: "sub", Env: []string{"PATH=bin"}},
		"absolute folder": {Path: "bin/tool", Dir: filepath.Join(root, "sub")},
	} {
		t.Run(name, func(t *testing.T) {
			child, err := source.Start(c)
			if err != nil {
				t.Fatal(err)
			}
			defer child.Close()
			if got := drain(context.Background(), child, nil).stdout.String(); got != "here\n" {
				t.Errorf("%q", got)
			}
		})
	}
	// S5: the working directory itself is no place to look in.
	_, err := source.Start(source.Command{Path: "tool", Dir: filepath.Join("sub", "bin"), Env: []string{"PATH=/nonexistent"}})
	if !errors.Is(err, &source.SpawnError{Reason: source.CommandNotFound}) {
		t.Errorf("%v", err)
	}
}

func TestO11_DirectoryIsToldFromCommand(t *testing.T) {
	_, err := source.Start(source.Command{Path: "no-such-command-here", Dir: filepath.Join(t.TempDir(), "none")})
	if !errors.Is(err, &source.SpawnError{Reason: source.BadWorkingDirectory}) {
		t.Errorf("%v", err)
	}
	_, err = source.Start(source.Command{Path: filepath.Join(t.TempDir(), "none")})
	if !errors.Is(err, syscall.ENOENT) || errors.Is(err, &source.SpawnError{Reason: source.SpawnFailed}) {
		t.Errorf("%v", err)
	}
}

func TestS3_ChildIsGuarded(t *testing.T) {
	child := shell(t, "true")
	drain(context.Background(), child, nil)
	if !child.Guarded() {
		t.Error("S3: no guard knows the group")
	}
}
