package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tailrace/tailrace/internal/lifecycle"
)

var update = flag.Bool("update", false, "write docs/cli.md")

const docsHead = `# Commands

This page is made from the command tree (` + "`go test ./cmd/tailrace -run TestCLIDocs -update`" + `), and a test keeps the two the same.

A flag can stand anywhere before ` + "`--`" + `, as ` + "`--name value` or `--name=value`" + `. The commands that hack has, too, take the same arguments as
there, so that each tool of the MCP server can run tailrace in its place. What hack has and tailrace leaves out is in
[rough-edges.md](rough-edges.md). ` + "`tailrace completion` writes shell completions, and `--help` works everywhere." + `

## Exit codes

| code | meaning |
|---|---|
| 0 | done; for ` + "`run` also: cut off at a bound" + ` |
| 1 | failed or refused. The commands of hack exit with 1 for a wrong command line, too |
| 2 | the command line is wrong, for the commands that hack does not have: ` + "`run -- COMMAND`, `mcp`" + ` and others |
| 3 | cut off, with ` + "`run --fail-on-cut`" + ` |
| 126, 127 | ` + "`run -- COMMAND`" + `: not started, since it is not executable, or not there |
| 129, 130, 143 | ended by SIGHUP, SIGINT, SIGTERM |
| 141 | whoever read the output went away |
| other | what docker compose, or the command in the container, exited with |

## Errors

An error is one line on stderr, which says what is missing and what to do. With ` + "`--json`" + ` stdout has it, too:

` + "```json" + `
{
  "ok": false,
  "error": {
    "code": "E_DOCKER_UNAVAILABLE",
    "message": "docker was not found on the PATH: install Docker with its compose plugin"
  }
}
` + "```" + `

It stands on several lines, so that no line of it is an event of a log. ` + "`logs`" + ` leaves stdout empty for flags that contradict each other and for
a backend that is not there.

| code | meaning |
|---|---|
`

// errorCodes are the codes of the envelope.
var errorCodes = [][2]string{
	{lifecycle.CodeUsage, "the command line is wrong, or a name in it is none"},
	{lifecycle.CodePermission, "the project is not registered, or a file cannot be written"},
	{lifecycle.CodeDocker, "docker, its compose plugin or its engine is missing"},
	{lifecycle.CodeConfig, "a compose file, a .env file or projects.json cannot be read"},
	{codeConfig, "tailrace.yaml is not valid; the message has line and column"},
	{lifecycle.CodeNoProject, "there is no project, or it has no compose file or no tailrace.yaml"},
	{lifecycle.CodeNoService, "the project has no such service or source, or no address"},
	{lifecycle.CodeCompose, "docker compose failed; stderr has what it wrote"},
	{lifecycle.CodeUnexpected, "docker answered what cannot be read, or could not be started"},
}

// jsonShapes are what the commands write with --json or -o json.
var jsonShapes = map[string]any{
	"tailrace init": struct {
		OK   bool        `json:"ok"`
		Data initialized `json:"data"`
	}{},
	"tailrace projects": lifecycle.Inventory{}, "tailrace ps": lifecycle.Status{}, "tailrace open": address{}, "tailrace doctor": diagnosis{},
	"tailrace up": done{}, "tailrace down": done{}, "tailrace restart": done{},
	"tailrace env list": lifecycle.EnvList{}, "tailrace env explain": lifecycle.EnvExplanation{}, "tailrace version": build{}, "tailrace mcp doctor": mcpReport{},
}

// jsonTexts say it of commands whose output is no single object of one type.
var jsonTexts = map[string]string{
	"tailrace logs":  "One event a line: `start`, `log`, `error`, `end`. [contract.md](contract.md) has what becomes of them.",
	"tailrace run":   "The result of a log tool, as the server returns it: see [tools.md](tools.md).",
	"tailrace bench": "The report, with every time that was measured; --compare reads it.",
}

// TestCLIDocs keeps docs/cli.md what the command tree says. -update writes it.
func TestCLIDocs(t *testing.T) {
	const path = "../../docs/cli.md"
	var b strings.Builder
	b.WriteString(docsHead)
	for _, c := range errorCodes {
		fmt.Fprintf(&b, "| `%s` | %s |\n", c[0], c[1])
	}
	for _, cmd := range commandTree(newRootCommand(&app{Stdout: io.Discard, Stderr: io.Discard})) {
		writeCommand(t, &b, cmd)
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
		t.Error("docs/cli.md is not what the command tree says: run go test ./cmd/tailrace -run TestCLIDocs -update")
	}
}

