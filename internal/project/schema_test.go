package project_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	yaml "github.com/goccy/go-yaml"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/tailrace/tailrace/internal/project"
)

const schemaFile = "../../docs/schema/tailrace.schema.json"

func configSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	data, err := os.ReadFile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(data)))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("tailrace", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("tailrace")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// fitsSchema says whether a YAML text fits the schema, as an editor sees it.
func fitsSchema(t *testing.T, s *jsonschema.Schema, text string) error {
	t.Helper()
	var v any
	if err := yaml.Unmarshal([]byte(text), &v); err != nil {
		return err
	}
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(data)))
	if err != nil {
		t.Fatal(err)
	}
	return s.Validate(doc)
}

func TestSchema_Examples(t *testing.T) {
	s := configSchema(t)
	files, err := filepath.Glob("../../docs/schema/examples/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d examples, %v", len(files), err)
	}
	used := map[string]bool{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		c, err := project.ParseConfig(data, "/p")
		if err != nil {
			t.Errorf("%s: the parser refuses it: %v", file, err)
		}
		if err := fitsSchema(t, s, string(data)); err != nil {
			t.Errorf("%s: the schema refuses it: %v", file, err)
		}
		for _, source := range c.Sources {
			used[source.Kind()] = true
		}
	}
	for _, kind := range []string{project.KindFile, project.KindCommand, project.KindJournal, project.KindKubernetes, project.KindLoki} {
		if !used[kind] {
			t.Errorf("no example has a source of the kind %s", kind)
		}
	}
}

