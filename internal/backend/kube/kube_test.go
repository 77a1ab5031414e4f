//go:build unix

package kube

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
	"github.com/tailrace/tailrace/internal/project"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A cluster is a folder with a kubectl that is a script in it.
type cluster struct{ dir string }

func newCluster(t *testing.T, script string) cluster {
	t.Helper()
	c := cluster{t.TempDir()}
	c.put(t, "kubectl", "#!/bin/sh\necho \"$@\" >> $DIR/calls\n"+script)
	if err := os.Chmod(filepath.Join(c.dir, "kubectl"), 0o755); err != nil {
		t.Fatal(err)
	}
	return c
}

// put replaces a file as a whole.
func (c cluster) put(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join(c.dir, name)
	if err := os.WriteFile(path+".new", []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

func (c cluster) calls() string {
	text, _ := os.ReadFile(filepath.Join(c.dir, "calls"))
	return string(text)
}

func (c cluster) options(o Options) Options {
	o.Env = []string{"PATH=" + c.dir + ":" + os.Getenv("PATH"), "DIR=" + c.dir}
	o.lookEvery = 20 * time.Millisecond
	if o.Pod == "" {
		o.Selector = "app=web"
	}
	return o
}

func read(ctx context.Context, o Options, each func(backend.Item) bool) error {
	s := Open(o)
	defer s.Close()
	for items := range s.Batches(ctx) {
		for _, item := range items {
			if !each(item) {
				return s.Err()
			}
		}
	}
	return s.Err()
}

func text(item backend.Item) string {
	if n := item.Notice; n != nil {
		return fmt.Sprintf("notice %d", n.Dropped)
	}
	return item.Record.Instance + "/" + item.Record.Service + " " + string(item.Record.Line)
}

func TestSnapshot(t *testing.T) {
	c := newCluster(t, `cat <<'END'
[pod/web-1/app] 2026-03-01T10:00:02.000000001Z two
[pod/web-1/app] 2026-03-01T10:00:04Z [pod/x/y] 2026-03-01T10:00:00Z four
[pod/web-1/side] error: container "side" in pod "web-1" is waiting to start: ContainerCreating
[pod/web-2/app] 2026-03-01T10:00:01Z one
[pod/web-2/app] 2026-03-01T10:00:03Z
[pod/web-2/app] 2026-03-01T10:00:04Z four too
END`)
	all := []string{"web-2/app one", "web-1/app two", "web-2/app ", "web-1/app [pod/x/y] 2026-03-01T10:00:00Z four", "web-2/app four too"}
	for lines, want := range map[int][]string{-1: all, 10: all, 2: all[3:], 0: nil} {
		var got []string
		err := read(t.Context(), c.options(Options{Lines: lines}), func(i backend.Item) bool { got = append(got, text(i)); return true })
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%d lines: got %q, %v", lines, got, err)
		}
	}
}

// S5: a value is one argument together with its flag, or behind pod/.
func TestS5_Args(t *testing.T) {
	at := time.Date(2026, 3, 1, 10, 0, 0, 5e8, time.UTC)
	for want, o := range map[string]Options{
		"logs --context=-c --namespace=-n --timestamps --prefix --ignore-errors --tail=5 --since-time=2026-03-01T10:00:00Z --previous --container=-x --selector=-s": {
			Kubernetes: project.Kubernetes{Context: "-c", Namespace: "-n", Container: "-x", Selector: "-s", Previous: true}, Lines: 5, Since: at},
		"logs --timestamps --prefix --ignore-errors --tail=-1 --all-containers pod/-p": {Kubernetes: project.Kubernetes{Pod: "-p"}, Lines: -1},
	} {
		if got := strings.Join(o.snapshotArgs(), " "); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func TestErrors(t *testing.T) {
	for says, want := range map[string]backend.Code{
		"No resources found in default namespace.":                               backend.CodeNotFound,
		"Error from server (Forbidden): pods is forbidden: s3cret":               backend.CodeDenied,
		"error: You must be logged in to the server (Unauthorized)":              backend.CodeDenied,
		`error: context "s3cret" does not exist`:                                 backend.CodeUsage,
		"The connection to the server localhost:8080 was refused - s3cret":       backend.CodeUnreachable,
		"Unable to connect to the server: dial tcp: lookup s3cret: no such host": backend.CodeUnreachable,
		`Error from server (NotFound): pods "s3cret" not found`:                  backend.CodeNotFound,
		`error: container s3cret is not valid for pod web`:                       backend.CodeNotFound,
		"s3cret": backend.CodeFailed,
	} {
		exit := 1
		if strings.HasPrefix(says, "No resources") {
			exit = 0
		}
		c := newCluster(t, fmt.Sprintf("echo '%s' >&2; exit %d", says, exit))
		for _, follow := range []bool{false, true} {
			if follow && exit == 0 {
				continue // pods may come
			}
			err := read(t.Context(), c.options(Options{Follow: follow}), func(backend.Item) bool { return true })
			var known *backend.Error
			if !errors.As(err, &known) || known.Code != want || strings.Contains(err.Error(), "s3cret") {
				t.Errorf("%s, follow %v: got %v, want %s", says, follow, err, want)
			}
		}
	}
	o := newCluster(t, "").options(Options{})
	o.Env = []string{"PATH=/none"}
	var known *backend.Error
	if err := read(t.Context(), o, nil); !errors.As(err, &known) || known.Code != backend.CodeToolMissing {
		t.Errorf("no kubectl: %v", err)
	}
	c := newCluster(t, `echo '{"items":[]}'`)
	if err := read(t.Context(), c.options(Options{Follow: true, Kubernetes: project.Kubernetes{Pod: "x"}}), nil); !errors.As(err, &known) || known.Code != backend.CodeNotFound {
		t.Errorf("no such pod: %v", err)
	}
	c = newCluster(t, `echo '[pod/a/b] error: something else'`)
	var got []string
	if err := read(t.Context(), c.options(Options{}), func(i backend.Item) bool { got = append(got, text(i)); return true }); err != nil || !slices.Equal(got, []string{"notice 0"}) {
		t.Errorf("a container that cannot be read: %q %v", got, err)
	}
}

func podsJSON(pods ...string) string {
	return `{"items":[` + strings.Join(pods, ",") + `]}`
}

func pod(name string, restarts int, state string) string {
	return fmt.Sprintf(`{"metadata":{"name":%q,"uid":"uid-%s"},"status":{"containerStatuses":[{"name":"app","restartCount":%d,"state":{%q:{}}}]}}`, name, name, restarts, state)
}

// A follow goes on where it ended when the stream breaks off, reads the end of a container
// that was started again and then the new one, takes new pods from their beginning, and
// survives looks that fail.
func TestFollow(t *testing.T) {
	c := newCluster(t, `
case "$1" in
get) cat $DIR/pods || exit 1 ;;
logs)
	name=log; follow=
	for a in "$@"; do case "$a" in --previous) name=previous;; --follow) follow=1;; pod/*) name=$name-${a#pod/};; esac; done
	cat $DIR/$name 2>/dev/null
	# As long as there is this file, the stream lasts.
	while [ -n "$follow" -a -e $DIR/lasts-$name ]; do sleep 0.02; done ;;
esac`)
	c.put(t, "pods", podsJSON(pod("a", 0, "running"), pod("w", 0, "waiting")))
	c.put(t, "lasts-log-a", "")
	c.put(t, "log-a", "2026-03-01T10:00:01.1Z one\n2026-03-01T10:00:01.1Z two\n")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	got := make(chan string, 1000)
	done := make(chan error, 1)
	go func() {
		done <- read(ctx, c.options(Options{Follow: true, Lines: 7}), func(i backend.Item) bool { got <- text(i); return true })
	}()
	want := func(lines ...string) {
		t.Helper()
		for _, line := range lines {
			select {
			case is := <-got:
				if is != line {
					t.Fatalf("got %q, want %q\n%s", is, line, c.calls())
				}
			case <-time.After(20 * time.Second):
				t.Fatalf("nothing came, want %q\n%s", line, c.calls())
			}
		}
	}
	want("a/app one", "a/app two")
	// The stream breaks off: the log is read again, and what is known left out.
	c.put(t, "log-a", "2026-03-01T10:00:01.05Z zero\n2026-03-01T10:00:01.1Z one\n2026-03-01T10:00:01.1Z two\n2026-03-01T10:00:01.1Z three\n2026-03-01T10:00:02Z four\n")
	if err := os.Remove(filepath.Join(c.dir, "lasts-log-a")); err != nil {
		t.Fatal(err)
	}
	want("a/app three", "a/app four")
	// Looks that fail are no failure.
	if err := os.Remove(filepath.Join(c.dir, "pods")); err != nil {
		t.Fatal(err)
	}
	looks := strings.Count(c.calls(), "get pods")
	for deadline := time.Now().Add(20 * time.Second); strings.Count(c.calls(), "get pods") < looks+2; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the pods are not looked at any more")
		}
	}
	// It is started again: the end of the old one, then the new one; and a new pod.
	c.put(t, "previous-a", "2026-03-01T10:00:02Z four\n2026-03-01T10:00:03Z five\n")
	c.put(t, "log-a", "2026-03-01T10:00:04Z six\n")
	c.put(t, "lasts-log-a", "")
	c.put(t, "pods", podsJSON(pod("a", 1, "running")))
	want("a/app five", "a/app six")
	c.put(t, "log-b", "2026-03-01T10:00:00Z b one\n2026-03-01T10:00:05Z b two\n")
	c.put(t, "pods", podsJSON(pod("a", 1, "running"), pod("b", 0, "terminated")))
	want("b/app b one", "b/app b two")
	// Several restarts at once: what lies between is said to be missing.
	c.put(t, "previous-a", "2026-03-01T10:00:08Z eight\n")
	c.put(t, "pods", podsJSON(pod("a", 3, "running"), pod("b", 0, "terminated")))
	c.put(t, "log-a", "2026-03-01T10:00:09Z nine\n")
	if err := os.Remove(filepath.Join(c.dir, "lasts-log-a")); err != nil {
		t.Fatal(err)
	}
	rest := map[string]bool{}
	for len(rest) < 3 {
		select {
		case line := <-got:
			rest[line] = true
		case <-time.After(20 * time.Second):
			t.Fatalf("only %v came\n%s", rest, c.calls())
		}
	}
	if !rest["notice 1"] || !rest["a/app eight"] || !rest["a/app nine"] {
		t.Errorf("got %v", rest)
	}
	cancel()
	if err := <-done; err != nil {
		t.Errorf("a stop is a failure: %v", err)
	}
	for len(got) > 0 {
		t.Errorf("too much came: %q", <-got)
	}
	if calls := c.calls(); !strings.Contains(calls, "--follow --tail=7 --timestamps --container=app pod/a") || strings.Contains(calls, "pod/w") {
		t.Errorf("calls were:\n%s", calls)
	}
}
