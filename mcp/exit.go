package mcp

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/tailrace/tailrace/pipeline"
	"github.com/tailrace/tailrace/stages"
)

// A slot carries a call to its tool, and what became of it back to the exit.
type slot struct {
	call    *call
	payload *stages.Payload
	// record is what is told of the call when it is over; nil before it reached its tool.
	record *CallRecord
	// leave gives back the seat of the command; nil where none was started.
	leave func()
	// release gives back what the payload lies in, and then calls after, when nothing of
	// the command is left; nil where no command was started.
	release func(after func())
}

type slotKey struct{}

// placeholder stands for a result whose frame the exit has made already: encoding it
// three times, as the SDK would, is most of the time of a large call.
type placeholder struct{ *sdk.CallToolResult }

// MarshalJSON returns an empty object, since the connection writes the frame.
func (placeholder) MarshalJSON() ([]byte, error) { return []byte("{}"), nil }

// exit is the outermost middleware, and the one place where the result of a tools/call is
// made (rule B1): it recovers from panics, fits the result into the budget and builds its
// frame. Nothing that a handler panics with is told to anyone, since it may hold output.
func (s *server) exit(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (res sdk.Result, err error) {
		defer func() {
			if recover() != nil {
				s.log.Error("a request failed inside the server")
				res, err = nil, errInternal
			}
		}()
		c := s.conn.callOf(req.GetExtra())
		if method != methodCallTool || c == nil {
			return next(ctx, method, req)
		}
		params, ok := req.GetParams().(*sdk.CallToolParamsRaw)
		if !ok {
			return nil, errInternal
		}
		if s.tools[params.Name] == nil {
			return nil, &protocolError{code: jsonrpc.CodeInvalidParams, text: "unknown tool: the tools are " + s.known}
		}
		ctx, cancel := s.merge(ctx, c)
		defer cancel()
		sl := &slot{call: c}
		defer s.finish(sl)
		foreign, err := s.invoke(context.WithValue(ctx, slotKey{}, sl), next, method, req, sl)
		if err != nil {
			return nil, err
		}
		if err := s.frames.acquire(ctx, sl.payload, c); err != nil {
			return nil, errDropped
		}
		if s.conn.dropped(c) {
			if c.ownOutlet() {
				c.done()
			}
			return nil, errDropped
		}
		fit := s.build(c, sl.payload, foreign)
		if r := sl.record; r != nil {
			r.ResultBytes, r.ResultCut, r.ViewCut = fit.Bytes, fit.Cut, fit.ViewCut
		}
		if c.ownOutlet() {
			_ = s.conn.answer(c, c.frame) // A client that is gone has dropped its call.
		}
		return placeholder{&sdk.CallToolResult{}}, nil
	}
}

// invoke calls the tool. A panic becomes a payload. Foreign is the JSON of a result that
// no tool of ours made.
func (s *server) invoke(ctx context.Context, next sdk.MethodHandler, method string, req sdk.Request, sl *slot) (foreign []byte, err error) {
	defer func() {
		if recover() != nil {
			s.log.Error("a call failed inside the server")
			sl.payload, foreign, err = internalError.payload(), nil, nil
		}
	}()
	res, err := next(ctx, method, req)
	switch {
	case sl.payload != nil:
		return nil, nil
	case err != nil:
		return nil, err
	}
	raw, err := json.Marshal(res)
	if err != nil || len(raw) > pipeline.ResultLimit {
		sl.payload = internalError.payload()
		return nil, nil
	}
	return raw, nil
}

// build makes the frame of a call from its payload, or from a foreign result. Where that
// fails, the frame says so.
func (s *server) build(c *call, p *stages.Payload, foreign []byte) (fit stages.Fit) {
	defer func() {
		if recover() != nil {
			s.log.Error("a result failed inside the server")
			fit = s.appendFrame(c, internalError.payload(), nil)
		}
	}()
	return s.appendFrame(c, p, foreign)
}

func (s *server) appendFrame(c *call, p *stages.Payload, foreign []byte) (fit stages.Fit) {
	frame := append(appendHead(c.frame[:0], c.id), `"result":`...)
	if p == nil {
		frame = append(frame, foreign...)
	} else {
		b := s.budget
		// Rule B2: the frame is bounded, too. The limits of ids leave more room than
		// this takes, so it is for frames to come.
		b.Reserve = max(0, len(frame)+len("}\n")+pipeline.ResultLimit-pipeline.FrameLimit)
		frame, fit = b.AppendResult(frame, p)
	}
	c.frame = append(frame, "}\n"...)
	return fit
}

// finish gives back what a call holds, and tells of it.
func (s *server) finish(sl *slot) {
	if sl.record != nil {
		sl.record.judge(sl.payload)
	}
	if sl.release != nil {
		sl.release(func() { s.tell(sl.record) })
	} else if sl.record != nil {
		s.tell(sl.record)
	}
}

// tell passes the record of a finished call on. What panics there is no part of the call.
func (s *server) tell(r *CallRecord) {
	defer func() {
		if recover() != nil {
			s.log.Error("an observer of calls failed inside the server")
		}
	}()
	s.shared.told(s.project.Home, *r)
}

// slotOf returns the slot of a call's context.
func slotOf(ctx context.Context) (*slot, error) {
	sl, ok := ctx.Value(slotKey{}).(*slot)
	if !ok {
		return nil, errors.New("a tool was called past the exit")
	}
	return sl, nil
}