// TestSchema_Agrees: what one of them accepts the other does, too. Each refusal of the
// parser has its place.
func TestSchema_Agrees(t *testing.T) {
	s := configSchema(t)
	source := func(text string) string { return "version: 1\nsources:\n  x: " + text + "\n" }
	for _, c := range []struct{ text, at string }{
		{"version: 1\n", ""}, {"version: '1'\n", ""}, {"version: 1\nname: Shop 1\n", ""}, {"version: 1\nname: 7\n", ""}, {"version: 1\nname: true\n", ""},
		{"version: 1\nsources: {}\n", ""}, {"{version: 1, sources: {a.b-C_1: {file: x}}}\n", ""},
		{"version: 1\nname: '" + strings.Repeat("ä", 252) + "a'\n", ""},
		{"name: x\n", "1:"}, {"version: 2\n", "1:10"}, {"version: one\n", "1:10"}, {"version: true\n", "1:10"}, {"version: [1]\n", "1:10"}, {"version:\n", "1:"},
		{"- version\n", "1:1"}, {"text\n", "1:1"}, {"version: 1\nother: x\n", "2:1"}, {"version: 1\nVersion: 1\n", "2:1"},
		{"version: 1\nname: ''\n", "2:7"}, {"version: 1\nname: '-_-'\n", "2:7"}, {"version: 1\nname: [a]\n", "2:7"}, {"version: 1\nname:\n", "2:"},
		{"version: 1\nname: \"a\\u009bb\"\n", "2:7"}, {"version: 1\nname: " + strings.Repeat("a", 254) + "\n", "2:7"},
		{"version: 1\nsources: [a]\n", "2:10"}, {"version: 1\nsources: x\n", "2:10"}, {"version: 1\nsources: {-a: {file: x}}\n", "2:11"}, {"version: 1\nsources: {'a b': {file: x}}\n", "2:11"},
		{"version: 1\nsources: {" + strings.Repeat("a", 254) + ": {file: x}}\n", "2:11"}, {"version: 1\nsources:\n" + manySources(101), "103:3"}, {"version: 1\nsources:\n" + manySources(100), ""},

		{source("x"), "3:6"}, {source(""), "3:"}, {source("{}"), "3:6"}, {source("[file]"), "3:6"}, {source("{other: x}"), "3:7"}, {source("{file: a, files: [b]}"), "3:6"},
		{source("{file: a}"), ""}, {source("{file: 5}"), ""}, {source("{file: ''}"), "3:13"}, {source("{file: [a]}"), "3:13"}, {source("{file: }"), "3:"}, {source(`{file: "a\0"}`), "3:13"},
		{source("{files: [a, 'b*']}"), ""}, {source("{files: []}"), "3:14"}, {source("{files: a}"), "3:14"}, {source("{files: ['']}"), "3:15"}, {source("{files: [" + strings.Repeat("a,", 101) + "]}"), "3:14"},
		{source("{command: [ls, '', 1, 1.5, true, -x]}"), ""}, {source("{command: []}"), "3:16"}, {source("{command: ls}"), "3:16"}, {source("{command: ['', a]}"), "3:16"},
		{source("{command: [ls, [a]]}"), "3:21"}, {source("{command: [ls, null]}"), "3:21"}, {source(`{command: [ls, "a\0"]}`), "3:21"},
		{source("{command: [ls], dir: sub, env: {A_1: x, _b: 1, c: ''}}"), ""}, {source("{file: a, dir: b}"), "3:16"}, {source("{file: a, env: {}}"), "3:16"}, {source("{dir: a}"), "3:6"},
		{source("{command: [ls], dir: ''}"), "3:27"}, {source("{command: [ls], env: [A=b]}"), "3:27"}, {source("{command: [ls], env: {1a: b}}"), "3:28"}, {source("{command: [ls], env: {A: [b]}}"), "3:31"},
		{source("{command: [ls], env: {A: }}"), "3:"},

		{source("{journal: {}}"), ""}, {source("{journal: {unit: 'a@*.service', units: [b], identifier: my app, priority: err, user: false}}"), ""}, {source("{journal: }"), "3:"}, {source("{journal: x}"), "3:16"},
		{source("{journal: {other: x}}"), "3:17"}, {source("{journal: {unit: -a}}"), "3:23"}, {source("{journal: {unit: 'a b'}}"), "3:23"}, {source("{journal: {units: []}}"), "3:24"}, {source("{journal: {units: a}}"), "3:24"},
		{source("{journal: {priority: high}}"), "3:27"}, {source("{journal: {priority: 3}}"), "3:27"}, {source("{journal: {user: 1}}"), "3:23"}, {source("{journal: {user: 'true'}}"), "3:23"},
		{source("{journal: {file: a, directory: b}}"), "3:16"}, {source("{journal: {identifier: -a}}"), "3:29"}, {source("{journal: {identifier: ''}}"), "3:29"}, {source("{journal: {identifier: -5}}"), "3:29"}, {source("{journal: {identifier: 5}}"), ""},

		{source("{kubernetes: {selector: 'app in (web, api)'}}"), ""}, {source("{kubernetes: {pod: web-0.x, namespace: a, context: kind@local, container: b, previous: true}}"), ""},
		{source("{kubernetes: {}}"), "3:19"}, {source("{kubernetes: {pod: a, selector: b}}"), "3:19"}, {source("{kubernetes: {pod: A}}"), "3:25"}, {source("{kubernetes: {pod: -a}}"), "3:25"}, {source("{kubernetes: {pod: a/b}}"), "3:25"},
		{source("{kubernetes: {pod: a-}}"), "3:25"}, {source("{kubernetes: {selector: -a}}"), "3:30"}, {source("{kubernetes: {selector: 'a;b'}}"), "3:30"}, {source("{kubernetes: {selector: a, previous: x}}"), "3:43"}, {source("{kubernetes: {selector: a, other: x}}"), "3:33"},

		{source("{loki: {}}"), ""}, {source("{loki: {url: 'http://[::1]:3100/a@b', query: '{a=\"b\"}', tenant: 1, username: u, password_env: P, ca: c}}"), ""}, {source("{loki: {token_env: T}}"), ""},
		{source("{loki: {url: host}}"), "3:19"}, {source("{loki: {url: 'ftp://host'}}"), "3:19"}, {source("{loki: {url: 'http://u:p@host'}}"), "3:19"}, {source("{loki: {url: 'http://host?a'}}"), "3:19"}, {source("{loki: {url: 'http:///a'}}"), "3:19"},
		{source("{loki: {url: 'http://a b'}}"), "3:19"}, {source("{loki: {query: ' '}}"), "3:21"}, {source("{loki: {query: ''}}"), "3:21"}, {source("{loki: {token: a}}"), "3:14"}, {source("{loki: {password: a}}"), "3:14"}, {source("{loki: {token_env: 'a b'}}"), "3:25"},
		{source("{loki: {username: u}}"), "3:13"}, {source("{loki: {password_env: P}}"), "3:13"}, {source("{loki: {username: u, password_env: P, token_env: T}}"), "3:13"}, {source("{loki: {ca: ''}}"), "3:18"},
	} {
		_, err := project.ParseConfig([]byte(c.text), "/p")
		fits := fitsSchema(t, s, c.text)
		var refused *project.ConfigError
		switch {
		case c.at == "" && err != nil:
			t.Errorf("%s: the parser refuses it: %v", c.text, err)
		case c.at != "" && (!errors.As(err, &refused) || !strings.HasPrefix(fmt.Sprintf("%d:%d", refused.Line, refused.Column), c.at)):
			t.Errorf("%s: the parser says %v, want it at %s", c.text, err, c.at)
		}
		if (fits == nil) != (c.at == "") {
			t.Errorf("%s: the schema says %v", c.text, fits)
		}
	}
}

