package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxRefusal is how much is kept of what the SDK's handler says of a request it refuses.
const maxRefusal = 4 << 10

// An eventStream is the response to a request as a stream of server-sent events. Each
// Write is the data of one event. While there is nothing to write it sends comments. It
// is safe for concurrent use.
type eventStream struct {
	w       http.ResponseWriter
	control *http.ResponseController
	quit    chan struct{}
	alive   sync.WaitGroup

	mu            sync.Mutex
	begun, closed bool
}

// newEventStream returns a stream that writes a comment every so often until it is closed.
func newEventStream(w http.ResponseWriter, every time.Duration) *eventStream {
	e := &eventStream{w: w, control: http.NewResponseController(w), quit: make(chan struct{})}
	e.alive.Go(func() {
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				// A client that is gone is noticed by the connection.
				_, _ = e.parts([]byte(": waiting\n\n"))
			case <-e.quit:
				return
			}
		}
	})
	return e
}

// Write writes one event whose data is a frame, which ends with its only LF.
func (e *eventStream) Write(frame []byte) (int, error) {
	if _, err := e.parts([]byte("event: message\ndata: "), frame, []byte("\n")); err != nil {
		return 0, err
	}
	return len(frame), nil
}

// parts writes parts of a stream and flushes them, all of them within the time of a write.
func (e *eventStream) parts(parts ...[]byte) (n int, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return 0, http.ErrHandlerTimeout
	}
	_ = e.control.SetWriteDeadline(time.Now().Add(writeTime))
	e.begin()
	for _, p := range parts {
		m, err := e.w.Write(p)
		if n += m; err != nil {
			return n, err
		}
	}
	return n, e.control.Flush()
}

// begin sends the header. The caller holds mu.
func (e *eventStream) begin() {
	if e.begun {
		return
	}
	e.begun = true
	header := e.w.Header()
	header.Set("Content-Type", "text/event-stream")
	header.Set("Cache-Control", "no-cache, no-transform")
	header.Set("X-Accel-Buffering", "no")
	e.w.WriteHeader(http.StatusOK)
}

// close ends the stream, and says whether its header has been sent. It is called once.
func (e *eventStream) close() (begun bool) {
	close(e.quit)
	e.mu.Lock()
	e.closed = true
	begun = e.begun
	e.mu.Unlock()
	e.alive.Wait()
	return begun
}

// empty makes the response a stream without events.
func (e *eventStream) empty() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.begin()
}

// A replyWriter is what the SDK's handler takes for the response to a request. It turns
// what the SDK writes into the reply that the connection would have written.
type replyWriter struct {
	header http.Header
	conn   *conn
	stream *eventStream

	status int
	text   bytes.Buffer
}

// Header returns the header that the SDK sets. None of it is sent.
func (w *replyWriter) Header() http.Header { return w.header }

// WriteHeader notes the status.
func (w *replyWriter) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
}

// Write takes one event of the SDK, or the text of a refusal.
func (w *replyWriter) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	if w.status >= http.StatusBadRequest {
		w.text.Write(p[:min(len(p), max(0, maxRefusal-w.text.Len()))])
		return len(p), nil
	}
	_, data, ok := bytes.Cut(p, []byte("data: "))
	if !ok || w.conn == nil {
		return len(p), nil
	}
	msg, err := jsonrpc.DecodeMessage(bytes.TrimSpace(data))
	if err != nil {
		return 0, err
	}
	if resp, ok := msg.(*jsonrpc.Response); ok {
		if resp.Error != nil {
			w.stream.w.Header().Del(sessionHeader) // A failed initialize leaves no session.
		}
		err = w.conn.Write(context.Background(), msg)
	} else {
		_, err = w.stream.Write(append(bytes.TrimSpace(data), '\n'))
	}
	if err != nil {
		return 0, err
	}
	return len(p), nil
}

// FlushError does nothing, since each event is flushed.
func (w *replyWriter) FlushError() error { return nil }

// refusal returns what the client is told of a request that the SDK's handler refused.
// The SDK's own texts repeat what was sent.
func (w *replyWriter) refusal(r *http.Request) *protocolError {
	if msg, err := jsonrpc.DecodeMessage(w.text.Bytes()); err == nil {
		if resp, ok := msg.(*jsonrpc.Response); ok && resp.Error != nil {
			e := outwardError(resp.Error)
			if e.code == sdk.CodeUnsupportedProtocolVersion {
				return unsupportedVersion(r.Header.Get("Mcp-Protocol-Version"))
			}
			return e
		}
	}
	text := w.text.String()
	switch {
	case w.status == http.StatusNotFound:
		return &protocolError{code: jsonrpc.CodeInvalidRequest, text: sayGone}
	case strings.HasPrefix(text, "JSON RPC not handled"):
		return &protocolError{code: jsonrpc.CodeMethodNotFound, text: "method not found"}
	case strings.HasPrefix(text, "Accept must"):
		return &protocolError{code: jsonrpc.CodeInvalidRequest, text: "invalid request: Accept must hold application/json and text/event-stream"}
	case strings.Contains(text, "protocol version"):
		return unsupportedVersion(r.Header.Get("Mcp-Protocol-Version"))
	}
	return &protocolError{code: jsonrpc.CodeInvalidRequest, text: "invalid request: id or params do not fit the method"}
}

// A plainWriter passes on what the SDK's handler writes to a stream of its own, between
// the comments.
type plainWriter struct {
	http.ResponseWriter
	stream *eventStream
}

// WriteHeader sends the header.
func (w *plainWriter) WriteHeader(status int) {
	w.stream.mu.Lock()
	defer w.stream.mu.Unlock()
	if !w.stream.begun {
		w.stream.begun = true
		w.ResponseWriter.WriteHeader(status)
	}
}

// Write writes a part of the stream.
func (w *plainWriter) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.stream.parts(p)
}

// FlushError does nothing, since each Write flushes.
func (w *plainWriter) FlushError() error { return nil }

// refuseMessage answers a message with a JSON-RPC error.
func (h *httpServer) refuseMessage(w http.ResponseWriter, status int, id json.RawMessage, e *protocolError) {
	if status >= http.StatusBadRequest {
		h.metrics.refused(status)
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(appendError(nil, id, e))
}
