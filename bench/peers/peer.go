package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/tailrace/tailrace/internal/corpus"
	"github.com/tailrace/tailrace/pipeline"
)

// An input is the file that all work on.
type input struct {
	name, file string
	data       []byte
	// events and logs are how many lines are JSON objects, and how many of type log, as
	// encoding/json sees them.
	events, logs int64
	objects      [][]byte
}

func newInput(dir string, c corpus.Corpus, size int) (*input, error) {
	in := &input{name: c.Name, file: filepath.Join(dir, c.Name), data: c.Bytes(size)}
	for line := range bytes.Lines(in.data) {
		var event struct{ Type string }
		if line[0] != '{' || json.Unmarshal(line, &event) != nil {
			continue
		}
		in.objects = append(in.objects, bytes.TrimRight(line, "\n"))
		in.events++
		if event.Type == "log" {
			in.logs++
		}
	}
	return in, os.WriteFile(in.file, in.data, 0o600)
}

// found is what a check found in a result.
type found struct{ events, bytes int64 }

// A peer is one way to do the work. Those that are ours have no against.
type peer struct {
	name, about, version string
	// against is the name of the way of ours that it is held against.
	against string
	// warm says that it has a process that stays.
	warm bool

	// start makes it ready; an error says why it is missing. nil means that it is ready.
	startup func(ctx context.Context, in *input) error
	// result does the work and returns what is to be checked.
	result func(ctx context.Context, in *input) ([]byte, error)
	// verify checks a result.
	verify func(in *input, result []byte) (found, error)
	// timed does the work for the time; nil means result.
	timed func(ctx context.Context, in *input) error
	// stop runs at the very end; nil means nothing.
	stop func()

	got     found
	missing string
}

func (p *peer) start(ctx context.Context, in *input) error {
	if p.startup == nil {
		return nil
	}
	return p.startup(ctx, in)
}

func (p *peer) end() {
	if p.stop != nil {
		p.stop()
	}
}

func (p *peer) run(ctx context.Context, in *input) error {
	if p.timed != nil {
		return p.timed(ctx, in)
	}
	_, err := p.result(ctx, in)
	return err
}

// check does the work once and looks at what came of it.
func (p *peer) check(ctx context.Context, in *input) (found, error) {
	result, err := p.result(ctx, in)
	if err != nil {
		return found{}, err
	}
	got, err := p.verify(in, result)
	if err != nil {
		return found{}, fmt.Errorf("its result is wrong: %w", err)
	}
	return got, nil
}

// What a check finds.
var (
	errForm   = errors.New("it is not the JSON of a result")
	errCount  = errors.New("it does not have the number of events that the input has")
	errEvents = errors.New("its events are not those of the input")
	errLarge  = errors.New("it is larger than the limit")
)

// verifyResult checks the JSON of a tool result. bounded says that it must fit the limit.
func verifyResult(bounded bool) func(*input, []byte) (found, error) {
	return func(in *input, result []byte) (found, error) {
		var r struct {
			Content []struct{ Type, Text string }
			// StructuredContent is that of a tool result; a run on the command line
			// writes it alone.
			StructuredContent *structured
			structured
		}
		if json.Unmarshal(result, &r) != nil {
			return found{}, errForm
		}
		s := &r.structured
		if r.StructuredContent != nil {
			s = r.StructuredContent
			if len(r.Content) != 1 || r.Content[0].Type != "text" || !json.Valid([]byte(r.Content[0].Text)) {
				return found{}, errForm
			}
		}
		if bounded && len(result) > pipeline.ResultLimit {
			return found{}, errLarge
		}
		return found{events: int64(len(s.Data.Events)), bytes: int64(len(result))}, verifyEvents(in, s.Data.Events, s.Data.Count)
	}
}

type structured struct {
	Data struct {
		Events []json.RawMessage
		Count  int64
	}
}

// verifyEvents compares events with the input by value, and as many as there are.
func verifyEvents(in *input, events []json.RawMessage, count int64) error {
	if int64(len(events)) != in.events || count != in.events {
		return errCount
	}
	// All of them would take longer than the measurement.
	for i := 0; i < len(events); i += max(1, len(events)/100) {
		if canonical(events[i]) != canonical(in.objects[i]) {
			return errEvents
		}
	}
	return nil
}

// canonical writes a value so that two of the same value are the same text.
func canonical(raw []byte) string {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return ""
	}
	// A value that came from JSON can be written as JSON.
	text, _ := json.Marshal(v)
	return string(text)
}

// verifyCount checks a way that makes no result bytes: it returns its counts as JSON.
func verifyCount(in *input, result []byte) (found, error) {
	var got struct{ Events, Logs, Bytes int64 }
	if json.Unmarshal(result, &got) != nil {
		return found{}, errForm
	}
	if got.Events != in.events || got.Logs != in.logs || got.Bytes != int64(len(in.data)) {
		return found{}, errCount
	}
	return found{events: got.Events, bytes: got.Bytes}, nil
}

// verifyLines checks a way that writes each event as a line.
func verifyLines(in *input, result []byte) (found, error) {
	var events []json.RawMessage
	for line := range bytes.Lines(result) {
		events = append(events, bytes.TrimRight(line, "\n"))
	}
	return found{events: int64(len(events)), bytes: int64(len(result))}, verifyEvents(in, events, int64(len(events)))
}
