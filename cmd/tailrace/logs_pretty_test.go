package main

import (
	"bytes"
	"context"
	"iter"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tailrace/tailrace/internal/project"
	"github.com/tailrace/tailrace/pipeline"
)

const prettyJSON = "{\n  \"level\": \"warn\",\n  \"msg\": \"m\"\n}\n"

func TestLogs_Pretty(t *testing.T) {
	var out bytes.Buffer
	o := &logsOptions{tail: 200, pretty: true, prettyGiven: true}
	_, err := play(t, t.Context(), o, &out,
		played{name: "web", from: text(prettyJSON + "last {\n{\"cut\":\n")}, played{name: "database", from: text("level=info msg=up\n")})
	wantCode(t, err, 0)
	const want = "WARN  web      | {\n                   \"level\": \"warn\",\n                   \"msg\": \"m\"\n                 }\n" +
		"      web      | last {\n" + "INFO  database | up\n" + "      web      | {\"cut\":\n"
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}

func TestLogs_ForPeople(t *testing.T) {
	for _, c := range []struct {
		o              logsOptions
		terminal, want bool
	}{
		{logsOptions{}, false, false}, {logsOptions{}, true, true}, {logsOptions{json: true}, true, false},
		{logsOptions{prettyGiven: true}, true, false}, {logsOptions{prettyGiven: true, pretty: true}, false, true},
	} {
		if c.o.forPeople(c.terminal) != c.want {
			t.Errorf("%+v", c)
		}
	}
}

func TestMayColor(t *testing.T) {
	for _, c := range []struct {
		env  []string
		want bool
	}{
		{nil, true}, {[]string{"NO_COLOR="}, true}, {[]string{"NO_COLOR=1"}, false}, {[]string{"NO_COLOR=0"}, false},
		{[]string{"TERM=dumb"}, false}, {[]string{"TERM=xterm"}, true}, {[]string{"NO_COLOR=1", "NO_COLOR="}, true},
	} {
		if mayColor(c.env) != c.want {
			t.Errorf("%q: %v", c.env, !c.want)
		}
	}
}

// A stalled is a source that says something and then nothing more until it is stopped.
type stalled struct{ says []string }

func (s *stalled) Chunks(ctx context.Context) iter.Seq[pipeline.Chunk] {
	return func(yield func(pipeline.Chunk) bool) {
		for i, text := range s.says {
			if i > 0 {
				select {
				case <-time.After(idleBlock * 3 / 4):
				case <-ctx.Done():
					return
				}
			}
			if !yield(pipeline.Chunk{Stream: pipeline.Stdout, Data: []byte(text)}) {
				return
			}
		}
		<-ctx.Done()
	}
}

func (s *stalled) Exit() pipeline.Exit { return pipeline.Exit{End: pipeline.EndContext} }
func (s *stalled) Close() error        { return nil }

// A JSON text that is followed is kept together while it grows, and shown as it is when
// nothing more comes.
func TestLogs_PrettyFollow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		o := &logsOptions{tail: 200, pretty: true, prettyGiven: true, follow: true}
		a := &app{Stdout: &out, Stderr: &out, Now: time.Now}
		r := newLogsRun(a, o, &plan{sources: []project.Source{{Name: "web", File: "/none"}}})
		ctx, cancel := context.WithCancelCause(t.Context())
		r.stop = cancel
		r.open = func(project.Source) (pipeline.Source, error) {
			return &stalled{says: []string{"{\n", "\"a\":\n", "1\n", "}\n", "{\n\"cut\":\n"}}, nil
		}
		done := make(chan error, 1)
		go func() { done <- r.run(ctx) }()
		var seen []string
		for range 40 {
			time.Sleep(idleBlock / 4)
			synctest.Wait()
			r.mu.Lock() // what guards the writes
			text := out.String()
			r.mu.Unlock()
			if len(seen) == 0 && text != "" || len(seen) > 0 && seen[len(seen)-1] != text {
				seen = append(seen, text)
			}
		}
		cancel(nil)
		<-done
		const whole = "web | {\n      \"a\":\n      1\n      }\n"
		if want := []string{whole, whole + "web | {\n      \"cut\":\n"}; !slices.Equal(seen, want) {
			t.Errorf("got %q, want %q", seen, want)
		}
	})
}
