package mcp

import (
	"encoding/json"
	"errors"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/tailrace/tailrace/internal/jsonstr"
	"github.com/tailrace/tailrace/internal/lazyregexp"
)

// A protocolError is a JSON-RPC error whose text is ours: fixed, or made of our own
// names. Texts of the SDK repeat what the caller sent, so none of them is passed on.
type protocolError struct {
	code int64
	text string
	data json.RawMessage
}

// Error returns the text.
func (e *protocolError) Error() string { return e.text }

// The errors that the connection itself answers with.
var (
	errNotJSON    = &protocolError{code: jsonrpc.CodeParseError, text: "parse error: each line must be one JSON object in UTF-8, nested at most 512 levels deep"}
	errTooLong    = &protocolError{code: jsonrpc.CodeInvalidRequest, text: "invalid request: a message may have at most 16777216 bytes"}
	errNoObject   = &protocolError{code: jsonrpc.CodeInvalidRequest, text: "invalid request: a message must be one JSON object"}
	errBatch      = &protocolError{code: jsonrpc.CodeInvalidRequest, text: "invalid request: batches are not supported, send one message a line"}
	errVersion    = &protocolError{code: jsonrpc.CodeInvalidRequest, text: `invalid request: jsonrpc must be "2.0"`}
	errMethod     = &protocolError{code: jsonrpc.CodeInvalidRequest, text: "invalid request: method must be a string"}
	errID         = &protocolError{code: jsonrpc.CodeInvalidRequest, text: "invalid request: id must be a string or a number of at most 4096 bytes"}
	errIDInUse    = &protocolError{code: jsonrpc.CodeInvalidRequest, text: "invalid request: a request with this id is still running"}
	errParams     = &protocolError{code: jsonrpc.CodeInvalidParams, text: "invalid params: they do not fit the method"}
	errParamsSize = &protocolError{code: jsonrpc.CodeInvalidRequest, text: "invalid request: params may have at most 65536 bytes, except for those of a tool call"}
	errFrameSize  = &protocolError{code: jsonrpc.CodeInternalError, text: "internal error: the response is larger than a client can read"}
	errInternal   = &protocolError{code: jsonrpc.CodeInternalError, text: "internal error: the request failed inside the server"}
	errDropped    = &protocolError{code: jsonrpc.CodeInternalError, text: "the request was cancelled"}
)

// outwardError returns what the client is told of an error: our own errors as they are,
// anything else by its code alone.
func outwardError(err error) *protocolError {
	var own *protocolError
	if errors.As(err, &own) {
		return own
	}
	var wire *jsonrpc.Error
	if !errors.As(err, &wire) {
		// What the SDK reports without a code are requests out of order.
		return &protocolError{code: jsonrpc.CodeInvalidRequest, text: "invalid request: a session starts with one initialize request"}
	}
	e := &protocolError{code: wire.Code}
	switch wire.Code {
	case jsonrpc.CodeParseError:
		e.text = "parse error"
	case jsonrpc.CodeInvalidRequest:
		e.text = "invalid request: id or params do not fit the method"
	case jsonrpc.CodeMethodNotFound:
		e.text = "method not found"
	case jsonrpc.CodeInvalidParams:
		return errParams
	case 0:
		e.code, e.text = jsonrpc.CodeInvalidRequest, "invalid request"
	default:
		e.text = "the request failed"
	}
	return e
}

var datePattern = lazyregexp.New(`^[0-9]{4}-[0-9]{2}-[0-9]{2}$`)

// unsupportedVersion returns the error of a request in a version that is not spoken. The
// protocol asks for that version in it; it is told where it is a date and nothing else.
func unsupportedVersion(requested string) *protocolError {
	if !datePattern.MatchString(requested) {
		requested = ""
	}
	data, _ := json.Marshal(sdk.UnsupportedProtocolVersionData{Supported: protocolVersions, Requested: requested})
	return &protocolError{code: sdk.CodeUnsupportedProtocolVersion, text: "unsupported protocol version", data: data}
}

// appendError appends the frame of an error response. An id of nil is written as null.
func appendError(dst []byte, id json.RawMessage, e *protocolError) []byte {
	dst = appendHead(dst, id)
	dst = append(dst, `"error":{"code":`...)
	code, _ := json.Marshal(e.code)
	dst = append(dst, code...)
	dst = append(dst, `,"message":"`...)
	dst = jsonstr.Append(dst, []byte(e.text))
	dst = append(dst, '"')
	if e.data != nil {
		dst = append(dst, `,"data":`...)
		dst = append(dst, e.data...)
	}
	return append(dst, "}}\n"...)
}

// appendHead appends the start of a response, up to its result or error member.
func appendHead(dst []byte, id json.RawMessage) []byte {
	dst = append(dst, `{"jsonrpc":"2.0","id":`...)
	if id == nil {
		dst = append(dst, "null"...)
	} else {
		dst = append(dst, id...)
	}
	return append(dst, ',')
}
