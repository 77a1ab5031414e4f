// Package loki reads logs from a Loki server over its HTTP API: a range of time, page by
// page beyond what the server gives at once, and a tail over a websocket that survives its
// connections.
package loki

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/tailrace/tailrace/internal/backend"
)

const (
	// defaultRange is how far back a range begins that names no begin.
	defaultRange = 15 * time.Minute
	// pageLines is how many lines one request asks for. Servers give up to 5,000 unless
	// their settings say otherwise.
	pageLines = 1000
)

// Options say what is read, and from where.
type Options struct {
	// URL is where the server is; "" means [DefaultURL].
	URL string
	// Query is a log query in LogQL.
	Query string
	// Tenant is the value of X-Scope-OrgID, "" for none.
	Tenant string
	// Token is a bearer token; Username and Password are for basic authentication.
	Token, Username, Password string
	// CA is the path of a file of certificates that the server's may be signed by.
	CA string
	// Lines is how many of the last lines are read; a negative number means all.
	Lines int
	// Follow goes on with new lines.
	Follow bool
	// Since and Until bound the times of lines, both included. Zero means the last 15 minutes,
	// and now.
	Since, Until time.Time
	// ReadyTimeout bounds the question whether the server is ready; 0 means 800 ms.
	ReadyTimeout time.Duration

	// For tests; zero means the usual.
	page                          int
	now                           func() time.Time
	retryAfter, pingEvery, giveUp time.Duration
}

// A Source is a log of a Loki server as a [backend.Source].
type Source struct {
	o   Options
	c   *client
	err error
}

// Open checks the options. The error is a *[backend.Error].
func Open(o Options) (*Source, error) {
	if o.page == 0 {
		o.page = pageLines
	}
	if o.now == nil {
		o.now = time.Now
	}
	if o.retryAfter == 0 {
		o.retryAfter = 500 * time.Millisecond
	}
	if o.pingEvery == 0 {
		o.pingEvery = 15 * time.Second
	}
	if o.giveUp == 0 {
		o.giveUp = 5 * time.Minute
	}
	c, err := newClient(&o)
	if err != nil {
		return nil, err
	}
	return &Source{o: o, c: c}, nil
}

// Ready asks whether the server is there. The error is a *[backend.Error].
func (s *Source) Ready(ctx context.Context) error { return s.c.ready(ctx, s.o.ReadyTimeout) }

// Batches yields the lines.
func (s *Source) Batches(ctx context.Context) iter.Seq[[]backend.Item] {
	return func(yield func([]backend.Item) bool) {
		err := s.Ready(ctx)
		if err == nil {
			if s.o.Follow {
				err = s.follow(ctx, yield)
			} else {
				err = s.snapshot(ctx, yield)
			}
		}
		if ctx.Err() == nil && !errors.Is(err, errStopped) {
			s.err = err
		}
	}
}

// errStopped: the consumer wants no more.
var errStopped = errors.New("stopped")

// snapshot reads a range.
func (s *Source) snapshot(ctx context.Context, yield func([]backend.Item) bool) error {
	from, to := s.bounds()
	if s.o.Lines < 0 {
		p := s.pager(from, to, false)
		return p.each(ctx, func(page []entry) error { return give(yield, items(page)) }, func(n *backend.Notice) error { return tell(yield, n) })
	}
	last, notices, err := s.last(ctx, from, to)
	if err != nil {
		return err
	}
	for _, n := range notices {
		if err := tell(yield, n); err != nil {
			return err
		}
	}
	return give(yield, items(last))
}

// bounds returns the range in nanoseconds, without its end.
func (s *Source) bounds() (from, to int64) {
	end := s.o.Until
	if end.IsZero() {
		end = s.o.now()
	}
	begin := s.o.Since
	if begin.IsZero() {
		begin = end.Add(-defaultRange)
	}
	return begin.UnixNano(), end.UnixNano() + 1
}

// last returns the last lines of a range, the oldest first.
func (s *Source) last(ctx context.Context, from, to int64) (last []entry, notices []*backend.Notice, err error) {
	if s.o.Lines == 0 {
		return nil, nil, nil
	}
	p := s.pager(from, to, true)
	p.want = s.o.Lines
	held := 0
	err = p.each(ctx, func(page []entry) error {
		for _, e := range page {
			if held += len(e.line) + len(e.stream); held > maxHeld {
				notices = append(notices, &backend.Notice{Dropped: s.o.Lines - len(last), Message: "the last lines took more than 64 MiB: the older ones of them were left out"})
				return errStopped
			}
			if last = append(last, e); len(last) == s.o.Lines {
				return errStopped
			}
		}
		return nil
	}, func(n *backend.Notice) error { notices = append(notices, n); return nil })
	if errors.Is(err, errStopped) {
		err = nil
	}
	reverse(last)
	return last, notices, err
}

// maxHeld bounds what is kept of the last lines, in bytes.
const maxHeld = 64 << 20

func reverse(all []entry) {
	for i, j := 0, len(all)-1; i < j; i, j = i+1, j-1 {
		all[i], all[j] = all[j], all[i]
	}
}

// give yields a batch that holds something.
func give(yield func([]backend.Item) bool, batch []backend.Item) error {
	if len(batch) > 0 && !yield(batch) {
		return errStopped
	}
	return nil
}

func tell(yield func([]backend.Item) bool, n *backend.Notice) error {
	return give(yield, []backend.Item{{Notice: n}})
}

// Err says why the log could not be read to its end.
func (s *Source) Err() error { return s.err }

// Close gives the connections back.
func (s *Source) Close() error {
	s.c.close()
	return nil
}
