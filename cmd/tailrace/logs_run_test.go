package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tailrace/tailrace/internal/memsource"
	"github.com/tailrace/tailrace/internal/project"
	"github.com/tailrace/tailrace/pipeline"
	"github.com/tailrace/tailrace/pipeline/source"
)

// A played is a source of a plan and what it plays.
type played struct {
	name    string
	command bool
	from    pipeline.Source
	err     error
}

func text(s string) *memsource.Source { return memsource.New([]byte(s), 7) }

func onStream(s pipeline.Stream, data string) pipeline.Chunk {
	return pipeline.Chunk{Stream: s, Data: []byte(data)}
}

type opened struct {
	pipeline.Source
	closed *atomic.Int64
}

func (o opened) Close() error { o.closed.Add(1); return o.Source.Close() }

// play runs the command's inner part on sources from memory.
func play(t *testing.T, ctx context.Context, o *logsOptions, out io.Writer, sources ...played) (stderr string, err error) {
	t.Helper()
	defer goleak.VerifyNone(t)
	p := &plan{project: "shop"}
	byName := map[string]played{}
	for _, s := range sources {
		byName[s.name] = s
		spec := project.Source{Name: s.name, File: "/none"}
		if s.command {
			spec = project.Source{Name: s.name, Command: []string{"none"}}
		}
		p.sources = append(p.sources, spec)
	}
	var errs bytes.Buffer
	a := &app{Stdout: out, Stderr: &errs, Now: func() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }}
	r := newLogsRun(a, o, p)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	r.stop = cancel
	var opens, closes atomic.Int64
	r.open = func(s project.Source) (pipeline.Source, error) {
		in := byName[s.Name]
		if in.err != nil {
			return nil, in.err
		}
		opens.Add(1)
		return opened{in.from, &closes}, nil
	}
	err = r.run(ctx)
	if opens.Load() != closes.Load() {
		t.Errorf("%d sources were opened, %d closed", opens.Load(), closes.Load())
	}
	return errs.String(), err
}

func wantCode(t *testing.T, err error, want int) {
	t.Helper()
	var exit *exitError
	switch {
	case err == nil && want == 0:
	case !errors.As(err, &exit) || exit.code != want:
		t.Errorf("got error %v, want exit code %d", err, want)
	}
}

func TestLogs_Snapshot(t *testing.T) {
	web := func() played { return played{name: "web", from: text("w1\nw2\r\nw3")} }
	job := func(code int) played {
		return played{name: "job", command: true, from: memsource.Of(code,
			onStream(pipeline.Stdout, "j1\nj2\nj"), onStream(pipeline.Stderr, "e1\ne"), onStream(pipeline.Stdout, "3\n"))}
	}
	gone := func(name string) played { return played{name: name, err: source.ErrNotFound} }
	for _, tt := range []struct {
		name    string
		o       logsOptions
		sources []played
		stdout  string
		stderr  string
		code    int
	}{
		{"one file, as it is", logsOptions{tail: 200}, []played{web()}, "w1\nw2\nw3\n", "", 0},
		{"files before commands, with names", logsOptions{tail: 200}, []played{job(0), web()},
			"web | w1\nweb | w2\nweb | w3\njob | j1\njob | j2\njob | e1\njob | j3\njob | e\n", "", 0},
		{"last lines of a command", logsOptions{tail: 2}, []played{job(0)}, "j3\ne\n", "", 0},
		{"no lines", logsOptions{tail: 0}, []played{web(), job(0)}, "", "", 0},
		{"a command that fails", logsOptions{tail: 200}, []played{job(3), web()},
			"web | w1\nweb | w2\nweb | w3\njob | j1\njob | j2\njob | e1\njob | j3\njob | e\n",
			"tailrace: source job: the command ended with exit:3\n", 1},
		{"a file that is not there", logsOptions{tail: 200}, []played{gone("web")}, "",
			"tailrace: source web: the file was not found; check its name\n", 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var out bytes.Buffer
			stderr, err := play(t, t.Context(), &tt.o, &out, tt.sources...)
			wantCode(t, err, tt.code)
			if out.String() != tt.stdout || stderr != tt.stderr {
				t.Errorf("got %q and %q, want %q and %q", out.String(), stderr, tt.stdout, tt.stderr)
			}
		})
	}
}

func TestLogs_Events(t *testing.T) {
	sources := func(code int) []played {
		return []played{
			{name: "web", from: text("w1\n")},
			{name: "gone", err: source.ErrPermission},
			{name: "job", command: true, from: memsource.Of(code, onStream(pipeline.Stderr, "j1"))},
		}
	}
	log := func(backend, service, message, stream string) string {
		return fmt.Sprintf(`{"type":"log","ts":"2026-03-01T12:00:00.000Z","project":"shop","backend":"%s","entry":{"source":"%s","message":"%s","raw":"%s"%s,"project":"shop","service":"%s"}}`,
			backend, backend, message, message, stream, service)
	}
	o := &logsOptions{json: true, tail: 200, names: []string{"web", "gone", "job"}, since: "now"}
	var out bytes.Buffer
	stderr, err := play(t, t.Context(), o, &out, sources(9)...)
	wantCode(t, err, 1)
	want := strings.Join([]string{
		`{"type":"start","ts":"2026-03-01T12:00:00.000Z","project":"shop","backend":"mixed","services":["web","gone","job"],"follow":false,"since":"now"}`,
		log("file", "web", "w1", ""),
		`{"type":"error","ts":"2026-03-01T12:00:00.000Z","project":"shop","backend":"file","message":"source gone: the file may not be read; check its permissions"}`,
		log("command", "job", "j1", `,"stream":"stderr"`),
		`{"type":"end","ts":"2026-03-01T12:00:00.000Z","project":"shop","backend":"mixed","reason":"error"}`,
	}, "\n") + "\n"
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
	if !strings.Contains(stderr, "exit:9") {
		t.Errorf("stderr holds %q", stderr)
	}

	out.Reset()
	_, err = play(t, t.Context(), o, &out, sources(9)[2])
	wantCode(t, err, 1)
	if !strings.HasSuffix(out.String(), `"backend":"command","reason":"exit:9"}`+"\n") {
		t.Errorf("got %s", out.String())
	}
	out.Reset()
	_, err = play(t, t.Context(), o, &out, sources(0)[2])
	wantCode(t, err, 0)
	if !strings.HasSuffix(out.String(), `"reason":"eof"}`+"\n") {
		t.Errorf("got %s", out.String())
	}
}

