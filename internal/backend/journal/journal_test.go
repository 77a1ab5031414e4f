//go:build unix

package journal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tailrace/tailrace/internal/backend"
	"github.com/tailrace/tailrace/internal/project"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fake puts a journalctl that is a script on a PATH of its own.
func fake(t *testing.T, script string) (env []string, dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "journalctl"), []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "x.journal"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	return []string{"PATH=" + dir + ":" + os.Getenv("PATH"), "DIR=" + dir}, dir
}

func all(t *testing.T, ctx context.Context, o Options, until func(text string) bool) (texts []string, err error) {
	t.Helper()
	s, err := Open(o)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	for items := range s.Batches(ctx) {
		for _, item := range items {
			if item.Notice != nil {
				texts = append(texts, fmt.Sprintf("%d dropped", item.Notice.Dropped))
				continue
			}
			texts = append(texts, string(item.Record.Line))
			if until != nil && until(texts[len(texts)-1]) {
				return texts, s.Err()
			}
		}
	}
	return texts, s.Err()
}

// A follow goes on behind its last entry, by the cursor, when journalctl ends.
func TestFollow_GoesOnByCursor(t *testing.T) {
	env, dir := fake(t, `
n=0
for a in "$@"; do case "$a" in --after-cursor=*) n=${a#--after-cursor=};; esac; done
echo "$@" >> $DIR/calls
for i in 1 2; do n=$((n+1)); printf '{"__CURSOR":"%s","__REALTIME_TIMESTAMP":"%s","MESSAGE":"entry %s"}\n' $n $n $n; done
kill -9 $$
`)
	texts, err := all(t, t.Context(), Options{Journal: project.Journal{Directory: dir}, Env: env, Lines: 2, Follow: true}, func(text string) bool { return text == "entry 6" })
	if err != nil || strings.Join(texts, ",") != "entry 1,entry 2,entry 3,entry 4,entry 5,entry 6" {
		t.Errorf("got %q, %v", texts, err)
	}
	calls, _ := os.ReadFile(filepath.Join(dir, "calls"))
	if n := strings.Count(string(calls), "\n"); n != 3 || strings.Count(string(calls), "--lines=2") != 1 {
		t.Errorf("calls were:\n%s", calls)
	}
}

func TestErrors(t *testing.T) {
	for name, tt := range map[string]struct {
		script string
		follow bool
		code   backend.Code
	}{
		"denied":           {"echo 's3cret: Permission denied' >&2; exit 1", false, backend.CodeDenied},
		"no journal":       {"echo 'Failed to open files: No data available' >&2; exit 1", false, backend.CodeNotFound},
		"another":          {"echo s3cret >&2; exit 7", false, backend.CodeFailed},
		"follow that ends": {"exit 3", true, backend.CodeFailed},
	} {
		env, dir := fake(t, tt.script)
		_, err := all(t, t.Context(), Options{Journal: project.Journal{Directory: dir}, Env: env, Follow: tt.follow}, nil)
		var known *backend.Error
		if !errors.As(err, &known) || known.Code != tt.code || strings.Contains(err.Error(), "s3cret") || known.Exit == 0 {
			t.Errorf("%s: got %v", name, err)
		}
	}
	env, dir := fake(t, "exit 0")
	if texts, err := all(t, t.Context(), Options{Journal: project.Journal{Directory: dir}, Env: env}, nil); err != nil || texts != nil {
		t.Errorf("an empty journal: %v %v", texts, err)
	}
	var known *backend.Error
	if _, err := all(t, t.Context(), Options{Journal: project.Journal{Directory: dir}, Env: []string{"PATH=/none"}}, nil); !errors.As(err, &known) || known.Code != backend.CodeToolMissing {
		t.Errorf("no journalctl: %v", err)
	}
	for _, o := range []project.Journal{{File: dir + "/none"}, {Directory: t.TempDir()}} {
		if _, err := Open(Options{Journal: o}); !errors.As(err, &known) || known.Code != backend.CodeNotFound || strings.Contains(err.Error(), dir) {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

// A stop ends the program, and is no failure.
func TestS2_Stop(t *testing.T) {
	env, dir := fake(t, `echo $$ > $DIR/pid; echo '{"__CURSOR":"1","MESSAGE":"x"}'; exec sleep 60`)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	texts, err := all(t, ctx, Options{Journal: project.Journal{Directory: dir}, Env: env, Follow: true}, func(string) bool { cancel(); return false })
	if err != nil || len(texts) != 1 {
		t.Errorf("got %q, %v", texts, err)
	}
	pid, _ := os.ReadFile(filepath.Join(dir, "pid"))
	if _, err := os.Stat("/proc/" + strings.TrimSpace(string(pid))); err == nil {
		t.Error("journalctl is still there")
	}
}
