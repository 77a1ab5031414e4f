package main

import (
	"context"
	"iter"
	"time"

	"github.com/tailrace/tailrace/internal/logline"
	"github.com/tailrace/tailrace/internal/project"
)

// A stream is the records of one source, one ahead, with the time that the next one has in
// the order of all.
type stream struct {
	from   *origin
	failed failure
	next   func() (logline.Record, bool)
	stop   func()

	head logline.Record
	at   time.Time
	open bool
}

// merge calls emit for the records of sources in the order of their times, until it returns
// false. What a source gives keeps its order: a record without a time stays behind the one
// before it, as the lines of a stack trace do, and the times of a source never go back. Of
// records with the same time those of the earlier source come first. It returns how each
// source ended.
func (r *logsRun) merge(ctx context.Context, sources []project.Source, emit func(*origin, logline.Record) bool) []failure {
	streams := make([]*stream, len(sources))
	for i, s := range sources {
		m := &stream{from: r.origin(s)}
		m.next, m.stop = iter.Pull(r.records(ctx, s, &m.failed))
		defer m.stop()
		streams[i] = m
	}
	for _, m := range streams {
		m.advance()
	}
	for {
		var first *stream
		for _, m := range streams {
			if m.open && (first == nil || m.at.Before(first.at)) {
				first = m
			}
		}
		if first == nil || !emit(first.from, first.head) {
			break
		}
		first.advance()
	}
	failures := make([]failure, len(streams))
	for i, m := range streams {
		m.stop()
		failures[i] = m.failed
	}
	return failures
}

func (m *stream) advance() {
	m.head, m.open = m.next()
	if !m.open {
		return
	}
	if t, ok := recordTime(m.head); ok && t.After(m.at) {
		m.at = t
	}
}

// records are the records of one source as a sequence. How it ended is put into failed.
func (r *logsRun) records(ctx context.Context, s project.Source, failed *failure) iter.Seq[logline.Record] {
	return func(yield func(logline.Record) bool) {
		*failed = r.newReader(s, yield, func() {}).read(ctx)
	}
}
