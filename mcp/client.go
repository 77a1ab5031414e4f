package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// clientGrace is how long a server has to end after its stdin was closed.
const clientGrace = 3 * time.Second

var (
	// ErrServerGone is the error of a call whose server ended: start a new one.
	ErrServerGone = errors.New("the server ended: start it again")
	// ErrRejected is wrapped by the error of a call that the server answered with a
	// protocol error, not with a result.
	ErrRejected = errors.New("the server rejected the call")
)

// A Client is a client of one server process, as small as a demonstration needs. Its
// methods are safe for concurrent use; calls run one after the other.
type Client struct {
	cmd     *exec.Cmd
	stdin   io.Closer
	stdout  io.Closer
	conn    *clientConn
	session *sdk.ClientSession

	calling sync.Mutex
	closing sync.Once
	closed  error
}

// A CallResult is what a call returned, and what it cost on the wire.
type CallResult struct {
	// Frame is the response line as it was read, with its LF.
	Frame []byte
	// ResultBytes is the size of the result in it, in bytes.
	ResultBytes int
	// TextBytes is the size of the text content, in bytes, unescaped.
	TextBytes int
	// IsError says whether the result is marked as an error.
	IsError bool
	// Structured is the structured content; its events are raw.
	Structured Structured
}

// Structured is the structured content of a log tool's result.
type Structured struct {
	OK              bool   `json:"ok"`
	OutputTruncated bool   `json:"outputTruncated"`
	Command         string `json:"command"`
	ExitCode        int    `json:"exitCode"`
	Stdout          string `json:"stdout"`
	Stderr          string `json:"stderr"`
	// Spawned is nil where a command was started.
	Spawned *bool `json:"spawned"`
	Data    struct {
		Events []json.RawMessage `json:"events"`
		Count  int               `json:"count"`
		// Cutoff is nil where collection was not cut off.
		Cutoff *struct {
			Bound string `json:"bound"`
			Limit int64  `json:"limit"`
		} `json:"cutoff"`
		StopReason string `json:"stop_reason"`
		DurationMs int64  `json:"duration_ms"`
	} `json:"data"`
	// Error is nil where the call did not fail.
	Error *struct {
		Code    string `json:"code"`
		Reason  string `json:"reason"`
		Message string `json:"message"`
	} `json:"error"`
}

// Dial starts cmd as a server on its stdin and stdout and begins a session. It ends the
// process where that fails, and where ctx is done before. The caller closes the client. A
// zero WaitDelay of cmd becomes 3 s.
func Dial(ctx context.Context, cmd *exec.Cmd) (*Client, error) {
	if cmd.WaitDelay == 0 {
		cmd.WaitDelay = clientGrace
	}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, errors.New("the server could not be started: check that its executable is there")
	}
	c := &Client{cmd: cmd, stdin: stdin, stdout: stdout, conn: &clientConn{w: stdin, r: bufio.NewReaderSize(stdout, 64<<10)}}
	client := sdk.NewClient(&sdk.Implementation{Name: "tailrace-client", Version: "1"}, nil)
	// The SDK waits for the reading side, also where ctx is done.
	stop := context.AfterFunc(ctx, c.kill)
	c.session, err = client.Connect(ctx, c.conn, nil)
	if !stop() || err != nil {
		_ = c.Close()
		return nil, ErrServerGone
	}
	return c, nil
}

// Call calls a tool and returns its result. A failed call is a result, too; the error is
// [ErrServerGone], ctx's own, or wraps [ErrRejected].
func (c *Client) Call(ctx context.Context, tool string, args map[string]any) (*CallResult, error) {
	c.calling.Lock()
	defer c.calling.Unlock()
	if args == nil {
		args = map[string]any{}
	}
	_, err := c.session.CallTool(ctx, &sdk.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		return nil, callError(ctx, err)
	}
	// What the SDK decoded has lost the spelling of the events, so the frame is read again.
	frame := c.conn.lastResponse()
	var m struct {
		Result json.RawMessage `json:"result"`
	}
	if err := json.Unmarshal(frame, &m); err != nil {
		return nil, ErrServerGone
	}
	var r struct {
		Content []struct {
			Text string `json:"text"`
		} `json:"content"`
		Structured Structured `json:"structuredContent"`
		IsError    bool       `json:"isError"`
	}
	if err := json.Unmarshal(m.Result, &r); err != nil {
		return nil, errors.Join(ErrRejected, errors.New("its result has another shape: use a server of the same version"))
	}
	out := &CallResult{Frame: frame, ResultBytes: len(m.Result), IsError: r.IsError, Structured: r.Structured}
	for _, item := range r.Content {
		out.TextBytes += len(item.Text)
	}
	return out, nil
}

// Close ends the session and the process: it closes stdin, waits 3 s, and then kills it.
// The error is that of the process.
func (c *Client) Close() error {
	c.closing.Do(func() {
		_ = c.stdin.Close()
		kill := time.AfterFunc(clientGrace, c.kill)
		defer kill.Stop()
		if c.session != nil {
			_ = c.session.Wait() // The reading side ends with the process.
		}
		c.closed = c.cmd.Wait()
	})
	return c.closed
}

// kill ends the process, and the reading side with it: what the process started may hold
// the other end of the pipe.
func (c *Client) kill() {
	_ = c.cmd.Process.Kill()
	_ = c.stdout.Close()
}

// A clientConn is the client's side of the streams. It keeps the last response as it was read.
type clientConn struct {
	w io.Writer
	r *bufio.Reader

	writing sync.Mutex
	mu      sync.Mutex
	last    []byte
}

// Connect returns the connection itself.
func (c *clientConn) Connect(context.Context) (sdk.Connection, error) { return c, nil }

// SessionID returns "".
func (c *clientConn) SessionID() string { return "" }

// Close does nothing: the client owns both pipes.
func (c *clientConn) Close() error { return nil }

// Read reads one frame.
func (c *clientConn) Read(context.Context) (jsonrpc.Message, error) {
	line, err := c.r.ReadBytes('\n')
	if err != nil {
		return nil, io.EOF
	}
	m, err := jsonrpc.DecodeMessage(bytes.TrimSpace(line))
	if err != nil {
		return nil, err
	}
	if _, ok := m.(*jsonrpc.Response); ok {
		c.mu.Lock()
		c.last = line
		c.mu.Unlock()
	}
	return m, nil
}

// Write writes one frame.
func (c *clientConn) Write(_ context.Context, m jsonrpc.Message) error {
	frame, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return err
	}
	c.writing.Lock()
	defer c.writing.Unlock()
	_, err = c.w.Write(append(frame, '\n'))
	return err
}

func (c *clientConn) lastResponse() []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.last
}