// Lines of followed sources never mix, and each source keeps its order.
func TestLogs_FollowMergesWholeLines(t *testing.T) {
	const n = 2000
	var sources []played
	for _, name := range []string{"a", "b", "c"} {
		var log strings.Builder
		for i := range n {
			fmt.Fprintf(&log, "%s %d\n", name, i)
		}
		sources = append(sources, played{name: name, command: name == "c", from: text(log.String())})
	}
	var out bytes.Buffer
	_, err := play(t, t.Context(), &logsOptions{follow: true, tail: 3}, &out, sources...)
	wantCode(t, err, 0)
	next := map[string]int{}
	for line := range strings.Lines(out.String()) {
		label, rest, _ := strings.Cut(line, " | ")
		if want := fmt.Sprintf("%s %d\n", label, next[label]); rest != want {
			t.Fatalf("got line %q, want %q", line, want)
		}
		next[label]++
	}
	if next["a"] != n || next["b"] != n || next["c"] != n {
		t.Errorf("got %v lines", next)
	}
}

// A held begin of a line is no line where the source was stopped.
func TestE3_StoppedSourceHasNoPartialLine(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	s := &stopping{Source: text("one\ntwo\npart of a line\n"), after: 10, stop: func() { cancel(&signalled{syscall.SIGTERM}) }}
	var out bytes.Buffer
	_, err := play(t, ctx, &logsOptions{follow: true, json: true, tail: 200}, &out, played{name: "web", from: s})
	wantCode(t, err, 128+15)
	if strings.Contains(out.String(), "part") || !strings.HasSuffix(out.String(), `"reason":"closed"}`+"\n") {
		t.Errorf("got %s", out.String())
	}
	if strings.Count(out.String(), "\n") != 4 {
		t.Errorf("want start, two logs and end, got %s", out.String())
	}
}

// A stopping source is stopped from outside after some bytes.
type stopping struct {
	*memsource.Source
	after int
	stop  func()
}

func (s *stopping) Chunks(ctx context.Context) iter.Seq[pipeline.Chunk] {
	return func(yield func(pipeline.Chunk) bool) {
		for c := range s.Source.Chunks(ctx) {
			if !yield(c) {
				return
			}
			if s.after -= len(c.Data); s.after <= 0 {
				s.stop()
			}
		}
	}
}

type brokenPipe struct{ err error }

func (b brokenPipe) Write([]byte) (int, error) { return 0, b.err }

func TestLogs_OutputThatBreaksStopsTheSources(t *testing.T) {
	for want, err := range map[int]error{141: syscall.EPIPE, 1: syscall.ENOSPC} {
		endless := &memsource.Source{}
		for range 1000 {
			endless.Played = append(endless.Played, onStream(pipeline.Stdout, "line\n"))
		}
		_, got := play(t, t.Context(), &logsOptions{follow: true}, brokenPipe{err}, played{name: "job", command: true, from: endless})
		wantCode(t, got, want)
		if endless.Exit().End != pipeline.EndContext {
			t.Errorf("the source was not stopped: %+v", endless.Exit())
		}
	}
}

func TestLogs_Since(t *testing.T) {
	at := time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	log := "2026-03-01T09:00:00Z a\n2026-03-01T10:00:00Z b\n b2\n2026-03-01T11:00:00Z c\n2026-03-01T12:00:00Z d\n"
	var out bytes.Buffer
	o := &logsOptions{sinceAt: at, untilAt: at.Add(time.Hour), tail: 2, tailWasGiven: true}
	_, err := play(t, t.Context(), o, &out, played{name: "web", from: text(log)})
	wantCode(t, err, 0)
	if got, want := out.String(), " b2\n2026-03-01T11:00:00Z c\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	out.Reset()
	stderr, err := play(t, t.Context(), o, &out, played{name: "web", from: text("x\ny\nz\n")})
	wantCode(t, err, 0)
	if out.String() != "y\nz\n" || !strings.Contains(stderr, "no line begins with a time") {
		t.Errorf("got %q and %q", out.String(), stderr)
	}
}

func TestLogs_TerminalShowsControls(t *testing.T) {
	for _, tt := range []struct {
		json bool
		want string
	}{
		{false, `\x1b[2Jok\x9b` + "\n"},
		{true, `"raw":"\u001b[2Jok` + "\ufffd" + `\u202e"`},
	} {
		var out bytes.Buffer
		o := &logsOptions{tail: 200, json: tt.json}
		r := newLogsRun(&app{Stdout: &out, Now: time.Now}, o, &plan{sources: []project.Source{{Name: "web", File: "x"}}})
		r.terminal = true
		in := "\x1b[2Jok\x9b"
		if tt.json {
			in += "\u202e"
		}
		r.open = func(project.Source) (pipeline.Source, error) { return text(in + "\n"), nil }
		wantCode(t, r.run(t.Context()), 0)
		if !strings.Contains(out.String(), tt.want) {
			t.Errorf("got %q, want %q", out.String(), tt.want)
		}
	}
}
