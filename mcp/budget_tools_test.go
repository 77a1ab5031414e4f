package mcp

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/tailrace/tailrace/internal/memsource"
	"github.com/tailrace/tailrace/pipeline"
	"github.com/tailrace/tailrace/stages"
)

// A played child is a command that is played from memory.
type played struct{ *memsource.Source }

func (played) Shorten(time.Duration) {}

func (played) Done() <-chan struct{} {
	done := make(chan struct{})
	close(done)
	return done
}

func (played) Signalled() (stopped, killed bool) { return false, false }

// playing makes the command of every call one that writes these streams and exits with 0.
func playing(stdout, stderr []byte) func(*server) {
	return func(s *server) {
		s.start = func(command) (child, *refusal) {
			var chunks []pipeline.Chunk
			for _, c := range []struct {
				stream pipeline.Stream
				data   []byte
			}{{pipeline.Stderr, stderr}, {pipeline.Stdout, stdout}} {
				for len(c.data) > 0 {
					n := min(len(c.data), 64<<10)
					chunks = append(chunks, pipeline.Chunk{Stream: c.stream, Data: c.data[:n]})
					c.data = c.data[n:]
				}
			}
			return played{memsource.Of(0, chunks...)}, nil
		}
	}
}

const mib = 1 << 20

// fill repeats a text until it has n bytes or a little less.
func fill(text string, n int) []byte { return bytes.Repeat([]byte(text), n/len(text)) }

// largeOutputs are outputs of which a result with everything in it would be too large.
func largeOutputs() map[string]struct{ stdout, stderr []byte } {
	type streams = struct{ stdout, stderr []byte }
	// An object of 7 MiB is captured whole. With its escapes it is 14 MiB in stdout alone.
	object := append(append([]byte(`{"vars":[],"projects":[],"text":"`), fill(`\"\\<`, 7*mib)...), "\"}\n"...)
	unexpected := append(append([]byte(`{"unexpected":"`), fill(`é`, 9*mib)...), "\"}\n"...)
	keys := append(append([]byte(`{"key":"A","precedence":["a"`), fill(`,"/place/of/a/variable (base)"`, 7*mib)...), `],"vars":[{"key":"A"}`...)
	keys = append(append(keys, fill(`,{"key":"A_NAME_OF_A_VARIABLE","source":"/place"}`, 256<<10)...), `],"projects":[{"name":"shop","runtime":{"services":[{"service":"web"}`...)
	keys = append(append(keys, fill(`,{"service":"\\\"\\\""}`, 256<<10)...), "]}}]}\n"...)
	return map[string]streams{
		"9 MiB of stdout":               {fill("<a> & \"b\" \\ é\x00\n", 9*mib), nil},
		"9 MiB of stderr":               {[]byte("{\"type\":\"log\"}\n"), fill("<a> & \"b\" \\ é\x00\n", 9*mib)},
		"8 MiB on both":                 {fill("\x01", 4*mib), fill("\x01", 4*mib)},
		"9 MiB of events":               {fill("{\"type\":\"log\",\"m\":\"\\\"\\\\<&>\"}\n", 9*mib), nil},
		"7 MiB of JSON data":            {object, nil},
		"9 MiB in an unexpected field":  {unexpected, nil},
		"7 MiB that a projection takes": {keys, nil},
	}
}

// TestB2_EveryToolIsBounded goes over the table, so that no tool can be forgotten.
func TestB2_EveryToolIsBounded(t *testing.T) {
	for name, streams := range largeOutputs() {
		t.Run(name, func(t *testing.T) {
			s := start(t, "argv", playing(streams.stdout, streams.stderr))
			s.register()
			for _, tool := range tools() {
				r := s.call("1", tool.name, samples[tool.name].args)
				checkBudget(t, tool, r)
				if tool.data.withholds() && (*r.Structured.Stdout != "" || strings.Contains(*r.Structured.Stderr, "<a>")) {
					t.Errorf("S6: %s returns raw output", tool.name)
				}
				s.forget()
			}
			s.ping("2")
		})
	}
}

// checkBudget checks the bounds of a result, and that it says what was done to it.
func checkBudget(t *testing.T, tool *tool, r result) {
	t.Helper()
	if len(r.raw) > pipeline.ResultLimit {
		t.Errorf("B2: %s: a result of %d bytes", tool.name, len(r.raw))
	}
	view, truncated := r.Content[0].Text, r.Structured.OutputTruncated != nil
	if !json.Valid([]byte(view)) {
		t.Errorf("B6: %s: the view is no JSON", tool.name)
	}
	whole := `"structuredContent":` + view
	if len(view) > pipeline.TextViewLimit && (truncated || !bytes.Contains(r.raw, []byte(whole))) && len(r.raw) > pipeline.ResultLimit/2 {
		t.Errorf("B3: %s: a view of %d bytes", tool.name, len(view))
	}
	for _, text := range []string{*r.Structured.Stdout, *r.Structured.Stderr} {
		if strings.HasSuffix(strings.TrimSuffix(text, stages.CutNote), "\ufffd") {
			t.Errorf("B9: %s: a cut inside of a code point", tool.name)
		}
	}
	if tool.data.isLog() {
		r.data(t) // E7
	}
}

// A field that nobody expects to be large is cut, too, whichever tool has it: the path of
// the command is that of whoever configured the server.
func TestB8_EveryToolWithALongCommand(t *testing.T) {
	s := start(t, "argv", playing([]byte("{}\n"), nil), func(s *server) {
		s.project.Env = append(s.project.Env, "HACK_MCP_COMMAND="+strings.Repeat("\x01é", 3*mib))
	})
	s.register()
	for _, tool := range tools() {
		r := s.call("1", tool.name, samples[tool.name].args)
		checkBudget(t, tool, r)
		if !strings.HasPrefix(*r.Structured.Command, "\x01é") || r.Structured.OutputTruncated == nil {
			t.Errorf("B8: %s: %.100q", tool.name, *r.Structured.Command)
		}
		s.forget()
	}
	s.ping("2")
}
