package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

const (
	sessionHeader = "Mcp-Session-Id"

	sayType      = "unsupported media type: a POST carries application/json, without a content encoding"
	sayBody      = "the body of a request may have at most 4194304 bytes"
	sayUnread    = "the body could not be read"
	saySlow      = "the body came too slowly"
	sayEmpty     = "a POST carries one JSON-RPC message"
	sayNoSession = "bad request: send initialize first, and its Mcp-Session-Id with every request after it"
	sayGone      = "not found: the session is over or never was; send initialize again"
	sayFull      = "all sessions are taken: end one with DELETE, or try again later"
	sayResume    = "bad request: streams cannot be resumed; leave Last-Event-ID out"
)

// post takes one message of a client. It is checked as on a stream before the SDK sees
// it: what the SDK's own handler parses, it parses at any depth, and repeats in errors.
func (h *httpServer) post(w http.ResponseWriter, r *http.Request) {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "application/json" || r.Header.Get("Content-Encoding") != "" {
		h.refuse(w, http.StatusUnsupportedMediaType, sayType)
		return
	}
	if r.Header.Get("Last-Event-ID") != "" {
		h.refuse(w, http.StatusBadRequest, sayResume)
		return
	}
	body, ok := h.readBody(w, r)
	if !ok {
		return
	}
	m, ok, bad := parseMessage(body)
	switch {
	case bad != nil:
		h.refuseMessage(w, http.StatusBadRequest, m.id, bad)
		return
	case !ok && len(body) == 0:
		h.refuse(w, http.StatusBadRequest, sayEmpty)
		return
	case !ok:
		w.WriteHeader(http.StatusAccepted) // The server asked for no response.
		return
	}
	s, ok := h.sessionOf(w, r, m)
	if !ok {
		return
	}
	defer h.sessions.release(s)
	switch {
	case m.id != nil:
		h.call(w, r, s, m)
	case m.method == notifyInitialized:
		h.pass(w, r, s)
	default:
		if m.method == notifyCancelled {
			s.server.conn.cancel(m.params)
		}
		w.WriteHeader(http.StatusAccepted)
	}
}

// readBody reads the body of a request within its bounds, or refuses it.
func (h *httpServer) readBody(w http.ResponseWriter, r *http.Request) (body []byte, ok bool) {
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(h.body))
	var over *http.MaxBytesError
	if r.ContentLength > maxBody {
		w.Header().Set("Connection", "close") // rather than to read it all
		h.refuse(w, http.StatusRequestEntityTooLarge, sayBody)
		return nil, false
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err == nil {
		// A deadline would end the call, too, by which the connection is watched.
		_ = control.SetReadDeadline(time.Time{})
		return bytes.Trim(body, " \t\r\n"), true
	}
	w.Header().Set("Connection", "close") // or the rest would be waited for
	switch {
	case errors.As(err, &over):
		h.refuse(w, http.StatusRequestEntityTooLarge, sayBody)
	case errors.Is(err, os.ErrDeadlineExceeded):
		h.refuse(w, http.StatusRequestTimeout, saySlow)
	default:
		h.refuse(w, http.StatusBadRequest, sayUnread)
	}
	return nil, false
}

// sessionOf returns the session that a message is for, or refuses it.
func (h *httpServer) sessionOf(w http.ResponseWriter, r *http.Request, m message) (*httpSession, bool) {
	if id := r.Header.Get(sessionHeader); id != "" {
		s := h.sessions.acquire(id)
		if s == nil {
			h.refuse(w, http.StatusNotFound, sayGone)
		}
		return s, s != nil
	}
	if m.id == nil || m.method != methodInitialize {
		h.refuse(w, http.StatusBadRequest, sayNoSession)
		return nil, false
	}
	s, err := h.open()
	switch {
	case err == nil:
		return s, true
	case errors.Is(err, errSessionsFull):
		w.Header().Set("Retry-After", "60")
		h.refuse(w, http.StatusServiceUnavailable, sayFull)
	case errors.Is(err, errEnding):
		h.refuse(w, http.StatusServiceUnavailable, sayDraining)
	default:
		h.refuseMessage(w, http.StatusInternalServerError, m.id, errInternal)
	}
	return nil, false
}

// pass gives a notification to the SDK.
func (h *httpServer) pass(w http.ResponseWriter, r *http.Request, s *httpSession) {
	reply := &replyWriter{header: http.Header{}}
	h.sdk.ServeHTTP(reply, forSDK(r.Context(), r, s, 0, &jsonrpc.Request{Method: notifyInitialized}))
	if reply.status >= http.StatusBadRequest {
		h.refuseMessage(w, reply.status, nil, reply.refusal(r))
		return
	}
	w.WriteHeader(http.StatusAccepted)
}

