package mcp

import (
	"context"
	"time"

	"github.com/tailrace/tailrace/pipeline"
	"github.com/tailrace/tailrace/stages"
)

// The errors of commands that are no log collection. Their texts repeat nothing.
var (
	commandFailed   = &stages.PayloadError{Code: codeUnexpected, Reason: "command_failed", Message: "the command ended with an error: read stderr and exitCode"}
	commandWithheld = &stages.PayloadError{Code: codeUnexpected, Reason: "command_failed", Message: "the command ended with an error: read exitCode, and data where there is any; its output is withheld, so run it in a shell to see more"}
	commandLate     = &stages.PayloadError{Code: codeUnexpected, Reason: "timeout", Message: "the command was stopped because its time was over: it may have done part of its work, so look at the status before calling again"}
	commandLonger   = &stages.PayloadError{Code: codeUnexpected, Reason: "timeout", Message: "the command was stopped because its time was over: give it more time with timeoutMs, or less to do"}
	commandCut      = &stages.PayloadError{Code: codeUnexpected, Reason: "output_limit", Message: "the command was stopped because its output passed 8388608 bytes: ask it for less"}
)

// withheld stands for the raw diagnostics of a command whose output must not be returned.
const withheld = "[tailrace] the output of this command is withheld, since it could hold values\n"

// capture runs a command to its end, its time-out or the byte bound (rule O12).
func (s *server) capture(ctx context.Context, t *tool, args arguments, ch child, shown, name string, sl *slot) *stages.Payload {
	timeout := t.timeout
	if ms := t.number(args, "timeoutMs"); ms > 0 {
		timeout = time.Duration(ms) * time.Millisecond
	}
	m := &meter{}
	hooks, stop := s.progress(m, timeout, sl)
	defer stop()
	count := func(pipeline.Chunk) {}
	if hooks.OnChunk != nil {
		count = hooks.OnChunk
	}
	bytes, output := &stages.ByteCap{}, &stages.Capture{}
	line := pipeline.Then[pipeline.Chunk, pipeline.Chunk, pipeline.Chunk](bytes.Apply, output.Apply)
	run := pipeline.Run(ctx, ch, line, count, pipeline.Options{MaxTime: timeout, Reporters: []pipeline.Reporter{bytes, output}})

	p := &stages.Payload{
		OK: run.Cut.Bound == pipeline.NoBound && run.Exit.Code == 0 && run.Exit.Err == nil, Command: shown, ExitCode: run.Exit.Code,
		OutputTruncated: bytes.Cut(), Stdout: output.Stdout(), Stderr: output.Stderr(),
	}
	sl.record.ran(run)
	sl.record.StdoutBytes, sl.record.StderrBytes = int64(len(p.Stdout)), int64(len(p.Stderr))
	switch {
	case run.Cut.Bound == pipeline.BytesBound:
		p.Error = commandCut
	case run.Cut.Bound != pipeline.NoBound && t.field("timeoutMs") != nil:
		p.Error = commandLonger
	case run.Cut.Bound != pipeline.NoBound:
		p.Error = commandLate
	case !p.OK && t.data.withholds():
		p.Error = commandWithheld
	case !p.OK:
		p.Error = commandFailed
	}
	if !p.OutputTruncated {
		p.Data = t.data.of(p.Stdout, timeout.Milliseconds(), name)
	}
	if t.data.withholds() {
		p.Stdout, p.Stderr = nil, nil
		if !p.OK {
			p.Stderr = []byte(withheld)
		}
	}
	return p
}
