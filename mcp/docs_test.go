package mcp

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestToolDocs keeps docs/tools.md what the table in code says. -update writes it.
func TestToolDocs(t *testing.T) {
	const path = "../docs/tools.md"
	var b strings.Builder
	b.WriteString("# The tools\n\nMade from the table in `mcp/tools.go` and `mcp/tools_project.go`; a test keeps it true.\n\n" +
		"Every result has the same shape: `ok`, `outputTruncated` (only true), `command`, `exitCode`, `stdout`, `stderr`, `data` (where a tool has one),\n" +
		"`spawned` (only false), `error` (`code`, `reason`, `message`). The `content` text is the same JSON; of a large result it is a smaller view.\n\n" +
		"A call that is refused before anything is started has `spawned` false and one of these reasons: `invalid_arguments`, `conflicting_selectors`,\n" +
		"`invalid_project_name`, `unknown_project`, `ambiguous_project`, `invalid_path`, `path_not_found`, `path_not_readable`, `path_outside_projects`, `no_project`,\n" +
		"`command_not_found`, `command_is_directory`, `command_not_executable`, `command_bad_interpreter`, `command_bad_format`, `bad_working_directory`,\n" +
		"`bad_argument`, `spawn_failed`. A log tool whose backend failed has the reason `backend_error`. Any other tool has `command_failed`, `timeout` (its time\n" +
		"was over) or `output_limit` (its output passed 8,388,608 bytes).\n\n" +
		"In a command line, `--flag VALUE` is two elements, and `--flag=VALUE` one where the value begins with a dash. PROJECT is `--project NAME`, `--path PATH` or nothing.\n")
	for _, tool := range tools() {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n", tool.name, tool.about)
		hint := "changes things, and may end or undo what was there"
		switch {
		case tool.readOnly:
			hint = "reads only"
		case !tool.destructive:
			hint = "changes things, and undoes nothing"
		}
		fmt.Fprintf(&b, "- Command: `%s`\n- Hint: %s\n", argvText(tool), hint)
		if about := tool.data.about(); about != "" {
			fmt.Fprintf(&b, "- `data`: %s\n", about)
		}
		b.WriteString("\n| input | presence | meaning |\n|---|---|---|\n")
		for _, f := range tool.fields {
			presence := "optional"
			if f.required {
				presence = "required"
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s |\n", f.name, presence, strings.ReplaceAll(f.describe(), "|", "\\|"))
		}
	}
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
