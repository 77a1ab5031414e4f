package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/tailrace/tailrace/internal/corpus"
	"github.com/tailrace/tailrace/internal/measure"
	"github.com/tailrace/tailrace/pipeline"
	"github.com/tailrace/tailrace/pipeline/source"
	"github.com/tailrace/tailrace/stages"
)

// benchProbeTime bounds the run that finds out what an input is.
const benchProbeTime = time.Minute

var (
	errBenchInputFailed = errors.New("the command failed, so its output is not measured: give one that ends well")
	errBenchInputLong   = errors.New("the command wrote more than 8 MiB or ran for more than a minute: give one that ends by itself before that")
	errBenchFile        = errors.New("the file of --file cannot be read, or is larger than 8 MiB: give a smaller one, or a command that reads a part of it")
	errBenchChanged     = errors.New("the input did not read the same twice: give one that does not change")
	errBenchTemp        = errors.New("no temporary file can be made: set TMPDIR to a folder that can be written")
)

// A benchInput is what a child writes.
type benchInput struct {
	name, about string
	command     source.Command
	// data is what the child writes to stdout.
	data []byte
	info measure.Input
}

// benchReader returns the path and the first arguments of a command that writes a file:
// that of the system, since it starts fast, or else this program.
func benchReader() (path string, args []string, name string, err error) {
	if cat, err := exec.LookPath("cat"); err == nil {
		return cat, nil, "cat", nil
	}
	self, err := os.Executable()
	if err != nil {
		return "", nil, "", errors.New("the benchmark does not find its own executable: run it by its path")
	}
	return self, []string{"bench", "source"}, "tailrace bench source", nil
}

// fileInput is a file that the reader writes.
func fileInput(name, about, file string) (*benchInput, string, error) {
	path, args, child, err := benchReader()
	if err != nil {
		return nil, "", err
	}
	return &benchInput{name: name, about: about, command: source.Command{Path: path, Args: append(args, file)}}, child, nil
}

// corpusInput generates a corpus into a file of dir.
func corpusInput(dir string, c corpus.Corpus, size int) (*benchInput, string, error) {
	file := filepath.Join(dir, c.Name)
	if err := os.WriteFile(file, c.Bytes(size), 0o600); err != nil {
		return nil, "", errBenchTemp
	}
	return fileInput(c.Name, c.About, file)
}

// userFile is the file of --file.
func userFile(file string) (*benchInput, string, error) {
	full, err := filepath.Abs(file)
	if err != nil {
		return nil, "", errBenchFile
	}
	if info, err := os.Stat(full); err != nil || !info.Mode().IsRegular() || info.Size() > pipeline.CaptureLimit {
		return nil, "", errBenchFile
	}
	return fileInput("file", "the file of --file", full)
}

// probe runs the input once, checks that it is whole, and learns what it holds.
func (in *benchInput) probe(ctx context.Context) error {
	in.command.BufferBytes = pipeline.CaptureLimit + 64<<10
	child, err := source.Start(in.command)
	if err != nil {
		return &exitError{code: notStartedCode(err), err: err}
	}
	defer child.Close()
	c, err := stages.Collect(ctx, child, pipeline.Bounds{MaxTime: benchProbeTime}, stages.CollectOptions{})
	if err != nil {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	// A failure of the log that is told in an event does not matter here.
	switch {
	case c.Cut.Bound != pipeline.NoBound:
		return errBenchInputLong
	case c.Exit.Failed():
		return errBenchInputFailed
	}
	in.data = bytes.Clone(c.Stdout)
	result, fit := stages.Budget{}.AppendResult(nil, stages.PayloadOf(c, "", false, stages.LogLimits{}))
	if len(result) != fit.Bytes {
		return errBenchChanged
	}
	lines := bytes.Count(in.data, []byte{'\n'})
	if n := len(in.data); n > 0 && in.data[n-1] != '\n' {
		lines++
	}
	in.info = measure.Input{
		Name: in.name, About: in.about, Bytes: int64(len(in.data)), Lines: int64(lines),
		Events: int64(c.Events.Len()), ResultBytes: int64(fit.Bytes),
	}
	return nil
}

// drain reads the child to its end and throws away what it writes.
func (in *benchInput) drain() measure.Way {
	buf := make([]byte, 256<<10)
	return measure.Way{Name: wayDrain, Run: func(ctx context.Context) error {
		cmd := exec.CommandContext(ctx, in.command.Path, in.command.Args...)
		out, err := cmd.StdoutPipe()
		if err != nil {
			return err
		}
		if err := cmd.Start(); err != nil {
			return errors.New("the child could not be started once more")
		}
		n := int64(0)
		for err == nil {
			var read int
			read, err = out.Read(buf)
			n += int64(read)
		}
		if cmd.Wait() != nil || !errors.Is(err, io.EOF) {
			return errBenchInputFailed
		}
		if n != in.info.Bytes {
			return errBenchChanged
		}
		return nil
	}}
}
