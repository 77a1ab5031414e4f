package mcp

import (
	"errors"
	"slices"
	"strings"
)

// The errors of a choice of tools.
var (
	// ErrUnknownTool is wrapped by the error for a name that is no tool's.
	ErrUnknownTool = errors.New("not the name of a tool")
	// ErrNoTools is wrapped by the error for a choice that leaves no tool.
	ErrNoTools = errors.New("no tool is left")
)

// A Toolset chooses the tools that a session offers. A call of any other is refused as one
// of an unknown tool. The zero value chooses all tools.
type Toolset struct {
	// ReadOnly leaves the tools that change nothing.
	ReadOnly bool
	// Names leaves the tools of these names; empty leaves all.
	Names []string
}

// ToolNames returns the names of all tools, sorted.
func ToolNames() []string {
	var names []string
	for _, t := range tools() {
		names = append(names, t.name)
	}
	slices.Sort(names)
	return names
}

// Check returns an error that wraps [ErrUnknownTool] or [ErrNoTools], and names the tools
// that there are. It repeats no name that it was given.
func (s Toolset) Check() error {
	_, err := s.of(tools())
	return err
}

// of returns those of some tools that are chosen.
func (s Toolset) of(offered []*tool) (chosen []*tool, err error) {
	for _, name := range s.Names {
		if known := ToolNames(); !slices.Contains(known, name) {
			return nil, &toolsError{ErrUnknownTool, "; the tools are " + strings.Join(known, ", ")}
		}
	}
	var possible []string
	for _, t := range offered {
		if s.ReadOnly && !t.readOnly {
			continue
		}
		possible = append(possible, t.name)
		if len(s.Names) == 0 || slices.Contains(s.Names, t.name) {
			chosen = append(chosen, t)
		}
	}
	if len(chosen) == 0 {
		return nil, &toolsError{ErrNoTools, "; those to choose from are " + strings.Join(possible, ", ")}
	}
	return chosen, nil
}

// A toolsError is an error of a choice with the names of the tools.
type toolsError struct {
	kind error
	text string
}

func (e *toolsError) Error() string { return e.kind.Error() + e.text }

func (e *toolsError) Unwrap() error { return e.kind }
