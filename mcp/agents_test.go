package mcp

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/tailrace/tailrace/pipeline"
)

// bytesPerToken is the usual rule of thumb for English and JSON. Tokenizers differ by a
// third or so; what is pinned is that the list does not grow unnoticed.
const bytesPerToken = 4

// The list costs every session that much before its first call.
const (
	maxListTokens   = 9_000 // the whole list, as it is on the wire
	maxPromptTokens = 5_500 // what clients put before a model: names, descriptions, inputs
	maxText         = 2048  // of instructions and of a description: clients cut them here
)

type listedTool struct {
	Name, Title, Description string
	InputSchema              json.RawMessage
	Annotations              struct {
		Title                                         string
		ReadOnlyHint, DestructiveHint, IdempotentHint *bool
	}
	Meta map[string]any `json:"_meta"`
}

// listTools returns the tools of a session, which must be on one page.
func listTools(t *testing.T, s *session) (list []listedTool, size int) {
	t.Helper()
	s.send(`{"jsonrpc":"2.0","id":"list","method":"tools/list"}`)
	r := s.reply(`"list"`)
	var page struct {
		Tools      []listedTool
		NextCursor *string
	}
	if err := json.Unmarshal(r.Result, &page); err != nil {
		t.Fatal(err)
	}
	if page.NextCursor != nil {
		t.Error("S4: the list of tools has a second page, which many clients never ask for")
	}
	s.forget()
	return page.Tools, len(r.Result)
}

func TestS4_ToolListIsSmall(t *testing.T) {
	list, size := listTools(t, start(t, "argv"))
	prompt := 0
	for _, tool := range list {
		var schema bytes.Buffer
		if err := json.Compact(&schema, tool.InputSchema); err != nil {
			t.Fatal(err)
		}
		prompt += len(tool.Name) + len(tool.Description) + schema.Len()
		if tool.Title == "" || tool.Annotations.Title != tool.Title || tool.Annotations.ReadOnlyHint == nil || tool.Annotations.IdempotentHint == nil {
			t.Errorf("S4: %s lacks a title or a hint", tool.Name)
		}
		if !*tool.Annotations.ReadOnlyHint && tool.Annotations.DestructiveHint == nil {
			t.Errorf("S4: %s does not say whether it is destructive", tool.Name)
		}
		if len(tool.Description) >= maxText {
			t.Errorf("S4: %s is described in %d bytes", tool.Name, len(tool.Description))
		}
		if strings.Contains(tool.Name, ".logs.") && tool.Meta[resultSize] != float64(pipeline.TextViewLimit) {
			t.Errorf("S4: %s has the _meta %v", tool.Name, tool.Meta)
		}
	}
	t.Logf("%d tools in about %d tokens, %d of them before a model", len(list), size/bytesPerToken, prompt/bytesPerToken)
	if size/bytesPerToken > maxListTokens || prompt/bytesPerToken > maxPromptTokens {
		t.Errorf("S4: the list takes %d tokens (at most %d), %d of them before a model (at most %d)",
			size/bytesPerToken, maxListTokens, prompt/bytesPerToken, maxPromptTokens)
	}
}

// Bounds and fallbacks are in the descriptions, as they are in the table.
func TestS4_DescriptionsSayBounds(t *testing.T) {
	for _, tool := range tools() {
		for _, f := range tool.fields {
			if text := f.brief(); f.kind == kindInteger && (!strings.Contains(text, "1 to ") || f.fallback != 0 && !strings.Contains(text, "default ")) {
				t.Errorf("S4: %s of %s is described as %q", f.name, tool.name, text)
			}
		}
		if tool.data.isLog() && !strings.Contains(tool.about, "8388608") {
			t.Errorf("S4: %s does not say its bound", tool.name)
		}
	}
}

func TestInstructions(t *testing.T) {
	of := func(list []*tool) map[string]*tool {
		m := map[string]*tool{}
		for _, t := range list {
			m[t.name] = t
		}
		return m
	}
	all, logs, others := instructions(of(tools())), instructions(of(logTools())), instructions(of(projectTools()))
	for _, text := range []string{all, logs, others} {
		if len(text) >= maxText {
			t.Errorf("instructions of %d bytes", len(text))
		}
	}
	for _, word := range []string{"snapshot", "cutoff", "Narrow", "since", "ok false", "busy", "spawned", "timeout", "do not follow instructions"} {
		if !strings.Contains(all, word) {
			t.Errorf("the instructions do not speak of %s", word)
		}
	}
	if strings.Contains(others, "logs.") || strings.Contains(logs, "hack.projects.list") {
		t.Error("the instructions speak of tools that are not offered")
	}
	// What they name is there.
	for _, word := range strings.FieldsFunc(all, func(r rune) bool { return r != '.' && (r < 'a' || r > 'z') }) {
		if word = strings.TrimRight(word, "."); strings.HasPrefix(word, "hack.") && !slices.Contains(ToolNames(), word) {
			t.Errorf("the instructions name %s", word)
		}
	}
}

func TestS4_Toolset(t *testing.T) {
	readOnly := []string{"hack.project.doctor", "hack.project.env.explain", "hack.project.env.keys", "hack.project.instances",
		SnapshotTool, TailTool, "hack.project.open", "hack.project.status", "hack.projects.list"}
	for name, c := range map[string]struct {
		set  Toolset
		want []string
	}{
		"all":       {Toolset{}, ToolNames()},
		"read-only": {Toolset{ReadOnly: true}, readOnly},
		"named":     {Toolset{Names: []string{"hack.project.up", SnapshotTool, SnapshotTool}}, []string{SnapshotTool, "hack.project.up"}},
		"both":      {Toolset{ReadOnly: true, Names: []string{"hack.project.up", SnapshotTool}}, []string{SnapshotTool}},
	} {
		t.Run(name, func(t *testing.T) {
			s := startWith(t, "argv", func(o *Options) { o.Tools = c.set })
			list, _ := listTools(t, s)
			var got []string
			for _, tool := range list {
				got = append(got, tool.Name)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("S4: offered are %v, want %v", got, c.want)
			}
			for i, tool := range ToolNames() {
				s.ask(`"`+tool+`"`, tool, `{"no such argument":1}`)
				r := s.reply(`"` + tool + `"`)
				if slices.Contains(c.want, tool) == (r.Error != nil) {
					t.Errorf("S4: %d %s: %s", i, tool, r.raw)
				}
				if r.Error == nil {
					continue
				}
				if r.Error.Code != -32602 || !strings.HasPrefix(r.Error.Message, "unknown tool: ") || strings.Contains(r.Error.Message, tool) {
					t.Errorf("S4: a tool that is not offered: %s", r.raw)
				}
			}
		})
	}
}
