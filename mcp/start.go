package mcp

import (
	"errors"

	"github.com/tailrace/tailrace/pipeline/source"
)

// startChild starts a command in a process group of its own.
func startChild(c command) (child, *refusal) {
	ch, err := source.Start(source.Command{
		Path: c.path, Args: c.args, Dir: c.dir, Env: c.env,
		KeepGroup: c.keepGroup,
		// All of the output of a bounded run lies in one buffer; the rest is room for
		// the read that finds that there is more.
		BufferBytes: c.capture + 64<<10,
	})
	if err != nil {
		var e *source.SpawnError
		if errors.As(err, &e) {
			return nil, refusedSpawn(string(e.Reason))
		}
		return nil, refusedSpawn("")
	}
	return ch, nil
}
