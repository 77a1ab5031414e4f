package mcp

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// FuzzArguments: no arguments break the check of any tool; a refusal says one of the
// fixed texts and repeats nothing of them (rules O11, S9); of what is accepted no value
// becomes a flag (rule S5).
func FuzzArguments(f *testing.F) {
	for _, raw := range []string{
		``, `{}`, `null`, `[]`, `{"x":1}`, `{"tail":5e1}`, `{"tail":0}`, `{"tail":1e999}`, `{"maxEvents":10001}`, `{"query":"--help"}`, `{"query":"\u0000"}`, `{"query":"\ud800"}`,
		`{"service":"-x"}`, `{"services":["a","b"],"profiles":"p"}`, `{"services":["--a"]}`, `{"branch":"a..b"}`, `{"branch":"-"}`, `{"since":"15m","until":"now"}`, `{"since":"0s"}`,
		`{"path":"-"}`, `{"tail":1,"tail":2}`, `{"TAIL":1}`, `{"ta\u0069l":3}`, `{"compose":"true"}`, `{"loki":true}`, `{"command":["-rf","--"],"service":"web"}`, `{"query":"a"} {}`,
	} {
		f.Add([]byte(raw))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, tool := range tools() {
			args, refused := tool.parse(json.RawMessage(raw))
			if refused != nil {
				texts := []string{"arguments must be one JSON object; " + tool.known(), "an argument is not known; " + tool.known()}
				for _, field := range tool.fields {
					texts = append(texts, field.name+" "+field.rule(), field.name+" is required: it "+field.rule())
				}
				if !slices.Contains(texts, refused.message) {
					t.Fatalf("O11: %s: %q", tool.name, refused.message)
				}
				continue
			}
			known := []string{"-"}
			for _, p := range tool.argv {
				if p.kind == partWord {
					known = append(known, p.value)
				}
			}
			for _, field := range tool.fields {
				known = append(known, field.flag)
			}
			for _, element := range tool.commandLine(nil, args) {
				if element == "--" { // nothing behind it is a flag
					break
				}
				flag, _, _ := strings.Cut(element, "=")
				if strings.HasPrefix(element, "-") && !slices.Contains(known, flag) {
					t.Fatalf("S5: %s: %q is a flag", tool.name, element)
				}
				if strings.ContainsRune(element, 0) {
					t.Fatalf("S5: %s: NUL in %q", tool.name, element)
				}
			}
		}
	})
}
