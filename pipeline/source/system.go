package source

import (
	"os"

	"github.com/tailrace/tailrace/internal/procgroup"
)

// A processGroup is what a child needs of its group; [procgroup.Group] is the one that
// runs.
type processGroup interface {
	Pid() int
	Guarded() bool
	Wait() (int, error)
	Terminate()
	Kill()
	Alive() bool
	Exists() bool
	Keep()
	Release()
}

// These calls fail where the system is short of something. Tests put others in their
// place that fail when they are told to; nothing else sets them.
var (
	startGroup = func(s procgroup.Spec) (processGroup, error) { return groupOrNil(procgroup.Start(s)) }
	openPipe   = os.Pipe
	readPipe   = (*os.File).Read
)

// groupOrNil keeps a nil group from becoming an interface that is not nil.
func groupOrNil(g *procgroup.Group, err error) (processGroup, error) {
	if err != nil {
		return nil, err
	}
	return g, nil
}
