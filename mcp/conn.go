package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/tailrace/tailrace/pipeline"
)

// settleGrace is how long a session that ends waits for replies that are no tool results.
const settleGrace = 200 * time.Millisecond

// callHeader carries the number of a call from the connection to the middleware, in the
// only member of a request that the SDK hands through.
const callHeader = "Tailrace-Call"

// A call is one request of the client, from its line to its reply.
type call struct {
	number int64           // the id that the SDK knows it by
	id     json.RawMessage // the id as the client wrote it
	key    string
	method string
	token  json.RawMessage // progress token as written; nil for none

	// out is where its frames go: the one of the connection, unless the call has its own.
	out *outlet
	// stop, if not nil, is told that the call was cancelled. It must not wait.
	stop func()
	// over, if not nil, is done when nobody waits for the reply any more.
	over context.Context

	// cancelled is guarded by the mutex of the connection.
	cancelled bool

	// frame is the whole reply where the exit made it, in a buffer that release gives
	// back.
	// They are set before the SDK writes the response and read when it does.
	frame   []byte
	release func()
}

// ownOutlet says that the reply goes another way than the SDK's, so that the exit writes
// it.
func (c *call) ownOutlet() bool { return c.over != nil }

// done gives the buffer of the frame back.
func (c *call) done() {
	if c.release != nil {
		c.release()
	}
}

// A conn is the connection of a session, and its transport: it reads lines and writes
// frames. The SDK sees requests by numbers of ours, so that each reply carries the id as
// the client wrote it, an id that is still in use is noticed, and what was cancelled can
// be dropped. Its methods are safe for concurrent use.
type conn struct {
	in  io.Reader
	out *outlet
	// over is called once, when the streams end the session.
	over func()

	incoming chan *jsonrpc.Request
	closed   chan struct{}
	readDone chan struct{}
	closing  sync.Once
	ending   sync.Once
	ended    atomic.Bool

	mu    sync.Mutex
	last  int64
	calls map[int64]*call
	byKey map[string]*call
	quiet chan struct{} // closed when only tool calls are left; nil if nobody waits
}

func newConn(in io.Reader, out io.Writer, over func()) *conn {
	c := &conn{
		in: in, over: over,
		incoming: make(chan *jsonrpc.Request),
		closed:   make(chan struct{}),
		readDone: make(chan struct{}),
		calls:    map[int64]*call{},
		byKey:    map[string]*call{},
	}
	c.out = &outlet{w: out, broken: c.end}
	return c
}

// Connect starts reading. It is called once.
func (c *conn) Connect(context.Context) (sdk.Connection, error) {
	go c.read()
	return c, nil
}

// SessionID returns "": there is one session.
func (c *conn) SessionID() string { return "" }

// Read returns the next request or notification that is well formed.
func (c *conn) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case m, ok := <-c.incoming:
		if ok {
			return m, nil
		}
	case <-c.closed:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return nil, io.EOF
}

// Close ends reading. It leaves both streams open, since they belong to the caller.
func (c *conn) Close() error {
	c.closing.Do(func() {
		close(c.closed)
		// A pipe that the runtime polls can be woken up. A read from another one goes
		// on until its other end is closed, or the process ends.
		if r, ok := c.in.(interface{ SetReadDeadline(time.Time) error }); ok {
			_ = r.SetReadDeadline(time.Unix(1, 0))
		}
	})
	return nil
}

// read reads lines until the stream or the session is over.
func (c *conn) read() {
	defer close(c.readDone)
	defer close(c.incoming)
	lines := newLineReader(c.in)
	for {
		line, err := lines.next()
		if c.ended.Load() {
			return
		}
		switch {
		case errors.Is(err, errLineTooLong):
			c.refuse(nil, errTooLong)
		case err != nil:
			c.end()
			// The SDK refuses to write from the moment it sees the end. What it is
			// answering now was asked in good faith.
			c.settle(settleGrace)
			return
		default:
			c.accept(line)
		}
	}
}

// accept hands one line to the SDK, or answers it.
func (c *conn) accept(line []byte) {
	m, ok, bad := parseMessage(line)
	if bad != nil {
		c.refuse(m.id, bad)
		return
	}
	if !ok {
		return
	}
	req := &jsonrpc.Request{Method: m.method}
	switch {
	case m.id != nil:
		p, bad := m.parseParams()
		if bad != nil {
			c.refuse(m.id, bad)
			return
		}
		call := &call{id: m.id, key: m.key, method: m.method, token: p.token, out: c.out}
		if !c.register(call) {
			// A reply with that id would be taken for the one of the running request.
			c.refuse(nil, errIDInUse)
			return
		}
		req.ID, req.Params = numberID(call.number), p.params
		req.Extra = &sdk.RequestExtra{Header: http.Header{callHeader: {strconv.FormatInt(call.number, 10)}}}
	case m.method == notifyCancelled:
		number, ok := c.cancel(m.params)
		if !ok {
			return
		}
		req.Params = json.RawMessage(`{"requestId":` + strconv.FormatInt(number, 10) + `}`)
	case m.method != notifyInitialized:
		return // Nothing else that a client may tell concerns this server.
	}
	select {
	case c.incoming <- req:
	case <-c.closed:
	}
}

