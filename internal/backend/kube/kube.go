// Package kube reads the logs of pods by the program kubectl.
//
// A snapshot is one run of kubectl over all containers, put in the order of its timestamps. A
// follow has one run for each container and looks at the pods every few seconds: for pods
// that come and go, and for containers that were started again, whose logs go on where they
// ended.
package kube

import (
	"bytes"
	"context"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tailrace/tailrace/internal/backend"
	"github.com/tailrace/tailrace/internal/backend/tool"
	"github.com/tailrace/tailrace/internal/logline"
	"github.com/tailrace/tailrace/internal/project"
)

const (
	// maxHeld bounds what a snapshot keeps to put it in order, in bytes.
	maxHeld = 64 << 20
	// lookEvery is how often a follow looks at the pods.
	lookEvery = 3 * time.Second
)

const missing = "kubectl was not found: install it, or put its folder on the PATH"

// Options say what is read.
type Options struct {
	project.Kubernetes
	// Env is the environment of kubectl.
	Env []string
	// Lines is how many of the last lines are read: of all in a snapshot, of each container
	// at the begin of a follow. A negative number means all.
	Lines int
	// Follow goes on with new lines.
	Follow bool
	// Since is the time that lines begin with; zero means no such bound.
	Since time.Time

	lookEvery time.Duration // for tests; 0 means the usual
}

// A Source is the log of pods as a [backend.Source].
type Source struct {
	o   Options
	err error
}

// Open returns a source. Whether there is a cluster shows when it is read.
func Open(o Options) *Source {
	if o.lookEvery == 0 {
		o.lookEvery = lookEvery
	}
	return &Source{o: o}
}

// where are the arguments that say which cluster and namespace is meant.
func (o *Options) where() []string {
	var args []string
	for _, v := range [...][2]string{{"--context=", o.Context}, {"--namespace=", o.Namespace}} {
		if v[1] != "" {
			args = append(args, v[0]+v[1])
		}
	}
	return args
}

// since is the argument for a time, which kubectl takes in whole seconds.
func since(t time.Time) []string {
	if t.IsZero() {
		return nil
	}
	return []string{"--since-time=" + t.UTC().Truncate(time.Second).Format(time.RFC3339)}
}

// snapshotArgs are the arguments of a snapshot.
func (o *Options) snapshotArgs() []string {
	args := append([]string{"logs"}, o.where()...)
	args = append(args, "--timestamps", "--prefix", "--ignore-errors", "--tail="+strconv.Itoa(max(o.Lines, -1)))
	args = append(args, since(o.Since)...)
	if o.Previous {
		args = append(args, "--previous")
	}
	if o.Container != "" {
		args = append(args, "--container="+o.Container)
	} else {
		args = append(args, "--all-containers")
	}
	if o.Selector != "" {
		return append(args, "--selector="+o.Selector)
	}
	return append(args, "pod/"+o.Pod)
}

// Batches yields the lines.
func (s *Source) Batches(ctx context.Context) iter.Seq[[]backend.Item] {
	return func(yield func([]backend.Item) bool) {
		var err error
		if s.o.Follow && !s.o.Previous {
			err = s.follow(ctx, yield)
		} else {
			err = s.snapshot(ctx, yield)
		}
		if ctx.Err() == nil {
			s.err = err
		}
	}
}

