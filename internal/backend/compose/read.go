package compose

import (
	"context"
	"time"

	"github.com/tailrace/tailrace/internal/backend"
	"github.com/tailrace/tailrace/internal/logline"
	"github.com/tailrace/tailrace/pipeline"
)

const (
	// moreRecords is how many records are read beyond the last ones that are wanted: a line
	// can be several, and a position knows of those that have the same time.
	moreRecords = 100
	// allRecords is from how many on all are read.
	allRecords = 1 << 20
	// margin is how long before a position a log is read again: the times of stdout and
	// stderr overtake each other, and older engines look at each record's time.
	margin = 2 * time.Second
	// rereadRecords is how many of the last records are looked at for a position, before all
	// are.
	rereadRecords = 2000
	// batchItems and batchBytes are when a batch is given on although more is at hand.
	batchItems = 512
	batchBytes = 64 << 10
)

// A batch is lines with their texts.
type batch struct {
	items []backend.Item
	text  []byte
}

// add copies a line into the batch. It says whether the batch is full.
func (b *batch) add(c *container, l line) (full bool) {
	if len(b.text)+len(l.text) > cap(b.text) {
		// What was handed out keeps the memory that it lies in.
		b.text = make([]byte, 0, max(batchBytes, len(l.text)))
	}
	n := len(b.text)
	b.text = append(b.text, l.text...)
	b.items = append(b.items, backend.Item{Record: logline.Record{
		Line: b.text[n:len(b.text):len(b.text)], Time: l.at, Stream: l.stream.String(), Service: c.service, Instance: c.instance,
	}})
	return len(b.items) >= batchItems || len(b.text) >= batchBytes
}

// take returns what is in the batch and leaves it empty.
func (b *batch) take() []backend.Item {
	items := b.items
	b.items = nil
	return items
}

// decode reads one log with a query, and calls line for each line of it and pause where
// nothing more is at hand. It returns how many records it saw. A container that is gone has
// no log. The error is one of the engine, or of its stream.
func (s *Source) decode(ctx context.Context, c *container, q query, each func(line) bool, pause func() bool) (records int, err error) {
	log, err := s.engine.logs(ctx, c, q)
	if err != nil {
		return 0, err
	}
	defer log.Close()
	d := decoder{
		line: func(l line) bool {
			records += l.records
			return each(l)
		},
		pause: pause,
	}
	_, err = d.decode(log, c.terminal)
	return records, err
}

// last reads the log of a container up to now, and gives the last lines of it, as many as
// are wanted, to emit. It notes the position.
func (s *Source) last(ctx context.Context, c *container, emit func([]backend.Item) bool) error {
	q := query{last: -1, since: s.o.Since, until: s.o.Until}
	if s.o.Lines < 0 {
		return s.all(ctx, c, q, emit)
	}
	if s.o.Lines == 0 && !s.o.Follow {
		return nil
	}
	// The engine takes the last records before it looks at times.
	limited := q.since.IsZero() && q.until.IsZero()
	for n := s.o.Lines + moreRecords; ; n *= 8 {
		if q.last = -1; limited && n < allRecords {
			q.last = n
		}
		kept := lastLines{n: s.o.Lines, all: &s.held}
		c.from, c.floor = [2]position{}, time.Time{}
		records, err := s.decode(ctx, c, q, func(l line) bool {
			if q.last >= 0 && c.floor.IsZero() {
				c.floor = l.at
			}
			c.from[l.stream].add(l.at, l.records)
			kept.add(c, l)
			return true
		}, func() bool { return true })
		if err != nil {
			return err
		}
		if q.last < 0 || records < q.last || kept.seen > s.o.Lines {
			if records < q.last {
				c.floor = time.Time{} // that was all
			}
			return s.give(ctx, kept.last(), emit)
		}
		kept.clear()
	}
}

// all gives all lines up to now.
func (s *Source) all(ctx context.Context, c *container, q query, emit func([]backend.Item) bool) error {
	var b batch
	_, err := s.decode(ctx, c, q, func(l line) bool {
		c.from[l.stream].add(l.at, l.records)
		return !b.add(c, l) || emit(b.take())
	}, func() bool { return true })
	if err != nil {
		return err
	}
	return s.give(ctx, b.take(), emit)
}

func (s *Source) give(ctx context.Context, items []backend.Item, emit func([]backend.Item) bool) error {
	if len(items) > 0 && !emit(items) {
		return context.Cause(ctx)
	}
	return nil
}

// tail follows a container from its position until its log ends: it has stopped, or is gone.
// pause is called where nothing more is at hand. It then reads what the stream may have left
// out at its end.
func (s *Source) tail(ctx context.Context, c *container, emit func([]backend.Item) bool) error {
	if err := s.onwards(ctx, c, true, emit); err != nil {
		return err
	}
	return s.onwards(ctx, c, false, emit)
}

// onwards reads on from the position of a container.
func (s *Source) onwards(ctx context.Context, c *container, follow bool, emit func([]backend.Item) bool) error {
	q := query{follow: follow, last: -1, since: s.o.Since}
	latest := c.from[pipeline.Stdout].latest
	if t := c.from[pipeline.Stderr].latest; t.After(latest) {
		latest = t
	}
	if !latest.IsZero() {
		// To find a time the engine reads a log from its begin; the last records it finds
		// from the end.
		q.since, q.last = latest.Add(-margin), rereadRecords
	}
	for {
		again, err := s.resume(ctx, c, q, latest, emit)
		if err != nil || !again {
			return err
		}
		q.last = -1
	}
}

// resume reads a log again and gives on what is new. again says that it does not go back to
// where it was read to, and was not read.
func (s *Source) resume(ctx context.Context, c *container, q query, latest time.Time, emit func([]backend.Item) bool) (again bool, err error) {
	var b batch
	var streams [2]resume
	for i := range streams {
		streams[i].from = c.from[i]
		if c.from[i].latest.IsZero() {
			streams[i].from.latest = c.floor
		}
	}
	first := true
	_, err = s.decode(ctx, c, q, func(l line) bool {
		if first && q.last >= 0 && l.at.After(latest) {
			again = true
			return false
		}
		first = false
		if streams[l.stream].known(l.at, l.records) {
			return true
		}
		c.from[l.stream].add(l.at, l.records)
		return !b.add(c, l) || emit(b.take())
	}, func() bool { return len(b.items) == 0 || emit(b.take()) })
	return again, err
}
