package main

import "errors"

// The exit codes. They are part of the command's interface: README.md lists them.
const (
	codeComplete    = 0   // complete, or cut off at a bound
	codeFailed      = 1   // the backend failed, or the call was refused
	codeMisuse      = 2   // the command line is wrong
	codeCut         = 3   // cut off, with --fail-on-cut
	codeNoExecute   = 126 // not started: there, but not executable
	codeNotFound    = 127 // not started: not found
	codeInterrupted = 130 // ended by SIGINT
	codeTerminated  = 143 // ended by SIGTERM
)

// A usageError is a wrong command line. Its text repeats nothing of it.
type usageError struct{ text string }

func (e *usageError) Error() string { return e.text }

// codeOf returns the exit code for what a command returned, and what is still to be said.
func codeOf(err error) (int, error) {
	var exit *exitError
	var usage *usageError
	switch {
	case err == nil:
		return codeComplete, nil
	case errors.As(err, &exit):
		return exit.code, exit.err
	case errors.As(err, &usage):
		return codeMisuse, usage
	}
	return codeFailed, err
}