func (s *Source) snapshot(ctx context.Context, yield func([]backend.Item) bool) error {
	var all []backend.Item
	held, dropped, unread := 0, 0, false
	result, err := tool.Run(ctx, tool.Command{Name: "kubectl", Args: s.o.snapshotArgs(), Env: s.o.Env, Missing: missing}, func(line []byte) bool {
		pod, container, rest := prefix(line)
		r, ok := record(pod, container, rest)
		if !ok {
			// Not a line of a log: what kubectl says of a container that it cannot read.
			unread = unread || !harmless(string(line))
			return true
		}
		r.Line = bytes.Clone(r.Line)
		if held += len(r.Line) + 256; held > maxHeld {
			dropped++
			return true
		}
		all = append(all, backend.Item{Record: r})
		return true
	}, func() bool { return true })
	if err != nil || ctx.Err() != nil {
		return err
	}
	slices.SortStableFunc(all, func(a, b backend.Item) int { return a.Record.Time.Compare(b.Record.Time) })
	if n := len(all) - s.o.Lines; s.o.Lines >= 0 && n > 0 {
		all = all[n:]
	}
	if dropped += result.Long; dropped > 0 {
		all = append(all, backend.Item{Notice: &backend.Notice{Dropped: dropped, Message: "the lines took more than 64 MiB: some are missing; ask for fewer, or for fewer pods"}})
	}
	if unread {
		all = append(all, backend.Item{Notice: &backend.Notice{Message: "the log of a container cannot be read: see kubectl logs"}})
	}
	if len(all) > 0 && !yield(all) {
		return nil
	}
	if err := problem(result, len(all) == 0); err != nil || len(all) > 0 || s.o.Lines == 0 || s.o.Selector == "" {
		return err
	}
	// Older versions of kubectl say nothing where no pod matches.
	if some, err := s.o.pods(ctx); err != nil || len(some) > 0 || ctx.Err() != nil {
		return err
	}
	return errNoPod
}

var errNoPod = &backend.Error{Code: backend.CodeNotFound, Problem: "no pod matches: check the selector or the name, and the namespace"}

// harmless says whether what kubectl says of a container only means that it has no log.
func harmless(text string) bool {
	for _, s := range [...]string{"waiting to start", "previous terminated container", "PodInitializing", "ContainerCreating"} {
		if strings.Contains(text, s) {
			return true
		}
	}
	return strings.TrimSpace(text) == ""
}

// prefix splits a line of kubectl into the pod, the container and the rest.
func prefix(line []byte) (pod, container string, rest []byte) {
	inside, rest, ok := bytes.Cut(line, []byte("] "))
	if !ok || !bytes.HasPrefix(inside, []byte("[pod/")) {
		return "", "", line
	}
	name := string(inside[len("[pod/"):])
	pod, container, _ = strings.Cut(name, "/")
	return pod, container, rest
}

// record makes a record of a line that begins with the time that the cluster gave it. It is
// false for a line that does not.
func record(pod, container string, line []byte) (logline.Record, bool) {
	stamp, text, _ := bytes.Cut(line, []byte{' '})
	t, err := time.Parse(time.RFC3339Nano, string(stamp))
	if err != nil {
		return logline.Record{}, false
	}
	return logline.Record{
		Line: text, Time: t, Service: container, Instance: pod,
		Labels: map[string]string{"pod": pod, "container": container},
	}, true
}

// problem says why kubectl failed; nil where it did not.
func problem(r tool.Result, empty bool) error {
	e := &backend.Error{Exit: r.Exit.Code}
	switch {
	case !r.Exit.Failed() && empty && r.Says("No resources found"):
		return errNoPod
	case !r.Exit.Failed():
		return nil
	case r.Says("orbidden", "nauthorized", "must be logged in", "provide credentials"):
		e.Code, e.Problem = backend.CodeDenied, "the cluster refuses: check the rights and the credentials of kubectl"
	case r.Says("context was not found", "does not exist", "no configuration has been provided", "nvalid configuration", "error loading config"):
		e.Code, e.Problem = backend.CodeUsage, "kubectl has no such context or no configuration: check kubectl config"
	case r.Says("onnection refused", "was refused", "no such host", "nable to connect", "timeout", "timed out", "certificate"):
		e.Code, e.Problem = backend.CodeUnreachable, "the cluster does not answer: start it, or check the context of kubectl"
	case r.Says("otFound", "not found", "is not valid for pod", "waiting to start"):
		e.Code, e.Problem = backend.CodeNotFound, "there is no such pod or container, or it has no log yet: check the names, and the namespace"
	default:
		e.Code, e.Problem = backend.CodeFailed, "kubectl failed with exit code "+strconv.Itoa(r.Exit.Code)+": run it by hand to see why"
	}
	return e
}

// Err says why the log could not be read to its end.
func (s *Source) Err() error { return s.err }

// Close does nothing: what was run has ended with the loop.
func (s *Source) Close() error { return nil }
