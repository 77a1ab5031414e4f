package mcp

import (
	"context"
	"encoding/json"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/tailrace/tailrace/pipeline"
	"github.com/tailrace/tailrace/stages"
)

// A command is what a call runs.
type command struct {
	path      string
	args      []string
	dir       string
	env       []string
	keepGroup bool
	// capture is the byte bound of the run.
	capture int
}

// handler returns the SDK's handler of a tool. The result goes to the exit by the slot.
func (s *server) handler(t *tool) sdk.ToolHandler {
	return func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		sl, err := slotOf(ctx)
		if err != nil {
			return nil, err
		}
		sl.record = &CallRecord{Began: time.Now(), Session: s.id, Tool: t.name}
		sl.payload = s.run(ctx, t, req.Params.Arguments, sl)
		return &sdk.CallToolResult{}, nil
	}
}

// groupGrace is how long a reply waits for the rest of the command's group, which is gone
// at once unless it ignores signals. A client that goes by its replies then finds its
// seat free.
const groupGrace = 50 * time.Millisecond

// run runs one call of a tool to its payload. Everything that a call may do is checked
// before anything is started, here and nowhere else.
func (s *server) run(ctx context.Context, t *tool, raw json.RawMessage, sl *slot) *stages.Payload {
	args, refused := t.parse(raw)
	if refused != nil {
		return s.refuse(t, refused)
	}
	sel, refused := s.selection(t, args)
	if refused != nil {
		return s.refuse(t, refused)
	}
	path, before, err := s.project.Command()
	if err != nil {
		return s.refuse(t, refusedSpawn("command_not_found"))
	}
	argv := append(append([]string{}, before...), t.commandLine(sel.argv, args)...)
	if ctx.Err() != nil {
		sl.record.ended(ctx)
		return internalError.payload() // Nobody reads it: the call was cancelled.
	}
	ch, refused := s.begin(command{
		path: path, args: argv, dir: s.project.Cwd, env: s.project.Env,
		keepGroup: t.keepGroup, capture: pipeline.CaptureLimit,
	}, sel, sl)
	if refused != nil {
		return s.refuse(t, refused)
	}

	shown := stages.CommandLine(path, argv)
	var p *stages.Payload
	if t.data.isLog() {
		p = s.collect(ctx, t, args, ch, shown, sl)
	} else {
		p = s.capture(ctx, t, args, ch, shown, sel.name, sl)
	}
	awaitGroup(ch, sl.leave)
	s.log.Info("call ended", "tool", t.name, "ok", p.OK, "ms", time.Since(sl.record.Began).Milliseconds(),
		"stdout_bytes", len(p.Stdout), "stderr_bytes", len(p.Stderr))
	return p
}

// begin starts the command of a call, if there is a seat for it. The seat is left when
// nothing of the command's group is left, whatever becomes of the call.
func (s *server) begin(c command, sel selected, sl *slot) (child, *refusal) {
	leave, ok := s.shared.admit()
	if !ok {
		return nil, refusedBusy(s.shared.max)
	}
	started := false
	defer func() {
		if !started { // It was refused, or the start panicked.
			leave()
		}
	}()
	ch, refused := s.start(c)
	if refused != nil {
		return nil, refused
	}
	started = true
	sl.leave = leave
	go func() { <-ch.Done(); leave() }()
	s.children.add(ch)
	sl.record.Spawned = true
	sl.release = func(after func()) {
		s.children.release(ch, func() {
			sl.record.Stopped, sl.record.Killed = ch.Signalled()
			sl.record.Project = s.projectID(sel)
			after()
		})
	}
	return ch, nil
}

// awaitGroup waits until nothing of a command is left, at most for groupGrace, and leaves
// its seat then.
func awaitGroup(ch child, leave func()) {
	t := time.NewTimer(groupGrace)
	defer t.Stop()
	select {
	case <-ch.Done():
		leave() // here, too, so that it is free before the reply
	case <-t.C:
	}
}

// refuse notes a refusal in the log, and returns its payload.
func (s *server) refuse(t *tool, r *refusal) *stages.Payload {
	s.log.Info("call refused", "tool", t.name, "code", r.code, "reason", r.reason)
	return r.payload()
}

// collect reads a log command to the end of its run.
func (s *server) collect(ctx context.Context, t *tool, args arguments, ch child, shown string, sl *slot) *stages.Payload {
	var limits stages.LogLimits
	bounds := pipeline.Bounds{MaxTime: t.timeout}
	if args["tail"].given {
		limits.Tail = limit(args["tail"].n)
	}
	if t.data == tailData {
		bounds.MaxEvents = t.number(args, "maxEvents")
		ms := t.number(args, "maxMs")
		bounds.MaxTime = time.Duration(ms) * time.Millisecond
		limits.MaxEvents, limits.MaxMs = limit(bounds.MaxEvents), limit(ms)
	}
	m := &meter{}
	hooks, stop := s.progress(m, bounds.MaxTime, sl)
	defer stop()
	c, err := stages.Collect(ctx, ch, bounds, hooks)
	if err != nil {
		return internalError.payload()
	}
	sl.record.ran(c.Summary)
	return stages.PayloadOf(c, shown, t.data == tailData, limits)
}

func limit(n int) *int64 {
	v := int64(n)
	return &v
}

// progress starts to tell the client of a run that lasts until total, if it asked for it.
func (s *server) progress(m *meter, total time.Duration, sl *slot) (hooks stages.CollectOptions, stop func()) {
	token := sl.call.token
	if token == nil {
		return hooks, func() {}
	}
	return m.options(), watch(s.every, func(elapsed time.Duration) {
		// The value must not pass its total while a child is being stopped.
		if elapsed < total {
			s.conn.progress(sl.call, progressFrame(token, elapsed, total, m))
		}
	})
}
