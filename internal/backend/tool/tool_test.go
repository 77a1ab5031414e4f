//go:build unix

package tool

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tailrace/tailrace/internal/backend"
	"github.com/tailrace/tailrace/pipeline"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// command is a program that is a script.
func command(t *testing.T, script string, args ...string) Command {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "reader"), []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
	return Command{Name: "reader", Args: args, Env: []string{"PATH=" + dir + ":" + os.Getenv("PATH"), "LC_ALL=de_DE"}, Missing: "install it"}
}

func run(t *testing.T, c Command) (lines []string, r Result, err error) {
	t.Helper()
	r, err = Run(t.Context(), c, func(line []byte) bool { lines = append(lines, string(line)); return true }, func() bool { return true })
	return lines, r, err
}

// S5: arguments reach the program as they are, and its messages are those it has in C.
func TestS5_Arguments(t *testing.T) {
	args := []string{"--a=$(id)", "", "b c", "'\"\\", "*"}
	lines, r, err := run(t, command(t, `for a in "$@" "$LC_ALL"; do echo "<$a>"; done; echo "no such thing" >&2; printf last; exit 3`, args...))
	want := []string{"<--a=$(id)>", "<>", "<b c>", "<'\"\\>", "<*>", "<C>", "last"}
	if err != nil || !slices.Equal(lines, want) || r.Exit.Code != 3 || !r.Says("another", "such thing") || r.Says("install") {
		t.Errorf("got %q, %+v, %v", lines, r, err)
	}
}

func TestRun_StartErrors(t *testing.T) {
	c := command(t, "")
	c.Env = []string{"PATH=/none"}
	var known *backend.Error
	if _, _, err := run(t, c); !errors.As(err, &known) || known.Code != backend.CodeToolMissing || known.Problem != "install it" {
		t.Errorf("not there: %v", err)
	}
	c = command(t, "")
	dir := filepath.Dir(strings.TrimPrefix(strings.Split(c.Env[0], ":")[0], "PATH=") + "/x")
	if err := os.Chmod(filepath.Join(dir, "reader"), 0o644); err != nil {
		t.Fatal(err)
	}
	c.Env = []string{"PATH=" + dir}
	if _, _, err := run(t, c); !errors.As(err, &known) || strings.Contains(err.Error(), dir) {
		t.Errorf("not executable: %v", err)
	}
}

// A stop ends the program, be it by the context or by a callback.
func TestS2_Stop(t *testing.T) {
	for _, by := range []string{"context", "line", "pause"} {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		r, err := Run(ctx, command(t, `echo $$; exec sleep 60`), func([]byte) bool {
			if by == "context" {
				cancel()
			}
			return by != "line"
		}, func() bool { return by != "pause" })
		if err != nil || r.Exit.End == pipeline.EndSource {
			t.Errorf("%s: %+v, %v", by, r, err)
		}
		cancel()
	}
}

// Where pieces are cut changes nothing, and a line that is too long is left out and counted.
func TestSplitter(t *testing.T) {
	split := func(pieces ...string) string {
		var lines []string
		s := splitter{line: func(line []byte) bool {
			lines = append(lines, fmt.Sprintf("%d:%.3s", len(line), line))
			return true
		}}
		for _, p := range pieces {
			s.feed([]byte(p))
		}
		return fmt.Sprint(lines, s.long, len(s.held))
	}
	const in = "a\n\nbcd\nef"
	for i := range in {
		for j := i; j < len(in); j++ {
			if got := split(in[:i], in[i:j], in[j:]); got != "[1:a 0: 3:bcd] 0 2" {
				t.Fatalf("cut at %d and %d: %s", i, j, got)
			}
		}
	}
	long := strings.Repeat("x", maxLine/2+1)
	if got := split("a\n", long, long, long, "\nb\n"+long, long, "\nc\n"); got != "[1:a 1:b 1:c] 2 0" {
		t.Errorf("got %s", got)
	}
}
