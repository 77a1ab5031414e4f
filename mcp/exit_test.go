package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/tailrace/tailrace/pipeline"
	"github.com/tailrace/tailrace/stages"
)

var zeroEvent stages.Event

// brokenChild panics when it is read.
type brokenChild struct{ closed chan struct{} }

func (b *brokenChild) Chunks(context.Context) iter.Seq[pipeline.Chunk] { panic("secret") }
func (b *brokenChild) Exit() pipeline.Exit                             { return pipeline.Exit{} }
func (b *brokenChild) Close() error                                    { close(b.closed); return nil }
func (b *brokenChild) Shorten(time.Duration)                           {}
func (b *brokenChild) Done() <-chan struct{}                           { return b.closed }
func (b *brokenChild) Signalled() (stopped, killed bool)               { return false, false }

func TestB1_PanicIsAResult(t *testing.T) {
	b := &brokenChild{closed: make(chan struct{})}
	s := start(t, "argv", func(s *server) {
		s.start = func(command) (child, *refusal) { return b, nil }
	})
	message := s.call("1", SnapshotTool, `{}`).refused(t, "E_UNEXPECTED", "internal_error")
	if strings.Contains(message, "secret") {
		t.Errorf("S9: %q", message)
	}
	<-b.closed
	s.ping("2")
}

func TestB1_ForeignResults(t *testing.T) {
	srv := &server{log: discard(), tools: map[string]*tool{"x": {}}}
	srv.frames.init()
	for name, c := range map[string]struct {
		result *sdk.CallToolResult
		want   string
	}{
		"small": {&sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "hi"}}}, `{"content":[{"type":"text","text":"hi"}]}`},
		"large": {&sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: strings.Repeat("x", pipeline.ResultLimit)}}}, "internal_error"},
	} {
		t.Run(name, func(t *testing.T) {
			sl := &slot{call: &call{id: json.RawMessage("1")}}
			foreign, err := srv.invoke(context.Background(), func(context.Context, string, sdk.Request) (sdk.Result, error) {
				return c.result, nil
			}, methodCallTool, nil, sl)
			if err != nil {
				t.Fatal(err)
			}
			srv.build(sl.call, sl.payload, foreign)
			if !strings.Contains(string(sl.call.frame), c.want) || len(sl.call.frame) > pipeline.FrameLimit {
				t.Errorf("B1: %.300s", sl.call.frame)
			}
		})
	}
}

func TestB2_FramesAreExact(t *testing.T) {
	s := start(t, "large:200")
	r := s.call(`"an id"`, SnapshotTool, `{}`)
	if !strings.Contains(string(r.raw), `<\"&>`) {
		t.Error("B2: the text was escaped for HTML")
	}
	if got := r.data(t); len(got.Events) != 200 || !strings.HasPrefix(string(got.Events[7]), `{"type":"log","n":"000007","m":"<`) {
		t.Errorf("E4: %d events", len(got.Events))
	}
}

func TestB10_SeveralLargeResultsAtOnce(t *testing.T) {
	s := start(t, "large:8000")
	const calls = 4
	for i := range calls {
		s.ask(fmt.Sprint(i), SnapshotTool, `{}`)
	}
	for i := range 40 {
		s.ping(fmt.Sprintf(`"p%d"`, i))
	}
	for i := range calls {
		r := s.result(fmt.Sprint(i))
		if len(r.raw) > pipeline.ResultLimit {
			t.Errorf("B2: %d bytes", len(r.raw))
		}
		d := r.data(t)
		if !*r.Structured.OK || d.Count == 0 || d.Cutoff != nil && d.Cutoff.Bound != "bytes" {
			t.Errorf("B5: %d events, cutoff %+v", d.Count, d.Cutoff)
		}
	}
	s.ping("99")
}

func TestB2_FrameLimit(t *testing.T) {
	var out strings.Builder
	c := newConn(nil, &out, func() {})
	registered := &call{id: json.RawMessage("1"), key: "n1", method: methodCallTool, out: c.out, frame: make([]byte, pipeline.FrameLimit+1)}
	if !c.register(registered) {
		t.Fatal("not registered")
	}
	if err := c.Write(context.Background(), response(registered)); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(out.String(), `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,`) {
		t.Errorf("B2: %.200s", out.String())
	}
}

func discard() *slog.Logger { return slog.New(slog.DiscardHandler) }

func response(c *call) *jsonrpc.Response {
	return &jsonrpc.Response{ID: numberID(c.number), Result: json.RawMessage("null")}
}
