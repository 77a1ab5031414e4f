package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/tailrace/tailrace/internal/inventory"
	"github.com/tailrace/tailrace/internal/project"
	"github.com/tailrace/tailrace/stages"
)

// TestToolDocs keeps docs/tools.md what the table in code says. -update writes it.
func TestToolDocs(t *testing.T) {
	const path = "../docs/tools.md"
	var b strings.Builder
	b.WriteString(docsHead)
	writeErrors(t, &b)
	b.WriteString(docsDecisions)
	for _, tool := range tools() {
		writeTool(t, &b, tool)
	}
	writePrompt(t, &b)
	if *update {
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(have) != b.String() {
		t.Errorf("docs/tools.md is not what the table says: run go test ./mcp -run TestToolDocs -update")
	}
}

// An errorText is one line of the table of errors.
type errorText struct{ code, reason, message string }

// refusalTexts are the errors of calls for which nothing is started.
func refusalTexts() []errorText {
	list := []errorText{{codeUsage, "invalid_arguments", "ARGUMENT, and what it must be"}}
	for _, e := range []project.SelectError{
		{Code: project.CodeUsage, Reason: project.ReasonConflict}, {Code: project.CodeUsage, Reason: project.ReasonInvalidName},
		{Code: project.CodeNotFound, Reason: project.ReasonUnknown}, {Code: project.CodeUsage, Reason: project.ReasonAmbiguous},
		{Code: project.CodeUsage, Reason: project.ReasonInvalidPath}, {Code: project.CodeNotFound, Reason: project.ReasonPathNotFound},
		{Code: project.CodePermission, Reason: project.ReasonUnreadable}, {Code: project.CodePermission, Reason: project.ReasonOutside},
		{Code: project.CodeNotFound, Reason: project.ReasonNoProject},
	} {
		e.Argument = "ARGUMENT"
		list = append(list, errorText{e.Code, e.Reason, e.Error()})
	}
	list = append(list, errorText(*refusedBusy(DefaultMaxCommands)))
	var reasons []string
	for reason := range spawnRefusals {
		reasons = append(reasons, reason)
	}
	slices.Sort(reasons)
	for _, reason := range reasons {
		list = append(list, errorText(*spawnRefusals[reason]))
	}
	return append(list, errorText(*internalError))
}

// failureTexts are the errors of commands that were started, and what they are those of.
func failureTexts(t *testing.T) (texts []errorText, of []string) {
	t.Helper()
	for _, e := range []struct {
		e  *stages.PayloadError
		of string
	}{
		{commandFailed, "all but the log tools"}, {commandWithheld, "the env tools"}, {commandLonger, "tools with timeoutMs"}, {commandLate, "the others but the log tools"}, {commandCut, "all but the log tools"},
	} {
		texts, of = append(texts, errorText{e.e.Code, e.e.Reason, e.e.Message}), append(of, e.of)
	}
	s := start(t, "fail")
	e := s.call("1", SnapshotTool, `{}`).Structured.Error
	return append(texts, errorText{e.Code, e.Reason, e.Message}), append(of, "the log tools")
}

func writeErrors(t *testing.T, b *strings.Builder) {
	t.Helper()
	b.WriteString("\n## Errors\n\nA call for which nothing was started has `spawned` false, an empty `command`, `exitCode` 1 and one of these. ARGUMENT stands for the name of the argument; its value is never repeated, nor is a path.\n\n| code | reason | message |\n|---|---|---|\n")
	for _, e := range refusalTexts() {
		fmt.Fprintf(b, "| `%s` | `%s` | %s |\n", e.code, e.reason, e.message)
	}
	b.WriteString("\nA call whose command was started and did not succeed has one of these. A cutoff of a log tool is none: it is a success with `data.cutoff`.\n\n| code | reason | of | message |\n|---|---|---|---|\n")
	texts, of := failureTexts(t)
	for i, e := range texts {
		fmt.Fprintf(b, "| `%s` | `%s` | %s | %s |\n", e.code, e.reason, of[i], e.message)
	}
}

// hintsText says what the annotations of a tool say.
func hintsText(tool *tool) string {
	switch {
	case tool.readOnly:
		return "reads only (`readOnlyHint`)"
	case !tool.destructive:
		return "changes things, and undoes nothing (`destructiveHint` false)"
	}
	return "changes things, and may end or undo what was there (`destructiveHint` true)"
}

// errorsText says which errors a tool can end in.
func errorsText(tool *tool) string {
	refusals := []string{"`invalid_arguments`"}
	switch {
	case tool.anchor:
		refusals = append(refusals, "`conflicting_selectors`", "`invalid_path`", "`path_not_found`", "`path_not_readable`")
	case tool.field("projectName") != nil:
		refusals = append(refusals, "those of the choice of a project")
	}
	refusals = append(refusals, "`busy`", "those of the start")
	switch {
	case tool.data.isLog():
		return strings.Join(refusals, ", ") + "; then `backend_error`"
	case tool.data.withholds():
		return strings.Join(refusals, ", ") + "; then `command_failed` (also where a required variable is missing: `data` is there all the same), `timeout`, `output_limit`"
	}
	return strings.Join(refusals, ", ") + "; then `command_failed`, `timeout`, `output_limit`"
}

func timeText(tool *tool) string {
	switch {
	case tool.field("maxMs") != nil:
		return "`maxMs`; reaching it is a success with a cutoff"
	case tool.field("timeoutMs") != nil:
		return "`timeoutMs`"
	case tool.data.isLog():
		return fmt.Sprintf("%d ms; reaching it is a success with a cutoff", tool.timeout.Milliseconds())
	}
	return fmt.Sprintf("%d ms", tool.timeout.Milliseconds())
}

func writeTool(t *testing.T, b *strings.Builder, tool *tool) {
	t.Helper()
	fmt.Fprintf(b, "\n## %s\n\n%s\n\n- Command: `%s`\n- Time: %s\n- Hint: %s\n", tool.name, tool.about, argvText(tool), timeText(tool), hintsText(tool))
	if about := tool.data.about(); about != "" {
		fmt.Fprintf(b, "- `data`: %s\n", about)
	} else {
		b.WriteString("- `data`: none\n")
	}
	fmt.Fprintf(b, "- Errors: %s\n\n| input | presence | meaning |\n|---|---|---|\n", errorsText(tool))
	for _, f := range tool.fields {
		presence := "optional"
		if f.required || tool.anchor && (f.name == "repoRoot" || f.name == "path") {
			presence = "required"
		}
		if presence == "required" && tool.anchor {
			presence = "one of both"
		}
		fmt.Fprintf(b, "| `%s` | %s | %s |\n", f.name, presence, strings.ReplaceAll(f.describe(), "|", "\\|"))
	}
	_, frame, _ := sampled(t, tool.name)
	var response struct {
		Result struct{ StructuredContent json.RawMessage }
	}
	if err := json.Unmarshal([]byte(frame), &response); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(b, "\nExample: `%s` gives\n\n```json\n%s\n```\n", samples[tool.name].args, indented(t, response.Result.StructuredContent))
}

func indented(t *testing.T, raw json.RawMessage) string {
	t.Helper()
	var b bytes.Buffer
	if err := json.Indent(&b, raw, "", "  "); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func writePrompt(t *testing.T, b *strings.Builder) {
	t.Helper()
	p, l := prompt(), inventory.DefaultLimits()
	fmt.Fprintf(b, "\n## The prompt %s\n\n%s It is offered where the backend is hack.\n\n| argument | presence | meaning |\n|---|---|---|\n", p.Name, p.Description)
	for _, a := range p.Arguments {
		fmt.Fprintf(b, "| `%s` | optional | %s |\n", a.Name, a.Description)
	}
	fmt.Fprintf(b, "\nThe result is one message of the user with one text of at most %d bytes. It covers taking stock, the set-up, the platform, where commands run, and how to verify; and for both modes what to do first.\n"+
		"An empty argument means the same as none.\n\n"+
		"The inventory has package managers, workspaces, compose files with services, images, ports and profiles, Dockerfiles with ports, and the names of environment variables. It follows no link, reads at most %d levels of folders, "+
		"%d entries, %d files of at most %d bytes, %d bytes in all, in %d ms, and takes at most %d bytes; `cut_by` names the bounds that were met. Values of variables are not in it. "+
		"Names of an unusual form are left out and counted. A name can still be made of words with dashes between them, so the prompt says that names are data.\n\n"+
		"An argument that does not fit is refused with the JSON-RPC error -32602; its `data` has `code` and `reason`: `invalid_arguments`, `invalid_path`, `path_not_found`, `path_not_readable`, `path_not_folder`, `path_not_repository`. No path is in it.\n",
		maxPrompt, l.MaxDepth, l.MaxEntries, l.MaxFiles, l.MaxFileBytes, l.MaxBytes, l.MaxTime.Milliseconds(), l.MaxTextBytes)
	s := start(t, "argv", hack(t))
	repository(t, s.dir, map[string]string{
		"shop/package.json": `{"packageManager":"pnpm@9.1.0"}`, "shop/pnpm-lock.yaml": "", "shop/.env.example": "API_KEY=not-shown\n",
		"shop/compose.yml": "services:\n  web:\n    build: .\n    ports: ['3000:3000']\n    environment: [TOKEN=not-shown]\n  db:\n    image: postgres:16\n",
	})
	_, text, _ := strings.Cut(s.prompted(`{"repoRoot":"shop"}`), "```json\n")
	block, _, _ := strings.Cut(text, "\n```")
	fmt.Fprintf(b, "\nExample of an inventory:\n\n```json\n%s\n```\n", block)
}

// argvText is the command line of a tool with names for values.
func argvText(t *tool) string {
	var parts []string
	for _, p := range t.argv {
		switch p.kind {
		case partWord:
			parts = append(parts, p.value)
		case partProject:
			parts = append(parts, "PROJECT")
		case partOperand:
			parts = append(parts, "["+p.value+"]")
		case partWords:
			parts = append(parts, "[-- "+p.value+"...]")
		case partOption:
			if f := t.field(p.value); f.kind == kindBoolean {
				parts = append(parts, "["+f.flag+"]")
			} else {
				parts = append(parts, "["+f.flag+" "+p.value+"]")
			}
		}
	}
	return strings.Join(parts, " ")
}
