package main

import (
	"io"
	"time"
)

// An app is what the commands see of the outside, so that a test can give them another.
type app struct {
	// Stdin, Stdout and Stderr are the standard streams.
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// Args is the command line without the name of the program.
	Args []string
	// Env is the environment as "KEY=value" strings.
	Env []string
	// Cwd is the working directory.
	Cwd string
	// Now is the clock.
	Now func() time.Time
}

// An exitError ends the program with a code. Its err is written to stderr; nil means
// that everything has been said.
type exitError struct {
	code int
	err  error
}

// Error returns the text of err.
func (e *exitError) Error() string {
	if e.err == nil {
		return "failed"
	}
	return e.err.Error()
}

// Unwrap returns err.
func (e *exitError) Unwrap() error { return e.err }
