package mcp

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"unicode/utf8"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/tailrace/tailrace/internal/jsonscan"
)

const (
	// maxNesting is the deepest JSON of a message. Everything behind the connection
	// parses recursively or in quadratic time.
	maxNesting = 512
	// maxID is the longest id, and the longest progress token, in bytes as written.
	maxID = 4 << 10
	// maxParams is the longest params member of a request that is no tools/call.
	maxParams = 64 << 10
)

const (
	methodInitialize = "initialize"
	methodCallTool   = "tools/call"

	notifyInitialized = "notifications/initialized"
	notifyCancelled   = "notifications/cancelled"
)

// A message is one request or notification of the client, taken apart.
type message struct {
	id     json.RawMessage // as it was written; nil for a notification
	key    string          // equal for equal ids
	method string
	params json.RawMessage // nil where there are none
}

// parseMessage takes a line apart. ok is false where there is nothing to do: an empty
// line, or a response (the server sends no requests). With an error, m.id is what to
// answer to.
func parseMessage(line []byte) (m message, ok bool, bad *protocolError) {
	line = bytes.Trim(line, " \t\r")
	if len(line) == 0 {
		return m, false, nil
	}
	if line[0] != '{' {
		switch {
		case !json.Valid(line):
			return m, false, errNotJSON
		case line[0] == '[':
			return m, false, errBatch
		}
		return m, false, errNoObject
	}
	if !utf8.Valid(line) {
		return m, false, errNotJSON
	}
	if _, ok := jsonscan.Object(line, maxNesting); !ok {
		return m, false, errNotJSON
	}
	// A map, since a struct would also take Id or METHOD.
	var members map[string]json.RawMessage
	if json.Unmarshal(line, &members) != nil {
		return m, false, errNotJSON
	}
	if raw, has := members["id"]; has {
		if m.key, has = idKey(raw); !has {
			return m, false, errID
		}
		m.id = raw
	}
	if !jsonscan.Is(members["jsonrpc"], "2.0") {
		return m, false, errVersion
	}
	raw, has := members["method"]
	if !has && (members["result"] != nil || members["error"] != nil) {
		return m, false, nil
	}
	if m.method, ok = jsonscan.Text(raw); !ok {
		return m, false, errMethod
	}
	m.params = members["params"]
	return m, true, nil
}

// idKey returns a text that equal ids share, in whatever spelling. ok is false for what
// can be no id.
func idKey(raw json.RawMessage) (key string, ok bool) {
	if len(raw) == 0 || len(raw) > maxID {
		return "", false
	}
	if text, ok := jsonscan.Text(raw); ok {
		return "s" + text, true
	}
	if c := raw[0]; c != '-' && (c < '0' || c > '9') {
		return "", false
	}
	if n, err := strconv.ParseInt(string(raw), 10, 64); err == nil {
		return "n" + strconv.FormatInt(n, 10), true
	}
	if f, err := strconv.ParseFloat(string(raw), 64); err == nil && f < 1<<53 && f > -1<<53 && f == math.Trunc(f) {
		return "n" + strconv.FormatInt(int64(f), 10), true
	}
	return "n" + string(raw), true
}

// A callParams is what the params of a request say, apart from what the SDK makes of them.
type callParams struct {
	// params are those that the SDK is given. Its decoder takes time in proportion to
	// length times depth for members of any type, so it sees none that may be long.
	params json.RawMessage
	// token is the progress token as it was written; nil for none.
	token json.RawMessage
}

// parseParams takes the params of a request apart.
func (m *message) parseParams() (p callParams, bad *protocolError) {
	isCall := m.method == methodCallTool
	if !isCall && len(m.params) > maxParams {
		return p, errParamsSize
	}
	p.params = m.params
	var members, meta map[string]json.RawMessage
	if json.Unmarshal(m.params, &members) != nil || members == nil {
		if isCall {
			return p, errParams
		}
		return p, nil // The SDK knows which methods need some.
	}
	if json.Unmarshal(members["_meta"], &meta) == nil {
		if v, ok := jsonscan.Text(meta[sdk.MetaKeyProtocolVersion]); ok && v > protocolVersions[0] {
			return p, unsupportedVersion(v)
		}
	}
	if !isCall {
		return p, nil
	}
	if token := meta["progressToken"]; token != nil {
		if _, ok := idKey(token); ok {
			p.token = token
		}
	}
	name, arguments := members["name"], members["arguments"]
	if _, ok := jsonscan.Text(name); !ok || len(name) > maxID {
		return p, errParams
	}
	n := 1
	if arguments != nil {
		n++
	}
	if len(members) == n {
		return p, nil
	}
	params := make([]byte, 0, len(name)+len(arguments)+32)
	params = append(append(params, `{"name":`...), name...)
	if arguments != nil {
		params = append(append(params, `,"arguments":`...), arguments...)
	}
	p.params = append(params, '}')
	return p, nil
}

// cancelledKey returns the key of the request that a cancelled notification names.
func cancelledKey(params json.RawMessage) (key string, ok bool) {
	var p map[string]json.RawMessage
	if json.Unmarshal(params, &p) != nil {
		return "", false
	}
	return idKey(p["requestId"])
}
