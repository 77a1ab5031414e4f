package lifecycle

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"runtime"
	"syscall"
	"testing"
)

func docker(t *testing.T, do string) *Docker {
	t.Helper()
	d, err := NewDocker(dockerContext(t, do))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestNewDocker(t *testing.T) {
	if _, err := NewDocker(testContext(t, "PATH="+t.TempDir())); !errors.Is(err, ErrNoDocker) {
		t.Errorf("got %v", err)
	}
	// A docker in a relative folder of PATH may be a repository's own.
	c := dockerContext(t, "")
	if err := os.WriteFile(c.Cwd+"/docker", []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	c.Env = []string{"PATH=.:"}
	if _, err := NewDocker(c); !errors.Is(err, ErrNoDocker) {
		t.Errorf("got %v", err)
	}
}

func TestDockerOutput(t *testing.T) {
	for _, c := range []struct {
		do, out string
		code    int
		err     error
	}{
		{"print:text", "text", 0, nil},
		{"code:17", "", 17, nil},
		{"die", "", 137, nil},
		{"flood:17", "", 0, ErrOutput},
	} {
		out, code, err := docker(t, c.do).output(t.Context(), "", nil)
		if string(out) != c.out || c.err == nil && code != c.code || !errors.Is(err, c.err) {
			t.Errorf("%s: %d bytes, code %d, %v", c.do, len(out), code, err)
		}
	}
}

func TestDockerRun(t *testing.T) {
	d := docker(t, "wait")
	signals := make(chan os.Signal, 1)
	r, w := io.Pipe()
	type end struct {
		code int
		err  error
	}
	ended := make(chan end, 1)
	go func() {
		code, err := d.run(t.Context(), "", nil, Stdio{Stdout: w, Signals: signals})
		w.Close()
		ended <- end{code, err}
	}()
	if line, err := bufio.NewReader(r).ReadString('\n'); err != nil || line != "ready\n" {
		t.Fatalf("%q, %v", line, err)
	}
	signals <- syscall.SIGTERM
	if e := <-ended; e.code != 7 || e.err != nil {
		t.Errorf("handed on: %+v", e)
	}
	var out bytes.Buffer
	if code, err := docker(t, "print:x").run(t.Context(), "", nil, Stdio{Stdout: &out}); code != 0 || err != nil || out.String() != "x" {
		t.Errorf("%d, %v, %q", code, err, out.String())
	}
	gone := &Docker{path: "/nonexistent/docker"}
	if _, err := gone.run(t.Context(), "", nil, Stdio{}); !errors.Is(err, ErrUnstarted) {
		t.Errorf("got %v", err)
	}
	if _, _, err := gone.output(t.Context(), "", nil); !errors.Is(err, ErrUnstarted) {
		t.Errorf("got %v", err)
	}
}

// TestDockerLeavesNothing: no descriptor of a run stays open.
func TestDockerLeavesNothing(t *testing.T) {
	if runtime.GOOS != "linux" {
		return // where there is no /proc, nothing counts them
	}
	count := func() int {
		list, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(list)
	}
	d := docker(t, "print:x")
	if _, _, err := d.output(t.Context(), "", nil); err != nil {
		t.Fatal(err)
	}
	before := count()
	for range 5 {
		if _, _, err := d.output(t.Context(), "", nil); err != nil {
			t.Fatal(err)
		}
	}
	if after := count(); after > before {
		t.Errorf("%d descriptors, before %d", after, before)
	}
}

func TestObjects(t *testing.T) {
	for _, c := range []struct {
		in string
		n  int
		ok bool
	}{
		{"", 0, true}, {"\n", 0, true}, {"{}\n{}\n", 2, true}, {"[{},{}]", 2, true}, {"[]", 0, true},
		{"{", 0, false}, {"null", 0, false}, {"text", 0, false}, {"{} 1", 0, false},
	} {
		got, err := objects([]byte(c.in))
		if len(got) != c.n || (err == nil) != c.ok || err != nil && !errors.Is(err, ErrOutput) {
			t.Errorf("%q: %d, %v", c.in, len(got), err)
		}
	}
}
