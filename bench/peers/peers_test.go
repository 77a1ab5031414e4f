package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/tailrace/tailrace/internal/corpus"
	"github.com/tailrace/tailrace/pipeline"
)

// A way that is apart is this test's program again.
func TestMain(m *testing.M) {
	if len(os.Args) == 4 && os.Args[1] == "-stay" {
		if err := stay(context.Background(), os.Args[2], os.Args[3]); err != nil {
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func smallInput(t *testing.T) *input {
	t.Helper()
	in, err := newInput(t.TempDir(), corpus.All[0], 64<<10)
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// Each way in Go does the work, and its result is right; what is not there is reported.
func TestMeasurePeers(t *testing.T) {
	in := smallInput(t)
	var peers []*peer
	for _, p := range inGo() {
		peers = append(peers, apart(p))
	}
	wrong := naive()
	wrong.name = "wrong"
	right := wrong.result
	wrong.result = func(ctx context.Context, in *input) ([]byte, error) {
		out, err := right(ctx, in)
		return bytes.Replace(out, []byte(`"level":"info"`), []byte(`"level":"warn"`), -1), err
	}
	missing := script("Node", ".", func(string) (string, error) { return "", errors.New("node is not installed") })
	report, err := measurePeers(t.Context(), in, append(peers, wrong, missing), 2)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, p := range report.Peers {
		got[p.Name] = p.Missing
		if p.Missing == "" && (len(p.Times.Times) != 2 || len(p.Against.Times) != 2 || p.Events != in.events) {
			t.Errorf("%s: %+v", p.Name, p)
		}
	}
	want := map[string]string{
		"naive Go": "", "Benthos": "", "go-streams, per line": "", "wrong": "its result is wrong: " + errEvents.Error(), "Node, warm": "node is not installed",
	}
	if len(got) != len(want) {
		t.Errorf("got %q", got)
	}
	for name, problem := range want {
		if p, ok := got[name]; !ok || p != problem {
			t.Errorf("%s: %q, want %q", name, p, problem)
		}
	}
}

// A result that is not the work does not count.
func TestVerify(t *testing.T) {
	in := smallInput(t)
	whole := func(objects [][]byte, count int64) []byte {
		out, err := json.Marshal(map[string]any{
			"content":           []any{map[string]string{"type": "text", "text": "{}"}},
			"structuredContent": map[string]any{"data": map[string]any{"events": raws(objects), "count": count}},
		})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	other := append([][]byte{[]byte(`{"type":"log"}`)}, in.objects[1:]...)
	lines := append(bytes.Join(in.objects, []byte("\n")), '\n')
	for _, tt := range []struct {
		name   string
		verify func(*input, []byte) (found, error)
		result []byte
		err    error
	}{
		{"right", verifyResult(true), whole(in.objects, in.events), nil},
		{"no JSON", verifyResult(true), []byte("{"), errForm},
		{"an event less", verifyResult(true), whole(in.objects[1:], in.events-1), errCount},
		{"a wrong count", verifyResult(true), whole(in.objects, in.events-1), errCount},
		{"another event", verifyResult(true), whole(other, in.events), errEvents},
		{"too large", verifyResult(true), append(whole(in.objects, in.events), strings.Repeat(" ", pipeline.ResultLimit)...), errLarge},
		{"too large where nothing bounds it", verifyResult(false), append(whole(in.objects, in.events), strings.Repeat(" ", pipeline.ResultLimit)...), nil},
		{"lines", verifyLines, lines, nil},
		{"a line less", verifyLines, lines[len(in.objects[0])+1:], errCount},
		{"another line", verifyLines, append(append(bytes.Clone(other[0]), '\n'), lines[len(in.objects[0])+1:]...), errEvents},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := tt.verify(in, tt.result); !errors.Is(err, tt.err) {
				t.Errorf("got %v, want %v", err, tt.err)
			}
		})
	}
	counted := func(events, logs, size int64) []byte {
		out, _ := json.Marshal(map[string]int64{"events": events, "logs": logs, "bytes": size})
		return out
	}
	if _, err := verifyCount(in, counted(in.events, in.logs, int64(len(in.data)))); err != nil {
		t.Error(err)
	}
	if _, err := verifyCount(in, counted(in.events, in.logs+1, int64(len(in.data)))); !errors.Is(err, errCount) {
		t.Errorf("got %v", err)
	}
}

func raws(objects [][]byte) (out []json.RawMessage) {
	for _, o := range objects {
		out = append(out, o)
	}
	return out
}
