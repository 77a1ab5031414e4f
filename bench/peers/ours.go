package main

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"

	"github.com/tailrace/tailrace/internal/memsource"
	"github.com/tailrace/tailrace/pipeline"
	"github.com/tailrace/tailrace/pipeline/source"
	"github.com/tailrace/tailrace/stages"
)

// The names of our own ways.
const (
	oursWarm   = "tailrace, warm"
	oursMemory = "tailrace, stages over memory"
	oursCold   = "tailrace, whole process"
)

// inGo returns the ways that are part of this program.
func inGo() []*peer { return []*peer{ours(), naive(), benthos(), oursOverMemory(), goStreams()} }

// peersOf returns our own ways and the others, in the order of a round.
func peersOf(binary, scripts string) []*peer {
	var peers []*peer
	for _, p := range inGo() {
		peers = append(peers, apart(p))
	}
	return append(peers,
		script("Node", scripts, findNode), script("Bun", scripts, findBun),
		coldOurs(binary), coldScript("Node", scripts, findNode), coldScript("Bun", scripts, findBun), jq(),
	)
}

// ours is the whole line in a process that stays, from the start of a child to the last byte of
// the result.
func ours() *peer {
	var dst []byte
	work := func(ctx context.Context, in *input, sink io.Writer) error {
		child, err := source.Start(source.Command{Path: "cat", Args: []string{in.file}, BufferBytes: pipeline.CaptureLimit + 64<<10})
		if err != nil {
			return err
		}
		defer child.Close()
		c, err := stages.Collect(ctx, child, pipeline.Bounds{}, stages.CollectOptions{})
		if err != nil {
			return err
		}
		dst, _ = stages.Budget{}.AppendResult(dst[:0], stages.PayloadOf(c, "cat", false, stages.LogLimits{}))
		_, err = sink.Write(dst)
		return err
	}
	return &peer{
		name: oursWarm, verify: verifyResult(true),
		result: func(ctx context.Context, in *input) ([]byte, error) {
			err := work(ctx, in, io.Discard)
			return dst, err
		},
		timed: func(ctx context.Context, in *input) error {
			return toNull(func(w io.Writer) error { return work(ctx, in, w) })
		},
	}
}

// toNull runs work with a writer that the kernel takes the bytes of.
func toNull(work func(io.Writer) error) error {
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer null.Close()
	return work(null)
}

// oursOverMemory is all stages but the budget, over memory.
func oursOverMemory() *peer {
	return &peer{
		name: oursMemory, verify: verifyCount,
		result: func(ctx context.Context, in *input) ([]byte, error) {
			logs := int64(0)
			c, err := stages.Collect(ctx, memsource.New(in.data, 64<<10), pipeline.Bounds{}, stages.CollectOptions{OnEvent: func(e stages.Event) {
				if e.Kind == stages.KindLog {
					logs++
				}
			}})
			if err != nil {
				return nil, err
			}
			return json.Marshal(map[string]int64{"events": int64(c.Events.Len()), "logs": logs, "bytes": int64(len(c.Stdout))})
		},
		timed: func(ctx context.Context, in *input) error {
			_, err := stages.Collect(ctx, memsource.New(in.data, 64<<10), pipeline.Bounds{}, stages.CollectOptions{})
			return err
		},
	}
}

// coldOurs is the program, from its start to its end. On the command line there is no limit
// of a result, so it writes more than the others: the events, and all of stdout.
func coldOurs(binary string) *peer {
	p := process(oursCold, func(in *input) *exec.Cmd { return exec.Command(binary, "run", "-o", "json", "--", "cat", in.file) })
	p.verify = verifyResult(false)
	return p
}
