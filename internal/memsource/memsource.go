// Package memsource is a source that plays chunks from memory, for tests, benchmarks
// and examples.
package memsource

import (
	"context"
	"iter"

	"github.com/tailrace/tailrace/pipeline"
)

// A Source plays its chunks, then ends by itself with Code. The zero value is an empty
// source that ends well. It can be played again after each run.
type Source struct {
	// Played are the chunks, in their order.
	Played []pipeline.Chunk
	// Code is its exit code.
	Code int

	end pipeline.End
}

// New returns a source that plays data as stdout in pieces of size bytes. The pieces
// are adjacent in memory, as those of a child process are.
func New(data []byte, size int) *Source {
	s := &Source{}
	for len(data) > 0 {
		n := min(size, len(data))
		s.Played = append(s.Played, pipeline.Chunk{Data: data[:n]})
		data = data[n:]
	}
	return s
}

// Of returns a source that plays the given chunks.
func Of(code int, chunks ...pipeline.Chunk) *Source { return &Source{Played: chunks, Code: code} }

// Chunks yields the chunks. A ctx that is done cuts the sequence.
func (s *Source) Chunks(ctx context.Context) iter.Seq[pipeline.Chunk] {
	return func(yield func(pipeline.Chunk) bool) {
		s.end = pipeline.EndSource
		for _, c := range s.Played {
			if ctx.Err() != nil {
				s.end = pipeline.EndContext
				yield(pipeline.Chunk{Cut: true})
				return
			}
			if !yield(c) {
				s.end = pipeline.EndConsumer
				return
			}
		}
	}
}

// Exit returns how the last run ended.
func (s *Source) Exit() pipeline.Exit {
	e := pipeline.Exit{End: s.end}
	if s.end == pipeline.EndSource {
		e.Code = s.Code
	}
	return e
}

// Close does nothing.
func (s *Source) Close() error { return nil }
