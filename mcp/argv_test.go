package mcp

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/tailrace/tailrace/stages"
)

func TestS5_CommandLine(t *testing.T) {
	s := start(t, "argv")
	for _, c := range []struct {
		tool, args string
		want       []string
	}{
		{SnapshotTool, `{}`, []string{"logs", "--json", "--no-follow"}},
		{TailTool, `{}`, []string{"logs", "--json"}},
		{TailTool, `{"maxEvents":10000,"maxMs":60000,"tail":10000}`, []string{"logs", "--json", "--tail", "10000"}},
		{SnapshotTool, `{"until":"now","since":"15m","services":["a","b"],"query":"{a=\"b\"} |= \"--tail=1\"","tail":5e1,"compose":true,"loki":true,"service":"web","profiles":["p","q"],"branch":"feat/x"}`,
			[]string{"logs", "--branch", "feat/x", "--profile", "p,q", "--json", "--no-follow", "--loki", "--compose", "--tail", "50",
				"--query", `{a="b"} |= "--tail=1"`, "--services", "a,b", "--since", "15m", "--until", "now", "web"}},
		{SnapshotTool, `{"query":"--help"}`, []string{"logs", "--json", "--no-follow", "--query=--help"}},
		{SnapshotTool, `{"query":"-"}`, []string{"logs", "--json", "--no-follow", "--query=-"}},
		{SnapshotTool, `{"query":"a\nb; $(c) é"}`, []string{"logs", "--json", "--no-follow", "--query", "a\nb; $(c) é"}},
		{SnapshotTool, `{"query":"","loki":false,"services":[],"profiles":"p"}`, []string{"logs", "--profile", "p", "--json", "--no-follow"}},
		{SnapshotTool, `{"tail":1,"tail":2}`, []string{"logs", "--json", "--no-follow", "--tail", "2"}},
		{SnapshotTool, `{"since":"2026-01-02","until":"2026-01-02T03:04:05.123456789+02:00"}`,
			[]string{"logs", "--json", "--no-follow", "--since", "2026-01-02", "--until", "2026-01-02T03:04:05.123456789+02:00"}},
	} {
		var e struct{ Argv []string }
		if err := json.Unmarshal(s.call("1", c.tool, c.args).data(t).Events[0], &e); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(e.Argv, c.want) {
			t.Errorf("S5: %s\n got %q\nwant %q", c.args, e.Argv, c.want)
		}
		s.forget()
	}
}

func TestS5_ProjectFragment(t *testing.T) {
	tool := tools()[0]
	got := tool.commandLine([]string{"--project=-x"}, arguments{"branch": {given: true, texts: []string{"b"}}})
	want := []string{"logs", "--project=-x", "--branch", "b", "--json", "--no-follow"}
	if !slices.Equal(got, want) {
		t.Errorf("S5: got %q, want %q", got, want)
	}
}

func TestDisplayCommand(t *testing.T) {
	got := stages.CommandLine("/bin/hack", []string{"logs", "a b", `c "d`, ""})
	if want := `/bin/hack logs "a b" "c \"d" `; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
