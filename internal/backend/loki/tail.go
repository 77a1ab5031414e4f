package loki

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/tailrace/tailrace/internal/backend"
)

const (
	// overlap is how far before the newest line a lost connection is made up for: what
	// several writers send comes a little out of order.
	overlap = 5 * time.Second
	// maxSeen bounds how many lines are remembered for that.
	maxSeen = 100_000
	// dialTimeout bounds the begin of a connection, pongTimeout the answer to a ping.
	dialTimeout = 10 * time.Second
	pongTimeout = 10 * time.Second
	// longestWait is the longest time between two attempts to connect.
	longestWait = 10 * time.Second
)

// A message is what the server sends.
type message struct {
	Streams []stream          `json:"streams"`
	Dropped []json.RawMessage `json:"dropped_entries"`
}

// A follower knows which lines were given on.
type follower struct {
	s     *Source
	yield func([]backend.Item) bool
	// newest is the time of the newest line; what is older than floor is not made up for.
	newest, floor int64
	seen          map[key]int
	// again are the lines that a range gave and that the connection may give once more.
	again map[key]int
}

// follow reads the last lines, or all since a time, and goes on with what comes.
func (s *Source) follow(ctx context.Context, yield func([]backend.Item) bool) error {
	f := &follower{s: s, yield: yield, seen: map[key]int{}, again: map[key]int{}}
	f.newest = s.o.now().UnixNano()
	f.floor = f.newest
	first := f.takeLast
	if s.o.Lines < 0 {
		from, _ := s.bounds()
		f.newest, f.floor = from, from
		// Before there is a connection, which would lose lines while much is read.
		if err := f.makeUp(ctx); err != nil {
			return err
		}
		first = f.makeUp
	}
	wait, last := s.o.retryAfter, s.o.now()
	for connected := false; ; {
		err := f.connection(ctx, func(ctx context.Context) error {
			connected = true
			wait, last = s.o.retryAfter, s.o.now()
			err := first(ctx)
			if err == nil {
				first = f.makeUp
			}
			return err
		})
		var known *backend.Error
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, errStopped):
			return err
		case errors.As(err, &known) && known.Code != backend.CodeUnreachable && known.Code != backend.CodeFailed,
			err != nil && (!connected || s.o.now().Sub(last) > s.o.giveUp):
			return err
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return ctx.Err()
		}
		wait = min(2*wait, longestWait)
	}
}