// commandTree returns the commands below one, those that do something, sorted by path.
func commandTree(cmd *cobra.Command) (all []*cobra.Command) {
	for _, c := range cmd.Commands() {
		switch {
		case c.Hidden:
		case c.HasAvailableSubCommands():
			all = append(all, commandTree(c)...)
		default:
			all = append(all, c)
		}
	}
	slices.SortFunc(all, func(a, b *cobra.Command) int { return strings.Compare(a.CommandPath(), b.CommandPath()) })
	return all
}

func writeCommand(t *testing.T, b *strings.Builder, cmd *cobra.Command) {
	t.Helper()
	path := cmd.CommandPath()
	fmt.Fprintf(b, "\n## %s\n\n%s.\n\n```text\n%s\n```\n", path, cmd.Short, cmd.UseLine())
	about := strings.TrimSpace(cmd.Long)
	if !strings.Contains(about, "xit code") {
		about += "\n\nExit codes: 0 done, 1 failed or refused, 2 the command line is wrong."
	}
	fmt.Fprintf(b, "\n```text\n%s\n```\n", strings.TrimSpace(about))
	b.WriteString("\n| flag | default | meaning |\n|---|---|---|\n")
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		takes, about := pflag.UnquoteUsage(f)
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		if takes != "" && f.Value.Type() != "bool" {
			name += " " + takes
		}
		if about == "" {
			t.Errorf("%s: --%s has no description", path, f.Name)
		}
		fmt.Fprintf(b, "| `%s` | %s | %s |\n", name, f.DefValue, strings.ReplaceAll(about, "|", `\|`))
	})
	shape, typed := jsonShapes[path]
	text, described := jsonTexts[path]
	output := cmd.Flags().Lookup("output")
	asks := cmd.Flags().Lookup("json") != nil || output != nil && strings.Contains(output.Usage, "json")
	if asks != (typed || described) {
		t.Errorf("%s: the shape of its JSON is not described, or it has none", path)
	}
	switch {
	case typed:
		b.WriteString("\nJSON (a list of which nothing is known can be null):\n\n```text\n")
		writeShape(b, reflect.TypeOf(shape), "")
		b.WriteString("\n```\n")
	case described:
		fmt.Fprintf(b, "\nJSON: %s\n", text)
	}
}

// writeShape writes what values of a type look like as JSON.
func writeShape(b *strings.Builder, t reflect.Type, indent string) {
	switch {
	case t == reflect.TypeFor[json.RawMessage]():
		b.WriteString("object")
	case t.Kind() == reflect.Pointer:
		writeShape(b, t.Elem(), indent)
		b.WriteString(" or null")
	case t.Kind() == reflect.Slice:
		b.WriteString("[")
		writeShape(b, t.Elem(), indent)
		b.WriteString(", ...]")
	case t.Kind() == reflect.Struct:
		b.WriteString("{\n")
		fields := reflect.VisibleFields(t)
		for _, f := range fields {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name == "" {
				continue
			}
			fmt.Fprintf(b, "%s  %q: ", indent, name)
			writeShape(b, f.Type, indent+"  ")
			b.WriteString("\n")
		}
		b.WriteString(indent + "}")
	case t.Kind() == reflect.String:
		b.WriteString("text")
	case t.Kind() == reflect.Bool:
		b.WriteString("true or false")
	default:
		b.WriteString("number")
	}
}

// TestErrorCodesAreListed: each code that the commands use is on the page.
func TestErrorCodesAreListed(t *testing.T) {
	listed := map[string]bool{}
	for _, c := range errorCodes {
		listed[c[0]] = true
	}
	for _, code := range []string{codeUsage, codeService, codeConfig, codeMissing, codeNoAccess, codeParse, codeUnexpected} {
		if !listed[code] {
			t.Errorf("%s is not listed", code)
		}
	}
}

// TestSchemaURL: init names the schema by its own address.
func TestSchemaURL(t *testing.T) {
	data, err := os.ReadFile("../../docs/schema/tailrace.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var schema struct {
		ID string `json:"$id"`
	}
	if err := json.Unmarshal(data, &schema); err != nil || schema.ID != schemaURL || !strings.Contains(configText("", false), "$schema="+schemaURL+"\n") {
		t.Errorf("%v: the schema is at %s", err, schema.ID)
	}
}