// TestSchema_OnlyTheParserKnows: what a schema cannot say. If one of these is accepted by
// the parser, or refused by the schema, it belongs into the table above.
func TestSchema_OnlyTheParserKnows(t *testing.T) {
	s := configSchema(t)
	for _, text := range []string{
		"version: 1.0\n", "version: 1\nname: &a x\n", "version: 1\nname: !!str x\n", "version: 1\nsources: {x: {files: ['[']}}\n", "version: 1\nsources: {x: {loki: {url: 'http://host:port'}}}\n",
		"version: 1\n#" + strings.Repeat("x", 5000) + "\n",
	} {
		if _, err := project.ParseConfig([]byte(text), "/p"); err == nil {
			t.Errorf("the parser accepts %.60q", text)
		}
		if err := fitsSchema(t, s, text); err != nil {
			t.Errorf("the schema refuses %.60q: %v", text, err)
		}
	}
}

// TestSchema_Keys: the keys that the reader knows are those of the schema.
func TestSchema_Keys(t *testing.T) {
	type object struct {
		Properties  map[string]json.RawMessage `json:"properties"`
		Definitions map[string]object          `json:"definitions"`
	}
	data, err := os.ReadFile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	var schema object
	if err := json.Unmarshal(data, &schema); err != nil {
		t.Fatal(err)
	}
	read := map[string][]string{} // by function
	for _, file := range []string{"config_read.go", "config_source.go"} {
		tree, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range tree.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			ast.Inspect(f, func(n ast.Node) bool {
				if c, ok := n.(*ast.CaseClause); ok {
					for _, e := range c.List {
						if lit, ok := e.(*ast.BasicLit); ok && lit.Kind == token.STRING {
							key, _ := strconv.Unquote(lit.Value)
							read[f.Name.Name] = append(read[f.Name.Name], key)
						}
					}
				}
				return true
			})
		}
	}
	for _, c := range []struct {
		functions []string
		schema    object
	}{
		{[]string{"readConfig"}, schema}, {[]string{"readSource", "readKind"}, schema.Definitions["source"]}, {[]string{"readJournal"}, schema.Definitions["journal"]},
		{[]string{"readKubernetes"}, schema.Definitions["kubernetes"]}, {[]string{"readLoki"}, schema.Definitions["loki"]},
	} {
		var want, got []string
		for _, f := range c.functions {
			for _, key := range read[f] {
				if key != "password" && key != "token" { // which are there to be refused
					want = append(want, key)
				}
			}
		}
		for key := range c.schema.Properties {
			got = append(got, key)
		}
		slices.Sort(want)
		slices.Sort(got)
		if len(want) == 0 || !slices.Equal(got, want) {
			t.Errorf("%v: the schema has %q, the reader %q", c.functions, got, want)
		}
	}
}
