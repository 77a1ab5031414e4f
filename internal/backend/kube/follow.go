package kube

import (
	"bytes"
	"context"
	"strconv"
	"sync"
	"time"

	"github.com/tailrace/tailrace/internal/backend"
	"github.com/tailrace/tailrace/internal/backend/tool"
)

// misses is how often in a row the pods may not be seen before that is a failure.
const misses = 20

// A followed container has the goroutine that reads its log.
type followed struct {
	state chan container // the newest state, for the goroutine; closed when the pod is gone
}

// follow follows the containers until ctx is done or the consumer stops.
func (s *Source) follow(ctx context.Context, yield func([]backend.Item) bool) error {
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	batches := make(chan []backend.Item)
	looks := make(chan []container)
	failed := make(chan error, 1)
	wg.Go(func() { s.look(ctx, looks, failed) })
	all := map[string]*followed{}
	for first := true; ; {
		select {
		case batch := <-batches:
			if !yield(batch) {
				return nil
			}
		case now := <-looks:
			if first && len(now) == 0 && s.o.Selector == "" {
				return &backend.Error{Code: backend.CodeNotFound, Problem: "there is no such pod: check the name, and the namespace"}
			}
			here := map[string]bool{}
			for _, c := range now {
				here[c.key()] = true
				f := all[c.key()]
				if f == nil {
					f = &followed{state: make(chan container, 1)}
					all[c.key()] = f
					lines := -1 // of a pod that comes later, all
					if first {
						lines = s.o.Lines
					}
					wg.Go(func() { s.container(ctx, f, lines, batches) })
				}
				// Only the newest state counts.
				select {
				case <-f.state:
				default:
				}
				f.state <- c
			}
			for k, f := range all {
				if !here[k] {
					close(f.state)
					delete(all, k)
				}
			}
			first = false
		case err := <-failed:
			return err
		case <-ctx.Done():
			return nil
		}
	}
}

// look looks at the pods every few seconds. A cluster that cannot be seen for a while is no
// failure; one that never could be, or that refuses, is.
func (s *Source) look(ctx context.Context, looks chan<- []container, failed chan<- error) {
	tick := time.NewTicker(s.o.lookEvery)
	defer tick.Stop()
	for missed, seen := 0, false; ; {
		began := time.Now()
		now, err := s.o.pods(ctx)
		for i := range now {
			now[i].seen = began
		}
		switch {
		case ctx.Err() != nil:
			return
		case err == nil:
			missed, seen = 0, true
			select {
			case looks <- now:
			case <-ctx.Done():
				return
			}
		default:
			if missed++; !seen || missed > misses {
				failed <- err
				return
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// A position is how far the log of a container was read: the time of the last line, and how
// many lines had it.
type position struct {
	last  time.Time
	count int
	begin time.Time
}

// from is the time from which the log is read again.
func (p position) from() time.Time {
	if p.last.IsZero() {
		return p.begin
	}
	return p.last
}

// container reads the log of one container, over its restarts.
func (s *Source) container(ctx context.Context, f *followed, lines int, batches chan<- []backend.Item) {
	// What is read again begins with the last line, or, where there was none, with now.
	p := position{begin: time.Now()}
	restarts, read := 0, false
	var ended time.Time
	for {
		var c container
		var open bool
		select {
		case c, open = <-f.state:
		case <-ctx.Done():
			return
		}
		switch {
		case !open:
			return
		case c.seen.Before(ended):
			continue // of before the stream ended: it may have been started again since
		case !c.started, read && !c.running && c.restarts == restarts:
			continue // no log, or none that is not known
		}
		if read && c.restarts > restarts {
			// What it still wrote before it was started again.
			if c.restarts > restarts+1 && !send(ctx, batches, []backend.Item{{Notice: &backend.Notice{
				Dropped: 1, Message: "a container was started again several times at once: the logs between are gone",
			}}}) {
				return
			}
			s.run(ctx, c, &p, batches, append(since(p.from()), "--previous", "--tail=-1"))
		}
		args := []string{"--follow", "--tail=-1"}
		if !read {
			args = append([]string{"--follow", "--tail=" + strconv.Itoa(max(lines, -1))}, since(s.o.Since)...)
		} else {
			args = append(args, since(p.from())...)
		}
		restarts, read = c.restarts, true
		s.run(ctx, c, &p, batches, args)
		ended = time.Now()
	}
}

// run runs kubectl once for a container and gives on what lies behind a position. How it
// ends is not looked at: the next look at the pods says what there is to do.
func (s *Source) run(ctx context.Context, c container, p *position, batches chan<- []backend.Item, args []string) {
	args = append(append([]string{"logs"}, s.o.where()...), append(args, "--timestamps", "--container="+c.name, "pod/"+c.pod)...)
	from, skipped := *p, 0
	var batch []backend.Item
	give := func() bool {
		if len(batch) == 0 {
			return true
		}
		ok := send(ctx, batches, batch)
		batch = nil
		return ok
	}
	_, _ = tool.Run(ctx, tool.Command{Name: "kubectl", Args: args, Env: s.o.Env, Missing: missing}, func(line []byte) bool {
		r, ok := record(c.pod, c.name, line)
		if !ok {
			return true
		}
		if !from.last.IsZero() {
			if r.Time.Before(from.last) {
				return true
			}
			if r.Time.Equal(from.last) && skipped < from.count {
				skipped++
				return true
			}
			from = position{}
		}
		if r.Time.Equal(p.last) {
			p.count++
		} else {
			p.last, p.count = r.Time, 1
		}
		r.Line = bytes.Clone(r.Line)
		batch = append(batch, backend.Item{Record: r})
		return len(batch) < 1000 || give()
	}, give)
}

func send(ctx context.Context, batches chan<- []backend.Item, batch []backend.Item) bool {
	select {
	case batches <- batch:
		return true
	case <-ctx.Done():
		return false
	}
}
