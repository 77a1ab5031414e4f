package main

import (
	"context"
	"io"
	"os"
	"os/exec"

	"github.com/tailrace/tailrace/internal/corpus"
	"github.com/tailrace/tailrace/internal/measure"
	"github.com/tailrace/tailrace/internal/vector"
	"github.com/tailrace/tailrace/pipeline"
	"github.com/tailrace/tailrace/pipeline/source"
	"github.com/tailrace/tailrace/stages"
)

// drain starts a command, reads it to its end and throws the bytes away: the limit.
func drain(buf []byte, name string, args ...string) error {
	cmd := exec.Command(name, args...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	for err == nil {
		_, err = out.Read(buf)
	}
	if err != io.EOF {
		return err
	}
	return cmd.Wait()
}

// whole does all of it: start, capture, all stages, the bytes of the result, one write.
func whole(ctx context.Context, file string, dst []byte, sink io.Writer) ([]byte, error) {
	c, err := source.Start(source.Command{Path: "cat", Args: []string{file}, BufferBytes: pipeline.CaptureLimit + 64<<10})
	if err != nil {
		return dst, err
	}
	defer c.Close()
	run, err := stages.Collect(ctx, c, pipeline.Bounds{}, stages.CollectOptions{})
	if err != nil {
		return dst, err
	}
	dst, _ = stages.Budget{}.AppendResult(dst[:0], stages.PayloadOf(run, "cat", false, stages.LogLimits{}))
	_, err = sink.Write(dst)
	return dst, err
}

// corpora are the rows of the inputs, with the vector unit and without.
func (b *bench) corpora(ctx context.Context) ([]row, error) {
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		return nil, err
	}
	defer null.Close()
	var ways []measure.Way
	buf := make([]byte, 256<<10)
	var dst []byte
	for _, c := range corpus.All {
		file := b.files[c.Name]
		ways = append(ways, measure.Way{Name: c.Name + " drain", Run: func(context.Context) error { return drain(buf, "cat", file) }})
		for unit, on := range map[string]bool{" vector": true, " portable": false} {
			if on && !vector.On() {
				continue
			}
			ways = append(ways, measure.Way{Name: c.Name + unit, Run: func(ctx context.Context) (err error) {
				defer vector.Enable(vector.Enable(on))
				dst, err = whole(ctx, file, dst, null)
				return err
			}})
		}
	}
	least, err := b.interleave(ctx, ways)
	if err != nil {
		return nil, err
	}
	goals := map[string][2]float64{"c1": {1.6, 2.0}, "c2": {2.6}, "c3": {1.6}, "c4": {3.5}, "c5": {2.0}, "c6": {2.2}}
	var rows []row
	for _, c := range corpus.All {
		for i, unit := range []string{" vector", " portable"} {
			r := times(c.Name+" end to end / drain,"+unit, least[c.Name+unit]/least[c.Name+" drain"], goals[c.Name][i], 0)
			if least[c.Name+unit] == 0 {
				r.Missing = "this processor has no AVX2"
			}
			rows = append(rows, r)
		}
	}
	return rows, nil
}
