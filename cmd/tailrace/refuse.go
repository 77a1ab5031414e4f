package main

import (
	"encoding/json"
	"errors"

	"github.com/spf13/pflag"

	"github.com/tailrace/tailrace/internal/lifecycle"
	"github.com/tailrace/tailrace/internal/project"
)

// A refusal is a call that was not carried out. Its text repeats no value of the call.
type refusal struct {
	code string
	text string
}

func (r *refusal) Error() string { return r.text }

// The codes of a refusal, as the envelope writes them. Those of the selection come from
// package project.
const (
	codeUsage    = "E_USAGE"
	codeService  = "E_SERVICE_NOT_FOUND"
	codeConfig   = "E_CONFIG_INVALID"
	codeMissing  = "E_PROJECT_NOT_FOUND"
	codeNoAccess = "E_PERMISSION"
	codeParse    = "E_CONFIG_PARSE"

	codeUnexpected = "E_UNEXPECTED"
)

// refuse says why a call is not carried out and returns what ends the program. With
// JSON, an error that has a code is one object on stdout, written over several lines so
// that none of them is an event.
func (app *app) refuse(asJSON bool, err error) error {
	code := refusalCode(err)
	if !asJSON || code == "" {
		return &exitError{code: 1, err: err}
	}
	type detail struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	}
	out, _ := json.MarshalIndent(struct {
		OK    bool   `json:"ok"`
		Error detail `json:"error"`
	}{Error: detail{code, err.Error()}}, "", "  ") // two strings and a bool: it cannot fail
	if _, err := app.Stdout.Write(append(out, '\n')); err != nil {
		return &exitError{code: 1, err: errOutput}
	}
	// The envelope is no event, so whoever reads events finds the text on stderr.
	return &exitError{code: 1, err: err}
}

// refusalCode is the code of an error, or "" for one that has none.
func refusalCode(err error) string {
	var r *refusal
	var s *project.SelectError
	var c *project.ConfigError
	var l *lifecycle.Error
	switch {
	case errors.As(err, &l):
		return l.Code
	case errors.As(err, &r):
		return r.code
	case errors.As(err, &s):
		return s.Code
	case errors.As(err, &c):
		return codeConfig
	case errors.Is(err, project.ErrRegistryForm):
		return codeParse
	case errors.Is(err, project.ErrRegistryAccess):
		return codeNoAccess
	case errors.Is(err, project.ErrNameTaken), errors.Is(err, project.ErrProject), errors.Is(err, project.ErrNoHome):
		return codeUsage
	case errors.Is(err, project.ErrRegistryBusy):
		return codeUnexpected
	}
	return ""
}

// asksForJSON looks for --json in a command line that could not be parsed.
func asksForJSON(args []string) bool {
	for _, a := range args {
		switch a {
		case "--":
			return false
		case "--json", "--json=true":
			return true
		}
	}
	return false
}

// flagProblem says what is wrong with the flags. It names a flag that is known, and
// repeats nothing else.
func flagProblem(err error) string {
	var missing *pflag.ValueRequiredError
	var invalid *pflag.InvalidValueError
	var value *valueError
	switch {
	case errors.As(err, &missing):
		return "--" + missing.GetFlag().Name + " needs a value"
	case errors.As(err, &value) && errors.As(err, &invalid):
		return "--" + invalid.GetFlag().Name + " " + value.Error()
	case errors.As(err, &invalid):
		return "--" + invalid.GetFlag().Name + " does not take this value: see the command's --help"
	}
	return "unknown option: see the command's --help for the known ones"
}
