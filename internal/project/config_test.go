package project_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/tailrace/tailrace/internal/project"
)

func TestParseConfig(t *testing.T) {
	got, err := project.ParseConfig([]byte("\ufeff"+`# comment
version: 1
name: Shop 1
sources:
  web: {file: logs/web.log}
  abs:
    file: /var/log/../log/x.log
  worker:
    command: ["./worker", --verbose, "", 010, yes, 'a "b"', "x\u001by"]
    dir: sub
    env: {KEY: value, EMPTY: "", N: 1}
  plain_2.x:
    command:
      - ls
`), "/p")
	if err != nil {
		t.Fatal(err)
	}
	want := project.Config{Name: "Shop 1", Sources: []project.Source{
		{Name: "web", File: "/p/logs/web.log"},
		{Name: "abs", File: "/var/log/x.log"},
		{
			Name: "worker", Dir: "/p/sub",
			Command: []string{"./worker", "--verbose", "", "010", "yes", `a "b"`, "x\x1by"},
			Env:     []string{"KEY=value", "EMPTY=", "N=1"},
		},
		{Name: "plain_2.x", Dir: "/p", Command: []string{"ls"}},
	}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestParseConfig_Refusals(t *testing.T) {
	const secret = "s3cret"
	for _, tt := range []struct{ name, in, at, problem string }{
		{"empty", "", "", "the first key is version: 1"},
		{"only comments", "# s3cret\n", "", "the first key is version: 1"},
		{"no version", "name: s3cret\n", "1:", "the first key is version: 1"},
		{"other version", "version: 2\n", "1:10", "the version is 1"},
		{"version as a fraction", "version: 1.0\n", "1:10", "the version is 1"},
		{"version as a list", "version: [s3cret]\n", "1:10", "the version is 1"},
		{"a list", "- s3cret\n", "1:1", "the file is a mapping"},
		{"a text", "s3cret\n", "1:1", "the file is a mapping"},
		{"unknown key", "version: 1\ns3cret: x\n", "2:1", "the keys are version, name and sources"},
		{"key of other case", "version: 1\nNAME: s3cret\n", "2:1", "unknown key"},
		{"same key twice", "version: 1\nname: a\nname: s3cret\n", "3:1", ""},
		{"empty name", "version: 1\nname: \"\"\n", "2:7", "the name is a text"},
		{"name of punctuation", "version: 1\nname: '-_-'\n", "2:7", "the name is a text"},
		{"name with an escape", "version: 1\nname: \"s3cret\\e[2J\"\n", "2:7", "the name is a text"},
		{"null name", "version: 1\nname:\n", "2:", "the name is a text"},
		{"sources as a list", "version: 1\nsources:\n  - s3cret\n", "3:3", "sources is a mapping"},
		{"source name with a dash first", "version: 1\nsources:\n  -s3cret: {file: x}\n", "3:3", "the name of a source"},
		{"source name with a comma", "version: 1\nsources:\n  's3,cret': {file: x}\n", "3:3", "the name of a source"},
		{"source that is a text", "version: 1\nsources:\n  web: s3cret\n", "3:8", "a source is a mapping"},
		{"source that is null", "version: 1\nsources:\n  web:\n", "3:", "a source is a mapping"},
		{"source that is empty", "version: 1\nsources:\n  web: {}\n", "3:8", "a source is a mapping"},
		{"unknown source key", "version: 1\nsources:\n  web:\n    s3cret: x\n", "4:5", "the keys of a source"},
		{"list of files", "version: 1\nsources:\n  web: {file: [s3cret, b]}\n", "3:15", "use files for several"},
		{"empty file", "version: 1\nsources:\n  web: {file: ''}\n", "3:15", "file is the path"},
		{"NUL in a file", "version: 1\nsources:\n  web: {file: \"s3cret\\0\"}\n", "3:15", "file is the path"},
		{"file and command", "version: 1\nsources:\n  web: {file: s3cret, command: [x]}\n", "3:8", "not both"},
		{"env for a file", "version: 1\nsources:\n  web: {file: x, env: {A: s3cret}}\n", "3:18", "belong to a command"},
		{"command as a text", "version: 1\nsources:\n  web: {command: rm -rf s3cret}\n", "3:18", "command is a list"},
		{"empty command", "version: 1\nsources:\n  web: {command: []}\n", "3:18", "command is empty"},
		{"empty program", "version: 1\nsources:\n  web: {command: ['', s3cret]}\n", "3:18", "command is empty"},
		{"nested argument", "version: 1\nsources:\n  web: {command: [x, [s3cret]]}\n", "3:22", "an argument is a text"},
		{"null argument", "version: 1\nsources:\n  web: {command: [x, null]}\n", "3:22", "an argument is a text"},
		{"NUL in an argument", "version: 1\nsources:\n  web: {command: [x, \"s3cret\\0\"]}\n", "3:22", "an argument is a text"},
		{"env as a list", "version: 1\nsources:\n  web:\n    command: [x]\n    env: [A=s3cret]\n", "5:10", "env is a mapping"},
		{"env name", "version: 1\nsources:\n  web:\n    command: [x]\n    env: {'A=s3cret': b}\n", "5:11", "the name of a variable"},
		{"null env value", "version: 1\nsources:\n  web:\n    command: [x]\n    env: {A: }\n", "5:", "the value of a variable"},
		{"anchor", "version: 1\nname: &x s3cret\n", "2:7", "anchors and aliases"},
		{"alias", "version: 1\nname: *s3cret\n", "2:7", "anchors and aliases"},
		{"tag", "version: 1\nname: !!str s3cret\n", "2:7", "tags are not supported"},
		{"merge", "version: 1\nsources:\n  web:\n    <<: {file: s3cret}\n", "4:5", "merge keys"},
		{"two documents", "version: 1\n---\nname: s3cret\n", "3:", "only one document"},
		{"syntax", "version: 1\nname: \"s3cret\n", "2:7", "is not valid YAML"},
		{"tab indentation", "version: 1\nsources:\n\tweb: {file: s3cret}\n", "", "is not valid YAML"},
		{"bad bytes", "version: 1\nname: s3cret\xff\n", "2:13", "is not UTF-8"},
		{"control character", "version: 1\nname: s3cret\x1b[2J\n", "2:13", "has a control character"},
		{"long line", "version: 1\n#" + strings.Repeat("x", 5000) + "\n", "2:1", "has a line of more than"},
		{"large", strings.Repeat("#\n", 40000), "", "is larger than"},
		{"many sources", "version: 1\nsources:\n" + manySources(101), "103:3", "more than 100 sources"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := project.ParseConfig([]byte(tt.in), "/p")
			var refused *project.ConfigError
			if !errors.As(err, &refused) {
				t.Fatalf("got error %v, want a *ConfigError", err)
			}
			text := err.Error()
			if !strings.HasPrefix(text, "tailrace.yaml:"+tt.at) || !strings.Contains(text, tt.problem) {
				t.Errorf("got %q, want %q at %q", text, tt.problem, tt.at)
			}
			if strings.Contains(text, secret) {
				t.Errorf("the text repeats a value: %q", text)
			}
		})
	}
}

func manySources(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "  s%d: {file: x}\n", i)
	}
	return b.String()
}

