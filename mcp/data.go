package mcp

import (
	"bytes"
	"encoding/json"

	"github.com/tailrace/tailrace/internal/jsonscan"
	"github.com/tailrace/tailrace/pipeline"
)

// A dataKind says what the data member of a tool's result is made of.
type dataKind uint8

const (
	// logData: the events of the command's stdout, collected within bounds.
	logData dataKind = iota
	// tailData: the same, with the fields that only a tail has.
	tailData
	// noData: there is no data member.
	noData
	// objectData: stdout, where it is one JSON object; null otherwise.
	objectData
	// runData and execData: the limits of the run.
	runData
	execData
	// envExplainData and envKeysData: projections that cannot carry a value. Raw output
	// is withheld.
	envExplainData
	envKeysData
	// instancesData: a projection of the inventory.
	instancesData
)

// isLog says whether the output is a stream of events.
func (k dataKind) isLog() bool { return k == logData || k == tailData }

// withholds says whether raw output must not be returned.
func (k dataKind) withholds() bool { return k == envExplainData || k == envKeysData }

// large says whether a result may well be longer than what clients take at once.
func (k dataKind) large() bool {
	return k.isLog() || k == objectData || k == runData || k == execData
}

// about describes the data member, for the schema.
func (k dataKind) about() string {
	const events = "events (as the backend wrote them, in order), count, cutoff (null, or the bound and limit that collection stopped at, a success), limits"
	switch k {
	case logData:
		return events + "."
	case tailData:
		return events + ", stop_reason, duration_ms."
	case objectData:
		return "What the command reports, or null where its output is not one JSON object."
	case runData, execData:
		return "The limits of the run."
	case envExplainData:
		return "key, available, secret, format, environment, requested_scope, effective_scope, target, delivered_to, source, precedence; null is for what is not known. Never a value."
	case envKeysData:
		return "format, environment, selected_scope, scopes, keys, missing_required. Never a value."
	case instancesData:
		return "project, found, runtime_ok, instances: branch, compose_project, working_dir, services with containers and running."
	}
	return ""
}

// object returns a JSON text that is one object, on one line and fit for any reader;
// nil where it is none.
func object(text []byte) json.RawMessage {
	text = bytes.TrimSpace(bytes.TrimPrefix(text, []byte("\ufeff")))
	info, ok := jsonscan.Object(text, pipeline.MaxDepth)
	if !ok {
		return nil
	}
	if info.Repair {
		text = jsonscan.Repair(nil, text)
	}
	var b bytes.Buffer
	if json.Compact(&b, text) != nil {
		return nil
	}
	return b.Bytes()
}

// of returns the data of a finished command that was not cut; nil for none.
func (k dataKind) of(stdout []byte, timeoutMs int64, name string) json.RawMessage {
	switch k {
	case objectData:
		if o := object(stdout); o != nil {
			return o
		}
		return json.RawMessage("null")
	case runData, execData:
		return limitsData(k, timeoutMs)
	case envExplainData:
		return encode(projectExplain(object(stdout)))
	case envKeysData:
		return encode(projectKeys(object(stdout)))
	case instancesData:
		return encode(projectInstances(object(stdout), name))
	}
	return nil
}

// limitsData are the limits of a run or an exec.
func limitsData(k dataKind, timeoutMs int64) json.RawMessage {
	limits := map[string]int64{"timeoutMs": timeoutMs}
	if k == execData {
		limits["outputBytes"] = pipeline.CaptureLimit
	}
	return encode(map[string]any{"limits": limits})
}

// encode writes a projection on one line, without escaping for HTML.
func encode(v any) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(v) != nil {
		return json.RawMessage("null")
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
