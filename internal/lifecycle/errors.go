package lifecycle

import (
	"errors"

	"github.com/tailrace/tailrace/internal/composefile"
)

// The codes of an [Error], as the hack command line has them.
const (
	CodeUsage      = "E_USAGE"
	CodePermission = "E_PERMISSION"
	CodeDocker     = "E_DOCKER_UNAVAILABLE"
	CodeConfig     = "E_CONFIG_PARSE"
	CodeNoProject  = "E_PROJECT_NOT_FOUND"
	CodeNoService  = "E_SERVICE_NOT_FOUND"
	CodeCompose    = "E_COMPOSE_FAILED"
	CodeUnexpected = "E_UNEXPECTED"
)

// An Error is why a command was not carried out. Its text is fixed and says what to do.
type Error struct {
	// Code is the class of the error, one of the Code constants.
	Code string
	// Text is the message.
	Text string
	// Exit is the exit code of Docker where that is why; 0 reads as 1.
	Exit int
}

// Error returns the text.
func (e *Error) Error() string { return e.Text }

// Is says whether target is an Error of the same code and text.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Code == e.Code && t.Text == e.Text
}

// The errors of this package.
var (
	ErrNoDocker   = &Error{Code: CodeDocker, Text: "docker was not found on the PATH: install Docker with its compose plugin"}
	ErrNoCompose  = &Error{Code: CodeDocker, Text: "docker has no compose plugin: install it (package docker-compose-plugin), and check that `docker compose version` works"}
	ErrNoEngine   = &Error{Code: CodeDocker, Text: "Docker's engine does not answer: start it, or set DOCKER_HOST to one that runs, and check that `docker version` works"}
	ErrCompose    = &Error{Code: CodeCompose, Text: "docker compose failed: read what it wrote to stderr"}
	ErrOutput     = &Error{Code: CodeUnexpected, Text: "docker wrote what cannot be read: check that its version is 24 or later"}
	ErrUnstarted  = &Error{Code: CodeUnexpected, Text: "docker could not be started: check that it can be executed, and that processes and files are not used up"}
	ErrNotAllowed = &Error{Code: CodePermission, Text: "the project is not registered: read its compose file, then run `tailrace init --auto` in its folder"}
	ErrService    = &Error{Code: CodeNoService, Text: "the project has no service of this name: `tailrace ps` lists those that run, its compose file has all"}
	ErrNames      = &Error{Code: CodeUsage, Text: "--project and --path cannot be combined: leave one out"}
	ErrProfile    = &Error{Code: CodeUsage, Text: "--profile takes names, separated by commas: a letter or digit, then letters, digits, underscores, dots or dashes"}
	ErrServiceArg = &Error{Code: CodeUsage, Text: "a service is a name: a letter or digit, then letters, digits, underscores, dots or dashes"}
	ErrEnvName    = &Error{Code: CodeUsage, Text: "--env takes the name of an environment: a letter or digit, then letters, digits, underscores, dots or dashes"}
	ErrWorkdir    = &Error{Code: CodeUsage, Text: "--workdir takes the path of a folder in the container"}
)

// problem gives an error of package composefile its code.
func problem(err error) error {
	code := CodeConfig
	switch {
	case err == nil:
		return nil
	case errors.Is(err, composefile.ErrNoFile):
		code = CodeNoProject
	case errors.Is(err, composefile.ErrOverlay):
		code = CodeUsage
	}
	return &Error{Code: code, Text: err.Error()}
}
