//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Two followed files: their last lines first, then what is appended, as it arrives.
func TestLogs_FollowsFiles(t *testing.T) {
	root := t.TempDir()
	path := func(name string) string { return filepath.Join(root, name) }
	appendTo := func(name, text string) { t.Helper(); appendFile(t, path(name), text) }
	appendTo("a.log", "old 1\nold 2\nold 3\n")
	appendTo("b.log", "other\n")
	cmd, out := startIn(t, root, "version: 1\nsources:\n  a: {file: a.log}\n  b: {file: b.log}\n", "logs", "--tail", "2")
	first := map[string]bool{}
	for range 3 {
		first[readLine(t, out)] = true
	}
	if !first["a | old 2"] || !first["a | old 3"] || !first["b | other"] {
		t.Fatalf("got %v", first)
	}
	for i := range 20 {
		name := []string{"a", "b"}[i%2]
		appendTo(name+".log", fmt.Sprintf("new %d\n", i))
		if got, want := readLine(t, out), fmt.Sprintf("%s | new %d", name, i); got != want {
			t.Fatalf("got %q, want %q", got, want)
		}
	}
	// A line is shown when it is whole.
	appendTo("a.log", "in two ")
	appendTo("b.log", "meanwhile\n")
	if got := readLine(t, out); got != "b | meanwhile" {
		t.Errorf("got %q", got)
	}
	appendTo("a.log", "pieces\n")
	if got := readLine(t, out); got != "a | in two pieces" {
		t.Errorf("got %q", got)
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err == nil || !strings.Contains(err.Error(), "143") {
		t.Errorf("got %v, want exit code 143", err)
	}
}

// With --tail 0 the first line is one that was added.
func TestLogs_FollowsFromTheEnd(t *testing.T) {
	root := t.TempDir()
	log := filepath.Join(root, "a.log")
	appendFile(t, log, "old\n")
	cmd, out := startIn(t, root, "version: 1\nsources:\n  a: {file: a.log}\n", "logs", "--tail", "0")
	lines := make(chan string, 1)
	go func() {
		line, _ := out.ReadString('\n')
		lines <- line
	}()
	// Nothing tells when the process has opened the file, so go on until it says a line.
	for i := 0; ; i++ {
		appendFile(t, log, fmt.Sprintf("new %d\n", i))
		select {
		case line := <-lines:
			if !strings.HasPrefix(line, "new ") {
				t.Errorf("got %q", line)
			}
			if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
				t.Fatal(err)
			}
			if err := cmd.Wait(); err == nil || !strings.Contains(err.Error(), "130") {
				t.Errorf("got %v, want exit code 130", err)
			}
			return
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func appendFile(t *testing.T, path, text string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}
