// Package tool runs the programs that read a log of a backend and takes their output line
// by line.
package tool

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"time"

	"github.com/tailrace/tailrace/internal/backend"
	"github.com/tailrace/tailrace/pipeline"
	"github.com/tailrace/tailrace/pipeline/source"
)

const (
	// grace is how long a program has after SIGTERM. It is shorter than the time that a
	// server gives this one.
	grace = 500 * time.Millisecond
	// maxLine bounds one line of output, in bytes. A longer one is left out and counted.
	maxLine = 32 << 20
	// maxErrors is how much of stderr is kept to see what went wrong.
	maxErrors = 16 << 10
)

// A Command is a program with its arguments. Each value of the caller's is in one argument
// together with its flag.
type Command struct {
	// Name is looked up on the PATH of Env.
	Name string
	Args []string
	// Env is the whole environment; LC_ALL is set in it, since messages are read.
	Env []string
	// Missing is the problem where there is no such program.
	Missing string
}

// A Result is how a run ended.
type Result struct {
	// Exit is how the program ended.
	Exit pipeline.Exit
	// Errors is the begin of its stderr. It is looked at, and never repeated.
	Errors string
	// Long is how many lines were left out for their length.
	Long int
}

// Run runs a command until it ends, ctx is done, or a callback returns false. It calls line
// for each line of stdout, which is valid during the call only, and pause where it may take
// a while until the next one. The error, an *[backend.Error], says why it did not start.
func Run(ctx context.Context, c Command, line func([]byte) bool, pause func() bool) (Result, error) {
	child, err := source.Start(source.Command{
		Path: c.Name, Args: c.Args, Env: append(c.Env[:len(c.Env):len(c.Env)], "LC_ALL=C"), Grace: grace,
	})
	if err != nil {
		return Result{}, startError(c, err)
	}
	defer func() { _ = child.Close() }()
	var r Result
	s := splitter{line: line}
	for chunk := range child.Chunks(ctx) {
		if chunk.Stream == pipeline.Stderr {
			r.Errors += string(chunk.Data[:min(len(chunk.Data), maxErrors-len(r.Errors))])
			continue
		}
		if !s.feed(chunk.Data) || !pause() {
			break
		}
	}
	r.Exit = child.Exit()
	if r.Exit.End == pipeline.EndSource && len(s.held) > 0 && !s.skipping {
		line(s.held)
		pause()
	}
	r.Long = s.long
	return r, nil
}

func startError(c Command, err error) error {
	var spawn *source.SpawnError
	if errors.As(err, &spawn) && spawn.Reason == source.CommandNotFound {
		return &backend.Error{Code: backend.CodeToolMissing, Problem: c.Missing}
	}
	return &backend.Error{Code: backend.CodeFailed, Problem: c.Name + " could not be started: check its rights, and how many processes there are"}
}

// A splitter makes lines of pieces.
type splitter struct {
	line     func([]byte) bool
	held     []byte
	skipping bool // the line at hand is too long
	long     int
}

func (s *splitter) feed(data []byte) bool {
	for {
		i := bytes.IndexByte(data, '\n')
		if i < 0 {
			break
		}
		line := data[:i]
		if len(s.held) > 0 {
			s.held = append(s.held, line...)
			line = s.held
		}
		if !s.skipping && !s.line(line) {
			return false
		}
		s.held, s.skipping = s.held[:0], false
		data = data[i+1:]
	}
	switch {
	case s.skipping:
	case len(s.held)+len(data) > maxLine:
		s.held, s.skipping = nil, true
		s.long++
	default:
		s.held = append(s.held, data...)
	}
	return true
}

// Says whether one of some texts is in what the program wrote to stderr.
func (r Result) Says(texts ...string) bool {
	for _, text := range texts {
		if strings.Contains(r.Errors, text) {
			return true
		}
	}
	return false
}