func numberID(n int64) jsonrpc.ID {
	id, _ := jsonrpc.MakeID(float64(n)) // the error is for other types
	return id
}

// register takes a request into the table and gives it its number; ok is false where its
// id is in use.
func (c *conn) register(call *call) (ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byKey[call.key] != nil {
		return false
	}
	c.last++
	call.number = c.last
	c.calls[call.number], c.byKey[call.key] = call, call
	return true
}

// cancel marks the request that params name, and returns its number. Its id is free from
// now on. The initialize request cannot be cancelled.
func (c *conn) cancel(params json.RawMessage) (number int64, ok bool) {
	key, ok := cancelledKey(params)
	if !ok {
		return 0, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	call := c.byKey[key]
	if call == nil || call.method == methodInitialize {
		return 0, false
	}
	call.cancelled = true
	delete(c.byKey, key)
	if call.stop != nil {
		call.stop()
	}
	return call.number, true
}

// abandon drops a call that nobody waits for any more. Open says that it was neither
// answered nor cancelled before.
func (c *conn) abandon(call *call) (open bool) {
	c.mu.Lock()
	open = c.calls[call.number] == call && !call.cancelled
	call.cancelled = true
	c.mu.Unlock()
	c.remove(call)
	return open
}

// callOf returns the call that a request belongs to, or nil.
func (c *conn) callOf(extra *sdk.RequestExtra) *call {
	if extra == nil {
		return nil
	}
	number, err := strconv.ParseInt(extra.Header.Get(callHeader), 10, 64)
	if err != nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.calls[number]
}

// dropped says whether a call gets no reply any more.
func (c *conn) dropped(call *call) bool {
	if c.ended.Load() && call.method == methodCallTool {
		return true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return call.cancelled
}

// free gives the id of a call back to the client. It comes before the reply, since the
// client may use the id again as soon as it has read that.
func (c *conn) free(call *call) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byKey[call.key] == call {
		delete(c.byKey, call.key)
	}
}

// remove takes a call out of the table when it has been answered or dropped.
func (c *conn) remove(call *call) {
	c.free(call)
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.calls, call.number)
	if c.quiet != nil && c.onlyTools() {
		close(c.quiet)
		c.quiet = nil
	}
}

func (c *conn) onlyTools() bool {
	for _, call := range c.calls {
		if call.method != methodCallTool && !call.cancelled {
			return false
		}
	}
	return true
}

// settle waits until only tool calls are unanswered, at most for limit.
func (c *conn) settle(limit time.Duration) {
	c.mu.Lock()
	if c.onlyTools() {
		c.mu.Unlock()
		return
	}
	if c.quiet == nil {
		c.quiet = make(chan struct{})
	}
	quiet := c.quiet
	c.mu.Unlock()
	t := time.NewTimer(limit)
	defer t.Stop()
	select {
	case <-quiet:
	case <-t.C:
	case <-c.closed:
	}
}

// end marks the session as over and says so, once. From now on no tool call is answered.
func (c *conn) end() {
	c.ending.Do(func() {
		c.ended.Store(true)
		c.over()
	})
}

// Write writes one message of the SDK as one frame. It drops the reply of a call that was
// cancelled or whose session is over.
func (c *conn) Write(_ context.Context, msg jsonrpc.Message) error {
	resp, ok := msg.(*jsonrpc.Response)
	if !ok {
		frame, err := jsonrpc.EncodeMessage(msg)
		if err != nil {
			return err
		}
		return c.out.put(append(frame, '\n'), nil)
	}
	number, _ := resp.ID.Raw().(int64)
	c.mu.Lock()
	call := c.calls[number]
	c.mu.Unlock()
	if call == nil {
		return nil
	}
	frame := call.frame
	if len(frame) == 0 || resp.Error != nil {
		frame = responseFrame(call.id, resp)
	}
	return c.answer(call, frame)
}

// answer writes the reply of a call, unless it has been dropped, and is done with it.
func (c *conn) answer(call *call, frame []byte) error {
	defer call.done()
	defer c.remove(call)
	if len(frame) > pipeline.FrameLimit {
		frame = appendError(nil, call.id, errFrameSize)
	}
	return call.out.put(frame, func() bool {
		if c.dropped(call) {
			return false
		}
		c.free(call)
		return true
	})
}

// responseFrame returns the frame of a response that the SDK made.
func responseFrame(id json.RawMessage, resp *jsonrpc.Response) []byte {
	if resp.Error != nil {
		return appendError(nil, id, outwardError(resp.Error))
	}
	frame := make([]byte, 0, len(id)+len(resp.Result)+64)
	frame = append(appendHead(frame, id), `"result":`...)
	return append(append(frame, resp.Result...), "}\n"...)
}

// refuse answers a line that did not become a request.
func (c *conn) refuse(id json.RawMessage, e *protocolError) {
	_ = c.out.put(appendError(nil, id, e), nil) // A broken pipe has ended the session by itself.
}

// progress writes the frame of a notification that belongs to call, unless the call has
// been answered or dropped.
func (c *conn) progress(call *call, frame []byte) {
	_ = call.out.put(frame, func() bool { return !c.dropped(call) })
}
