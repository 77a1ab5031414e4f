package compose

import (
	"context"
	"sync"
	"time"

	"github.com/tailrace/tailrace/internal/backend"
)

// A feed is the log of one container up to now, one item ahead.
type feed struct {
	batches chan []backend.Item
	err     error // valid once batches is closed

	items []backend.Item
}

// at is the time of the head. Where times of a log go back, or there is none, the head comes
// at once, behind the line before it.
func (f *feed) at() time.Time { return f.items[0].Record.Time }

// next makes the next item the head. It is false at the end.
func (f *feed) next(ctx context.Context) bool {
	if len(f.items) > 0 {
		f.items = f.items[1:]
	}
	if len(f.items) == 0 {
		select {
		case items, ok := <-f.batches:
			if !ok {
				return false
			}
			f.items = items
		case <-ctx.Done():
			return false
		}
	}
	return true
}

// merge yields what the logs of containers hold up to now, in the order of time, and notes
// the positions. Of lines with one time those of the earlier container come first. It is
// false where the consumer stopped.
func (s *Source) merge(ctx context.Context, containers []*container, yield func([]backend.Item) bool) (bool, error) {
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	feeds := make([]*feed, len(containers))
	for i, c := range containers {
		f := &feed{batches: make(chan []backend.Item, 1)}
		feeds[i] = f
		wg.Go(func() {
			defer close(f.batches)
			f.err = s.last(ctx, c, func(items []backend.Item) bool { return send(ctx, f.batches, items) })
			if f.err != nil && ctx.Err() == nil && unreadable(f.err) {
				c.unreadable, f.err = true, nil
				send(ctx, f.batches, []backend.Item{c.notRead()})
			}
		})
	}
	var open []*feed
	for _, f := range feeds {
		if f.next(ctx) {
			open = append(open, f)
		}
	}
	var out []backend.Item
	for len(open) > 0 {
		first := 0
		for i, f := range open {
			if f.at().Before(open[first].at()) {
				first = i
			}
		}
		f := open[first]
		out = append(out, f.items[0])
		if len(out) == batchItems {
			if !yield(out) {
				return false, nil
			}
			out = out[:0]
		}
		if !f.next(ctx) {
			open = append(open[:first], open[first+1:]...)
		}
	}
	if len(out) > 0 && !yield(out) {
		return false, nil
	}
	if ctx.Err() != nil {
		return false, nil
	}
	for _, f := range feeds {
		if f.err != nil && !gone(f.err) {
			return true, problem(f.err)
		}
	}
	return true, nil
}

func send(ctx context.Context, to chan<- []backend.Item, items []backend.Item) bool {
	select {
	case to <- items:
		return true
	case <-ctx.Done():
		return false
	}
}
