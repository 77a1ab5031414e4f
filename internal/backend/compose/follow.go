package compose

import (
	"context"
	"sync"
	"time"

	"github.com/moby/moby/api/types/events"
	"github.com/moby/moby/client"

	"github.com/tailrace/tailrace/internal/backend"
)

// A follower follows the containers of a project.
type follower struct {
	*Source
	ctx     context.Context
	batches chan []backend.Item
	away    chan struct{} // closed once the engine is given up

	wg  sync.WaitGroup // of the containers
	mu  sync.Mutex
	all map[string]*followed
}

// A followed container has the goroutine that reads its log.
type followed struct {
	*container
	started chan struct{} // it may have been started
	removed chan struct{} // closed when it is gone
}

// follow yields what there is and what comes, until ctx is done, the consumer stops, or the
// engine does not answer any more.
func (s *Source) follow(ctx context.Context, yield func([]backend.Item) bool) error {
	ctx, cancel := context.WithCancel(ctx)
	f := &follower{Source: s, ctx: ctx, batches: make(chan []backend.Item), away: make(chan struct{}), all: map[string]*followed{}}
	var watching sync.WaitGroup
	defer watching.Wait()
	defer f.wg.Wait()
	defer cancel()
	// First the events, then the list: what starts in between is in both.
	happened := s.engine.events(ctx, s.o.Project)
	select {
	case err := <-happened.Err:
		return problem(err)
	default:
	}
	containers, err := s.containers(ctx)
	if err != nil {
		return err
	}
	if more, err := s.merge(ctx, containers, yield); err != nil || !more {
		return err
	}
	for _, c := range containers {
		f.begin(c)
	}
	failed := make(chan error, 1)
	watching.Go(func() { failed <- f.watch(happened) })
	var idle chan struct{}
	for {
		select {
		case items := <-f.batches:
			if !yield(items) {
				return nil
			}
		case err = <-failed:
			// What the engine has sent is still given on.
			close(f.away)
			idle = make(chan struct{})
			watching.Go(func() {
				f.wg.Wait()
				close(idle)
			})
		case <-idle:
			return err
		case <-ctx.Done():
			return nil
		}
	}
}

// begin follows a container. The caller holds the lock, or is the only one yet.
func (f *follower) begin(c *container) {
	one := &followed{container: c, started: make(chan struct{}, 1), removed: make(chan struct{})}
	f.all[c.id] = one
	f.wg.Go(func() { f.run(one) })
}

// run reads the log of one container over its starts, until it is gone.
func (f *follower) run(c *followed) {
	emit := func(items []backend.Item) bool { return send(f.ctx, f.batches, items) }
	for {
		err := f.tail(f.ctx, c.container, emit)
		if f.ctx.Err() != nil {
			return
		}
		if err != nil && unreadable(err) && !c.unreadable {
			c.unreadable = true
			emit([]backend.Item{c.notRead()})
		}
		// Any other failure is one of the engine, which the events tell of, or of a container
		// that is being removed.
		select {
		case <-c.started:
			continue
		default:
		}
		select {
		case <-c.started:
		case <-c.removed:
			return
		case <-f.away:
			return
		case <-f.ctx.Done():
			return
		}
	}
}

// watch handles the events, until ctx is done or the engine is given up.
func (f *follower) watch(happened client.EventsResult) error {
	for {
		select {
		case m := <-happened.Messages:
			f.handle(m)
		case <-happened.Err:
			if f.ctx.Err() != nil {
				return nil
			}
			again, ok := f.reconnect()
			if !ok {
				return errNoEngine
			}
			happened = again
		case <-f.ctx.Done():
			return nil
		}
	}
}

func (f *follower) handle(m events.Message) {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := f.all[m.Actor.ID]
	switch m.Action {
	case events.ActionStart:
		if c != nil {
			c.start()
		} else if n := newContainer(m.Actor.ID, m.Actor.Attributes); n != nil && f.wants(n.service) {
			f.begin(n)
		}
	case events.ActionDestroy:
		if c != nil {
			close(c.removed)
			delete(f.all, m.Actor.ID)
		}
	}
}

// start has the goroutine look at the log again.
func (c *followed) start() {
	select {
	case c.started <- struct{}{}:
	default:
	}
}

// reconnect waits for an engine that ended, and goes on with the containers that it has.
func (f *follower) reconnect() (client.EventsResult, bool) {
	end := time.Now().Add(f.o.awayTime)
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for time.Now().Before(end) {
		select {
		case <-tick.C:
		case <-f.ctx.Done():
			return client.EventsResult{}, false
		}
		if !f.engine.alive(f.ctx) {
			continue
		}
		happened := f.engine.events(f.ctx, f.o.Project)
		if containers, err := f.containers(f.ctx); err == nil {
			f.resumeAll(containers)
			return happened, true
		}
	}
	return client.EventsResult{}, false
}

func (f *follower) resumeAll(containers []*container) {
	f.mu.Lock()
	defer f.mu.Unlock()
	here := map[string]bool{}
	for _, c := range containers {
		here[c.id] = true
		if known := f.all[c.id]; known != nil {
			known.start()
		} else {
			f.begin(c)
		}
	}
	for id, c := range f.all {
		if !here[id] {
			close(c.removed)
			delete(f.all, id)
		}
	}
}
