package main

import (
	"context"
	"io"
	"os/exec"
	"runtime"

	"github.com/tailrace/tailrace/bench"
)

// naive is the plain way in Go. Its result does not fit the limit: it has no budget.
func naive() *peer {
	work := func(ctx context.Context, in *input) ([]byte, error) {
		cmd := exec.CommandContext(ctx, "cat", in.file)
		out, err := cmd.StdoutPipe()
		if err != nil {
			return nil, err
		}
		if err := cmd.Start(); err != nil {
			return nil, err
		}
		result, err := bench.Naive(out, 0)
		if err != nil {
			return nil, err
		}
		return result, cmd.Wait()
	}
	return &peer{
		name: "naive Go", version: runtime.Version(), against: oursWarm, verify: verifyResult(false), result: work,
		about: "bufio.Scanner, encoding/json into maps, one Marshal for each channel; no budget",
		timed: func(ctx context.Context, in *input) error {
			return toNull(func(w io.Writer) error {
				result, err := work(ctx, in)
				if err != nil {
					return err
				}
				_, err = w.Write(result)
				return err
			})
		},
	}
}