// connection connects, calls ready, and gives on what comes until the connection ends.
func (f *follower) connection(ctx context.Context, ready func(context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	conn, err := f.dial(ctx)
	if err != nil {
		return err
	}
	messages := make(chan message, 16)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer conn.CloseNow()
	defer cancel()
	wg.Go(func() {
		defer close(messages)
		for {
			_, data, err := conn.Read(ctx)
			if err != nil {
				return
			}
			var m message
			if json.Unmarshal(data, &m) != nil {
				continue // nothing that is known
			}
			select {
			case messages <- m:
			case <-ctx.Done():
				return
			}
		}
	})
	wg.Go(func() { f.ping(ctx, conn) })
	if err := ready(ctx); err != nil {
		return err
	}
	for {
		select {
		case m, open := <-messages:
			if !open {
				return nil
			}
			if err := f.take(m); err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// ping finds out that the other side is gone without a word.
func (f *follower) ping(ctx context.Context, conn *websocket.Conn) {
	tick := time.NewTicker(f.s.o.pingEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			one, cancel := context.WithTimeout(ctx, min(pongTimeout, 2*f.s.o.pingEvery))
			err := conn.Ping(one)
			cancel()
			if err != nil {
				_ = conn.CloseNow()
				return
			}
		case <-ctx.Done():
			return
		}
	}
}

func (f *follower) dial(ctx context.Context) (*websocket.Conn, error) {
	u := f.s.c.url("/loki/api/v1/tail", url.Values{
		"query": {f.s.o.Query}, "limit": {strconv.Itoa(f.s.o.page)},
		"start": {strconv.FormatInt(f.newest, 10)}, "delay_for": {"0"},
	})
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	conn, resp, err := websocket.Dial(ctx, u.String(), &websocket.DialOptions{
		HTTPClient: f.s.c.http, HTTPHeader: f.s.c.header.Clone(),
	})
	if err != nil {
		switch {
		case resp == nil:
			return nil, unreachable(err)
		case resp.StatusCode/100 == 5 || resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode/100 == 2 || resp.StatusCode == http.StatusSwitchingProtocols:
			return nil, &backend.Error{Code: backend.CodeUnreachable, Problem: "Loki does not take the connection for a tail: see its own log"}
		}
		err = refused(resp.StatusCode, nil)
		return nil, err
	}
	conn.SetReadLimit(maxAnswer)
	return conn, nil
}

// takeLast gives on the last lines there are, once the connection is there.
func (f *follower) takeLast(ctx context.Context) error {
	from, to := f.s.bounds()
	last, notices, err := f.s.last(ctx, from, to)
	if err != nil {
		return err
	}
	for _, n := range notices {
		if err := tell(f.yield, n); err != nil {
			return err
		}
	}
	if len(last) == 0 {
		return nil
	}
	// Of what is older than these, nothing is to come later.
	oldest, newest := last[0].ns, last[len(last)-1].ns
	switch {
	case len(last) < f.s.o.Lines:
		f.floor = from
	case oldest < newest:
		f.floor = newest
	default:
		f.floor = newest + 1
	}
	f.newest = max(newest, f.floor)
	f.note(last)
	for _, e := range last {
		f.again[e.key()]++
	}
	return give(f.yield, items(last))
}

// makeUp gives on what came while there was no connection.
func (f *follower) makeUp(ctx context.Context) error {
	f.again = map[key]int{}
	from := max(f.floor, f.newest-int64(overlap))
	before := make(map[key]int, len(f.seen))
	for k, n := range f.seen {
		if k.ns >= from {
			before[k] = n
		}
	}
	// The end is a minute ahead, for clocks that differ.
	p := f.s.pager(from, f.s.o.now().Add(time.Minute).UnixNano(), false)
	return p.each(ctx, func(page []entry) error {
		fresh := make([]entry, 0, len(page))
		for _, e := range page {
			k := e.key()
			f.again[k]++
			if before[k] > 0 {
				before[k]--
				continue
			}
			fresh = append(fresh, e)
		}
		f.note(fresh)
		return give(f.yield, items(fresh))
	}, func(n *backend.Notice) error { return tell(f.yield, n) })
}

// take gives on what a message holds.
func (f *follower) take(m message) error {
	all := entries(m.Streams)
	byTime(all, false)
	fresh := make([]entry, 0, len(all))
	for _, e := range all {
		if k := e.key(); f.again[k] > 0 {
			if f.again[k]--; f.again[k] == 0 {
				delete(f.again, k)
			}
			continue
		}
		fresh = append(fresh, e)
	}
	f.note(fresh)
	if err := give(f.yield, items(fresh)); err != nil {
		return err
	}
	if n := len(m.Dropped); n > 0 {
		return tell(f.yield, &backend.Notice{Dropped: n, Message: "Loki has left out lines of the tail, since they came faster than they were read: ask for the range to see them"})
	}
	return nil
}

// note remembers lines that are given on.
func (f *follower) note(all []entry) {
	for _, e := range all {
		f.newest = max(f.newest, e.ns)
		f.seen[e.key()]++
	}
	if len(f.seen) < maxSeen {
		return
	}
	before := f.newest - int64(overlap)
	for k := range f.seen {
		if k.ns < before {
			delete(f.seen, k)
		}
	}
	if len(f.seen) < maxSeen {
		return
	}
	// Too many in a short time: only those at the newest time are kept, and a connection that
	// is lost now is made up for from there on.
	for k := range f.seen {
		if k.ns < f.newest {
			delete(f.seen, k)
		}
	}
	f.floor = max(f.floor, f.newest)
}