// call serves one request of a client until it has been answered or nobody waits for the
// answer any more.
func (h *httpServer) call(w http.ResponseWriter, r *http.Request, s *httpSession, m message) {
	conn := s.server.conn
	if m.method == methodInitialize {
		defer func() {
			if !s.begun() {
				s.end()
			}
		}()
	}
	p, bad := m.parseParams()
	if bad != nil {
		h.refuseMessage(w, http.StatusOK, m.id, bad)
		return
	}
	ctx, stop := context.WithCancel(r.Context())
	defer stop()
	stream := newEventStream(w, h.alive)
	c := &call{id: m.id, key: m.key, method: m.method, token: p.token, out: &outlet{w: stream, broken: stop}, stop: stop, over: ctx}
	if !conn.register(c) {
		stream.close()
		h.refuseMessage(w, http.StatusBadRequest, nil, errIDInUse)
		return
	}
	if m.method == methodInitialize {
		w.Header().Set(sessionHeader, s.id)
	}
	reply := &replyWriter{header: http.Header{}, conn: conn, stream: stream}
	h.sdk.ServeHTTP(reply, forSDK(ctx, r, s, c.number, &jsonrpc.Request{ID: numberID(c.number), Method: m.method, Params: p.params}))
	stop()
	open := conn.abandon(c)
	switch begun := stream.close(); {
	case begun && open && s.over():
		// The client has heard of the call and waits for its end. It shall not take
		// this for one.
		panic(http.ErrAbortHandler)
	case begun:
	case reply.status >= http.StatusBadRequest:
		w.Header().Del(sessionHeader)
		status, bad := reply.status, reply.refusal(r)
		if bad.code == jsonrpc.CodeMethodNotFound {
			status = http.StatusOK // It is an answer of the protocol.
		}
		h.refuseMessage(w, status, m.id, bad)
	case s.over() && h.draining.Load():
		h.refuse(w, http.StatusServiceUnavailable, sayDraining)
	case s.over():
		h.refuse(w, http.StatusNotFound, sayGone)
	default:
		stream.empty() // It was cancelled, and a cancelled request gets no reply.
	}
}

// forSDK returns the request that the SDK's handler sees in place of r: number is that of
// the call, 0 for none.
func forSDK(ctx context.Context, r *http.Request, s *httpSession, number int64, msg *jsonrpc.Request) *http.Request {
	out := r.Clone(context.WithValue(ctx, sessionKey{}, s))
	out.Header.Del(callHeader)
	if number != 0 {
		out.Header.Set(callHeader, strconv.FormatInt(number, 10))
	}
	body := make([]byte, 0, len(msg.Params)+128)
	body = append(body, `{"jsonrpc":"2.0","method":`...)
	method, _ := json.Marshal(msg.Method)
	body = append(body, method...)
	if number != 0 {
		body = strconv.AppendInt(append(body, `,"id":`...), number, 10)
	}
	if msg.Params != nil {
		body = append(append(body, `,"params":`...), msg.Params...)
	}
	body = append(body, '}')
	out.Body, out.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return out
}

// get serves the stream for what the server has to say of its own accord. It has nothing
// to say, but some clients wait for the stream.
func (h *httpServer) get(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Header.Get("Last-Event-ID") != "":
		h.refuse(w, http.StatusBadRequest, sayResume)
		return
	case !strings.Contains(strings.Join(r.Header.Values("Accept"), ","), "text/event-stream"):
		h.refuse(w, http.StatusNotAcceptable, "not acceptable: a GET is for text/event-stream")
		return
	}
	s := h.namedSession(w, r)
	if s == nil {
		return
	}
	defer h.sessions.release(s)
	stream := newEventStream(w, h.alive)
	defer stream.close()
	h.sdk.ServeHTTP(&plainWriter{ResponseWriter: w, stream: stream}, r.WithContext(context.WithValue(r.Context(), sessionKey{}, s)))
}

// delete ends a session, and answers when nothing of it is left.
func (h *httpServer) delete(w http.ResponseWriter, r *http.Request) {
	s := h.namedSession(w, r)
	if s == nil {
		return
	}
	defer h.sessions.release(s)
	s.end()
	<-s.done
	w.WriteHeader(http.StatusNoContent)
}

// namedSession returns the session that a request names, or refuses it.
func (h *httpServer) namedSession(w http.ResponseWriter, r *http.Request) *httpSession {
	id := r.Header.Get(sessionHeader)
	if id == "" {
		h.refuse(w, http.StatusBadRequest, sayNoSession)
		return nil
	}
	s := h.sessions.acquire(id)
	if s == nil {
		h.refuse(w, http.StatusNotFound, sayGone)
	}
	return s
}
