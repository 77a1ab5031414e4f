package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// staying is a way in a process that stays. It does the work each time that a line comes
// in, writes the result to the file that the line names, and answers with a [reply].
func staying(name string, command func(*input) *exec.Cmd) *peer {
	var (
		cmd  *exec.Cmd
		to   io.WriteCloser
		from *bufio.Reader
	)
	p := &peer{name: name, warm: true}
	work := func(in *input, result string) error {
		if _, err := fmt.Fprintf(to, "%s\n", result); err != nil {
			return err
		}
		line, err := from.ReadString('\n')
		if err != nil {
			return errors.New("its process ended")
		}
		var got reply
		switch {
		case json.Unmarshal([]byte(line), &got) != nil:
			return errors.New("its process did not answer with JSON")
		case got.Error != "":
			return errors.New(got.Error)
		case got.Events != nil && *got.Events != in.events:
			return fmt.Errorf("it found %d events, not %d", *got.Events, in.events)
		}
		return nil
	}
	p.startup = func(_ context.Context, in *input) (err error) {
		c := command(in)
		c.Stderr = os.Stderr
		if to, err = c.StdinPipe(); err != nil {
			return err
		}
		out, err := c.StdoutPipe()
		if err != nil {
			return err
		}
		from = bufio.NewReader(out)
		if err := c.Start(); err != nil {
			return err
		}
		cmd = c
		return nil
	}
	p.stop = func() {
		if cmd != nil {
			to.Close() // the process ends with its stdin
			if cmd.Wait() != nil {
				fmt.Fprintln(os.Stderr, name+" did not end well")
			}
		}
	}
	p.result = func(_ context.Context, in *input) ([]byte, error) {
		file := in.file + ".result"
		if err := work(in, file); err != nil {
			return nil, err
		}
		defer os.Remove(file)
		return os.ReadFile(file)
	}
	p.timed = func(_ context.Context, in *input) error { return work(in, os.DevNull) }
	return p
}

// A reply is what a process that stays answers to a line. Events may be left out: the
// result that was checked has them, too.
type reply struct {
	Events *int64 `json:"events,omitempty"`
	Error  string `json:"error,omitempty"`
}

// apart puts a way that is part of this program into a process of its own, so that what
// one of them leaves to the collector of garbage does not weigh on another.
func apart(p *peer) *peer {
	q := staying(p.name, func(in *input) *exec.Cmd { return exec.Command(os.Args[0], "-stay", p.name, in.file) })
	q.about, q.version, q.against, q.verify = p.about, p.version, p.against, p.verify
	return q
}

// stay is the process of a way that is apart.
func stay(ctx context.Context, name, file string) error {
	ways := inGo()
	i := slices.IndexFunc(ways, func(p *peer) bool { return p.name == name })
	if i < 0 {
		return errors.New("-stay takes the name of a way in this program")
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	in := &input{file: file, data: data}
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		var r reply
		if err := answer(ctx, ways[i], in, lines.Text()); err != nil {
			r.Error = strings.ReplaceAll(err.Error(), "\n", " ")
		}
		if err := json.NewEncoder(os.Stdout).Encode(r); err != nil {
			return err
		}
	}
	return nil
}

// answer does the work once: for the time, or for a result to be checked.
func answer(ctx context.Context, p *peer, in *input, to string) error {
	if to == os.DevNull {
		return p.run(ctx, in)
	}
	result, err := p.result(ctx, in)
	if err != nil {
		return err
	}
	return os.WriteFile(to, result, 0o600)
}
