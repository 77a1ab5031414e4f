package stages

import (
	"encoding/json"

	"github.com/tailrace/tailrace/pipeline"
)

// A Payload is what a finished command says of itself: the structured content of a tool
// result, before any budget. The zero value is a failed command without output.
type Payload struct {
	// OK says whether the command, or the collection, succeeded.
	OK bool
	// OutputTruncated says that output was cut by bytes already at capture.
	OutputTruncated bool
	// Command is the command line for people; empty where nothing was started.
	Command string
	// ExitCode is the command's, 128 + n after signal n, 1 where nothing was started.
	ExitCode int
	// Stdout and Stderr are raw bytes. What is not UTF-8 is written as U+FFFD.
	Stdout, Stderr []byte
	// Log is the typed data of a log collection; nil for other commands.
	Log *LogData
	// Data is the typed data of any other command: valid JSON on one line; nil for none.
	// It is written as it is, and not at all where Log is set.
	Data json.RawMessage
	// NotSpawned says that no process was started.
	NotSpawned bool
	// Error is set exactly where the call failed in a way that has a code.
	Error *PayloadError
}

// A PayloadError is the closed error of a result. Its texts are fixed: they never repeat
// output, input or paths.
type PayloadError struct {
	Code, Reason, Message string
}

// LogData is the data member of a log result.
type LogData struct {
	// Events are the collected events; nil for none.
	Events *EventList
	// Cutoff is the bound that collection stopped at; its Bound is NoBound for null. A
	// payload that is not OK has a null cutoff whatever stands here.
	Cutoff pipeline.Cutoff
	// Tail says that the result has the fields of a tail: stop_reason, duration_ms and
	// the limits maxEvents and maxMs.
	Tail bool
	// StopReason and DurationMs are written for a tail only. No budget changes them.
	StopReason pipeline.StopReason
	DurationMs int64
	// Limits echo what was asked for.
	Limits LogLimits
}

// LogLimits are the limits that a log result echoes. Nil is written as null.
type LogLimits struct {
	Tail, MaxEvents, MaxMs *int64
}
