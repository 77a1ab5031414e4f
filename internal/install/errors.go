package install

import (
	"errors"
	"fmt"
)

// The errors of a file that cannot be read or written.
var (
	ErrRead     = errors.New("the configuration cannot be read: check its rights, and that it is a regular file")
	ErrWrite    = errors.New("the configuration cannot be written: check the rights of its folder, and that the folder is one")
	ErrLarge    = errors.New("the configuration is larger than 32 MiB: make it smaller")
	ErrChanged  = errors.New("the configuration was changed in this moment: run the command again")
	ErrLinks    = errors.New("the configuration is a link that leads in a circle: mend the link")
	ErrOutside  = errors.New("the configuration of the project is a link that leads out of the project: replace it by a file")
	ErrNoHome   = errors.New("no home folder is known: set HOME (USERPROFILE on Windows)")
	ErrScope    = errors.New("this client has no configuration of a project: leave out --project")
	ErrName     = errors.New("the name of the server is at most 64 letters, digits, dashes and underscores: choose another with --name")
	ErrCommand  = errors.New("the command is one executable, without control characters: give its path or its name with --command")
	ErrArgument = errors.New("an argument has control characters or is no UTF-8: leave them out")
)

// A Problem says why the text of a configuration is left as it is. It repeats nothing of
// the text.
type Problem struct {
	// Line and Column say where, both from 1. Columns count bytes.
	Line, Column int
	// Reason is the kind of the problem; errors.Is finds it.
	Reason error
}

// The reasons of a [Problem].
var (
	ErrSyntax   = errors.New("the configuration is broken here: mend it, nothing was changed")
	ErrStrict   = errors.New("the configuration is broken here: this client reads JSON without comments and trailing commas. Mend it, nothing was changed")
	ErrDeep     = errors.New("the configuration is nested too deep here: nothing was changed")
	ErrTwice    = errors.New("a name is there twice: remove one of them, nothing was changed")
	ErrShape    = errors.New("the servers of the configuration are not of the form that this client reads: mend it, nothing was changed")
	ErrClosed   = errors.New("the servers are written in a form that cannot be added to: write them as [mcp_servers.NAME] tables, nothing was changed")
	ErrTaken    = errors.New("another server has this name: choose another with --name, or remove that one by hand")
	ErrExtended = errors.New("the entry has more in it than install wrote: remove it by hand, nothing was changed")
)

// Error returns the place and the reason.
func (p *Problem) Error() string {
	return fmt.Sprintf("line %d, column %d: %v", p.Line, p.Column, p.Reason)
}

// Unwrap returns the reason.
func (p *Problem) Unwrap() error { return p.Reason }

// problemAt returns the problem at an offset of a text, in bytes.
func problemAt(text []byte, offset int, reason error) *Problem {
	p := &Problem{Line: 1, Column: 1, Reason: reason}
	for _, b := range text[:min(offset, len(text))] {
		if p.Column++; b == '\n' {
			p.Line, p.Column = p.Line+1, 1
		}
	}
	return p
}