// What a cloned repository brings must not cost much, whatever it is. The parser's time
// grows with the square of its input; the deadline is far above what the limits allow
// and far below what the largest file would take without them.
func TestParseConfig_HostileFilesEnd(t *testing.T) {
	fill := func(s string) string {
		line := strings.Repeat(s, 4000/len(s)) + "\n"
		return strings.Repeat(line, project.MaxConfigBytes/len(line))
	}
	bomb := "a: &a [x,x,x,x,x,x,x,x]\n"
	for c := 'b'; c < 'k'; c++ {
		bomb += fmt.Sprintf("%c: &%c [*%c,*%c,*%c,*%c,*%c,*%c,*%c,*%c]\n", c, c, c-1, c-1, c-1, c-1, c-1, c-1, c-1, c-1)
	}
	deep := ""
	for i := 0; len(deep) < project.MaxConfigBytes-4096; i++ {
		deep += strings.Repeat(" ", i) + "a:\n"
	}
	for name, in := range map[string]string{
		"brackets": fill("["), "braces": fill("{"), "nested maps": fill("{a: "), "dashes": fill("- "),
		"questions": fill("? "), "anchors": fill("&a "), "tags": fill("!!x "), "merges": fill("<<: "),
		"commas": fill("[" + strings.Repeat("a,", 100)), "newlines": strings.Repeat("\n", 60000),
		"documents": strings.Repeat("---\n", 15000), "aliases": bomb, "indentation": deep,
		"line by line": strings.Repeat("[\n", 30000),
	} {
		t.Run(name, func(t *testing.T) {
			done := make(chan error, 1)
			go func() {
				_, err := project.ParseConfig([]byte(in), "/p")
				done <- err
			}()
			select {
			case err := <-done:
				if err == nil {
					t.Error("accepted")
				}
			case <-time.After(20 * time.Second):
				t.Fatal("still reading after 20 s")
			}
		})
	}
}

func TestLoadConfig_OnlyPlainFiles(t *testing.T) {
	w := newWorld(t)
	var refused *project.ConfigError
	for _, path := range []string{w.path("none"), w.dir("folder"), "/dev/zero"} {
		if _, err := project.LoadConfig(path); !errors.As(err, &refused) || strings.Contains(err.Error(), w.root) {
			t.Errorf("got error %v", err)
		}
	}
	c, err := project.LoadConfig(w.file("p/tailrace.yaml", "version: 1\nsources: {a: {file: b}}\n"))
	if err != nil || c.Sources[0].File != w.path("p/b") {
		t.Errorf("got %+v, %v", c, err)
	}
}

func FuzzParseConfig(f *testing.F) {
	f.Add("version: 1\nname: x\nsources:\n  web: {file: a}\n  w: {command: [a, b], env: {A: b}}\n")
	f.Add("version: 1\nsources:\n  web:\n    command:\n    - |\n      x\n    - >-\n      y\n")
	f.Add("? [a]\n: *x\n<<: &y {}\n")
	f.Fuzz(func(t *testing.T, in string) {
		c, err := project.ParseConfig([]byte(in), "/p")
		if err != nil {
			var refused *project.ConfigError
			if !errors.As(err, &refused) {
				t.Fatalf("untyped error %v", err)
			}
			return
		}
		for _, s := range c.Sources {
			kinds := 0
			for _, set := range [...]bool{s.File != "", s.Files != nil, s.Command != nil, s.Journal != nil, s.Kubernetes != nil, s.Loki != nil} {
				if set {
					kinds++
				}
			}
			if kinds != 1 || s.Name == "" {
				t.Fatalf("a source is of %d kinds: %+v", kinds, s)
			}
			for _, text := range append([]string{s.File, s.Dir}, append(s.Command, s.Env...)...) {
				if strings.ContainsRune(text, 0) {
					t.Fatalf("NUL in %+v", s)
				}
			}
		}
	})
}
