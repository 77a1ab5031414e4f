package composefile

import "errors"

// The errors of this package. Their texts are fixed.
var (
	// ErrNoFile: the project has no compose file.
	ErrNoFile = errors.New("the project has no compose file: add a compose.yaml, or run `tailrace init --auto` in its folder")
	// ErrCompose: a compose file cannot be read, or is not valid.
	ErrCompose = errors.New("the compose file cannot be read or is not valid: run `docker compose config --quiet` in its folder to see why")
	// ErrEnvFile: a .env file cannot be read, or is not valid.
	ErrEnvFile = errors.New("a .env file of the project cannot be read or is not valid: each line is NAME=value")
	// ErrName: the name of the compose project is none.
	ErrName = errors.New("the compose project has no valid name: set name in its compose file, in lower case letters, digits, dashes and underscores")
	// ErrOverlay: the environment that was asked for has no file.
	ErrOverlay = errors.New("the environment has no file: name one that has a .env.NAME beside the compose file, or base")
)
