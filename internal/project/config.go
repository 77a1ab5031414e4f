package project

import (
	"fmt"
	"path/filepath"
	"unicode/utf8"
)

// The limits of tailrace.yaml. They are small because a repository that was cloned a
// minute ago brings its own: the YAML parser's time grows with the square of a file's
// size and of its nesting, and within these limits it stays far below a second.
const (
	// MaxConfigBytes is the largest tailrace.yaml that is read.
	MaxConfigBytes = 64 << 10
	// MaxSources is how many sources a tailrace.yaml can have.
	MaxSources = 100

	maxConfigLine     = 4096
	maxConfigBrackets = 1024
)

// A Config is what a tailrace.yaml says.
type Config struct {
	// Name is the project's name; "" where the file gives none.
	Name string
	// Sources are the sources, in the order of the file. There may be none.
	Sources []Source
}

// A ConfigError says why a tailrace.yaml was refused. It repeats nothing of the file.
type ConfigError struct {
	// Line and Column say where, both from 1; 0 where the whole file is meant. Columns
	// count characters.
	Line, Column int
	// Problem says what is wrong and what to do.
	Problem string
}

// Error returns the place and the problem.
func (e *ConfigError) Error() string {
	if e.Line == 0 {
		return ConfigFile + ": " + e.Problem
	}
	return fmt.Sprintf("%s:%d:%d: %s", ConfigFile, e.Line, e.Column, e.Problem)
}

// LoadConfig reads the tailrace.yaml at path. Relative paths in it are resolved against
// its folder. The error is a *[ConfigError].
func LoadConfig(path string) (Config, error) {
	data, err := readRegular(path, MaxConfigBytes)
	if err == errForm {
		return Config{}, &ConfigError{Problem: fmt.Sprintf("is no file of at most %d bytes: make it shorter", MaxConfigBytes)}
	}
	if err != nil {
		return Config{}, &ConfigError{Problem: "cannot be read: check that it is there, and its rights"}
	}
	return ParseConfig(data, filepath.Dir(path))
}

// ParseConfig reads the text of a tailrace.yaml whose folder is dir. The error is a
// *[ConfigError].
func ParseConfig(data []byte, dir string) (Config, error) {
	if err := precheck(data); err != nil {
		return Config{}, err
	}
	root, err := parseYAML(data)
	if err != nil {
		return Config{}, err
	}
	return readConfig(root, dir)
}

// precheck looks at the text before the parser does, for what would make it slow.
func precheck(data []byte) error {
	if len(data) > MaxConfigBytes {
		return &ConfigError{Problem: fmt.Sprintf("is larger than %d bytes: make it shorter", MaxConfigBytes)}
	}
	line, start, brackets := 1, 0, 0
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		column := func() int { return utf8.RuneCount(data[start:i]) + 1 }
		switch {
		case r == utf8.RuneError && size == 1:
			return &ConfigError{line, column(), "is not UTF-8: save it in that encoding"}
		case r == '\n':
			line, start = line+1, i+1
		case r < 0x20 && r != '\t' && r != '\r', r == 0x7f:
			return &ConfigError{line, column(), "has a control character: remove it, or write it as an escape in double quotes"}
		case i-start >= maxConfigLine:
			return &ConfigError{line, 1, fmt.Sprintf("has a line of more than %d bytes: break it", maxConfigLine)}
		case r == '[' || r == '{':
			if brackets++; brackets > maxConfigBrackets {
				return &ConfigError{line, column(), fmt.Sprintf("has more than %d opening brackets: write it in block style", maxConfigBrackets)}
			}
		}
		i += size
	}
	return nil
}
