package mcp

import (
	"errors"
	"fmt"

	"github.com/tailrace/tailrace/internal/project"
	"github.com/tailrace/tailrace/stages"
)

// The codes of errors that no other package names.
const (
	codeUsage      = "E_USAGE"
	codePermission = "E_PERMISSION"
	codeUnexpected = "E_UNEXPECTED"
	codeBusy       = "E_BUSY"
)

// reasonBusy is the reason of a call that found no seat.
const reasonBusy = "busy"

// A refusal says why nothing was started. Its texts are fixed or made of our own names.
type refusal struct {
	code, reason, message string
}

// internalError is the refusal of a call that failed inside the server.
var internalError = &refusal{codeUnexpected, "internal_error", "the call failed inside the server; call again, and report it if it fails again"}

// invalid refuses arguments that do not fit.
func invalid(message string) *refusal {
	return &refusal{codeUsage, "invalid_arguments", message}
}

// refusedBusy refuses a call that would be one command too many.
func refusedBusy(max int) *refusal {
	return &refusal{codeBusy, reasonBusy, fmt.Sprintf("the server runs as many commands as it may, %d at once over all sessions: wait for one of them to end, then call again", max)}
}

// payload returns the result of the refused call.
func (r *refusal) payload() *stages.Payload {
	return &stages.Payload{
		ExitCode:   1,
		Stderr:     []byte(r.message),
		NotSpawned: true,
		Error:      &stages.PayloadError{Code: r.code, Reason: r.reason, Message: r.message},
	}
}

// refusedSelection returns the refusal of a project that could not be selected.
func refusedSelection(err error) *refusal {
	var e *project.SelectError
	if !errors.As(err, &e) {
		return internalError
	}
	return &refusal{e.Code, e.Reason, e.Error()}
}

// spawnRefusals are the refusals of a command that could not be started, by reason.
var spawnRefusals = map[string]*refusal{
	"command_not_found":       {codeUnexpected, "command_not_found", "the backend command was not found: set HACK_MCP_COMMAND to an executable, or put hack on PATH, and start the server again"},
	"command_is_directory":    {codeUnexpected, "command_is_directory", "the backend command is a folder: set HACK_MCP_COMMAND to an executable and start the server again"},
	"command_not_executable":  {codePermission, "command_not_executable", "the backend command may not be executed: make it executable for this user"},
	"command_bad_interpreter": {codeUnexpected, "command_bad_interpreter", "the interpreter of the backend command was not found: install it, or correct the first line of the script"},
	"command_bad_format":      {codeUnexpected, "command_bad_format", "the backend command is no program of this system: set HACK_MCP_COMMAND to an executable and start the server again"},
	"bad_working_directory":   {codeUnexpected, "bad_working_directory", "the working directory of the server is gone or cannot be entered: start the server again in a folder that exists"},
	"bad_argument":            {codeUsage, "bad_argument", "the arguments are too long for a command line: give a shorter query or fewer names"},
	"spawn_failed":            {codeUnexpected, "spawn_failed", "the backend command could not be started: the system may be short of processes, memory or open files; call again later, with shorter arguments"},
}

// refusedSpawn returns the refusal of a spawn that failed for a reason.
func refusedSpawn(reason string) *refusal {
	if r := spawnRefusals[reason]; r != nil {
		return r
	}
	return spawnRefusals["spawn_failed"]
}
