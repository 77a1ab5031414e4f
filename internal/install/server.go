package install

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tailrace/tailrace/internal/lazyregexp"
)

// A Server is the entry of a server: what a client starts.
type Server struct {
	// Name is what the client calls the server.
	Name string
	// Command is a path or a name that is looked up on the client's PATH.
	Command string
	// Args are the arguments behind "mcp serve".
	Args []string
}

var serverName = lazyregexp.New(`^[A-Za-z0-9_-]{1,64}$`)

// serveWords begin the arguments of every entry of ours. They tell it from others.
var serveWords = []string{"mcp", "serve"}

// check says whether the entry can be written for every client.
func (s Server) check() error {
	switch {
	case !serverName.MatchString(s.Name):
		return ErrName
	case s.Command == "" || !plain(s.Command):
		return ErrCommand
	}
	for _, a := range s.Args {
		if !plain(a) {
			return ErrArgument
		}
	}
	return nil
}

// plain says whether a text can be written in JSON and TOML alike, and shown.
func plain(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, unicode.IsControl)
}

// args returns all arguments.
func (s Server) args() []string { return append(slices.Clone(serveWords), s.Args...) }

// ours says whether arguments are those of an entry that install may have written.
func ours(args []string) bool {
	return len(args) >= len(serveWords) && slices.Equal(args[:len(serveWords)], serveWords)
}
