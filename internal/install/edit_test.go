package install

import (
	"errors"
	"strings"
	"testing"
)

var (
	plainForm    = jsonForm{container: "mcpServers", typed: true, strict: true}
	commentsForm = jsonForm{container: "servers"}
	tablesForm   = tomlForm{container: "mcp_servers"}
	testServer   = Server{Name: "tailrace", Command: "/opt/tailrace"}
)

// installed returns the text after install, and checks the laws: a second install
// changes nothing, and uninstall gives back what was there.
func installed(t *testing.T, f form, before []byte, s Server) string {
	t.Helper()
	edits, err := f.install(before, s)
	if err != nil {
		t.Fatalf("install: %v", err)
	}
	after := apply(before, edits)
	if again, err := f.install(after, s); err != nil || len(again) > 0 {
		t.Errorf("a second install has edits %v and error %v, want none, of\n%s", again, err, after)
	}
	found, err := f.servers(after)
	if err != nil || len(found) == 0 {
		t.Errorf("servers finds %v and error %v in\n%s", found, err, after)
	}
	edits, gone, err := f.uninstall(after, s.Name)
	if err != nil {
		t.Fatalf("uninstall: %v of\n%s", err, after)
	}
	if got := apply(after, edits); string(got) != string(before) || gone != (before == nil) {
		t.Errorf("uninstall gives %q and gone %v, want %q; installed was\n%s", got, gone, before, after)
	}
	return string(after)
}

func TestInstallJSON(t *testing.T) {
	const pretty = `"tailrace": {
      "type": "stdio",
      "command": "/opt/tailrace",
      "args": ["mcp", "serve"]
    }`
	const compact = `"tailrace": {"type": "stdio", "command": "/opt/tailrace", "args": ["mcp", "serve"]}`
	for _, c := range []struct{ about, before, after string }{
		{"other members", "{\n  \"a\": 1\n}\n", "{\n  \"a\": 1,\n  \"mcpServers\": {\n    " + pretty + "\n  }\n}\n"},
		{"other servers", "{\n  \"mcpServers\": {\n    \"x\": {}\n  }\n}", "{\n  \"mcpServers\": {\n    \"x\": {},\n    " + pretty + "\n  }\n}"},
		{"an empty container", "{\n  \"mcpServers\": {}\n}\n", "{\n  \"mcpServers\": {" + compact + "}\n}\n"},
		{"an empty container on lines", "{\n  \"mcpServers\": {\n  }\n}\n", "{\n  \"mcpServers\": {\n    " + compact + "\n  }\n}\n"},
		{"one line", `{"a":1}`, "{\"a\":1, \"mcpServers\": {\n  " + strings.ReplaceAll(pretty, "\n  ", "\n") + "\n}}"},
		{"servers on one line", `{"mcpServers":{"x":{}}}`, `{"mcpServers":{"x":{}, ` + compact + `}}`},
		{"tabs", "{\n\t\"a\": {}\n}", "{\n\t\"a\": {},\n\t\"mcpServers\": {\n\t\t\"tailrace\": {\n\t\t\t\"type\": \"stdio\",\n\t\t\t\"command\": \"/opt/tailrace\",\n\t\t\t\"args\": [\"mcp\", \"serve\"]\n\t\t}\n\t}\n}"},
		{"no members", "{}\n", "{\"mcpServers\": {\n    " + pretty + "\n  }}\n"},
		{"an empty file", "", "{\n  \"mcpServers\": {\n    " + pretty + "\n  }\n}"},
		{"a byte order mark", "\xef\xbb\xbf{\"mcpServers\": {}}", "\xef\xbb\xbf{\"mcpServers\": {" + compact + "}}"},
		{"line ends of Windows", "{\r\n  \"a\": 1\r\n}\r\n", strings.ReplaceAll("{\n  \"a\": 1,\n  \"mcpServers\": {\n    "+pretty+"\n  }\n}\n", "\n", "\r\n")},
	} {
		t.Run(c.about, func(t *testing.T) {
			got := installed(t, plainForm, []byte(c.before), testServer)
			if c.about == "no members" {
				c.after = "{\"mcpServers\": {\n  " + strings.ReplaceAll(pretty, "\n  ", "\n") + "\n}}\n"
			}
			if got != c.after {
				t.Errorf("got\n%s\nwant\n%s", got, c.after)
			}
		})
	}
	t.Run("no file", func(t *testing.T) {
		if got, want := installed(t, plainForm, nil, testServer), "{\n  \"mcpServers\": {\n    "+pretty+"\n  }\n}\n"; got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	})
}

func TestInstallComments(t *testing.T) {
	const entry = `"tailrace": {
      "command": "/opt/tailrace",
      "args": ["mcp", "serve"]
    }`
	for _, c := range []struct{ about, before, after string }{
		{"behind the last server", "{\n  \"servers\": {\n    \"x\": {} // best\n    // more to come\n  }\n}", "{\n  \"servers\": {\n    \"x\": {}, // best\n    // more to come\n    " + entry + "\n  }\n}"},
		{"a trailing comma", "{\n  \"servers\": {\n    \"x\": {}, // best\n  },\n}", "{\n  \"servers\": {\n    \"x\": {}, // best\n    " + entry + ",\n  },\n}"},
		{"between value and comma", "{\n  \"servers\": {\n    \"x\": {} /* a */ , /* b */\n  }\n}", "{\n  \"servers\": {\n    \"x\": {} /* a */ , /* b */\n    " + entry + ",\n  }\n}"},
		{"in an empty container", "{\n  \"servers\": { // none\n  }\n}", "{\n  \"servers\": { // none\n    \"tailrace\": {\"command\": \"/opt/tailrace\", \"args\": [\"mcp\", \"serve\"]}\n  }\n}"},
		{"at the end of the file", "// mine\n{\n  \"inputs\": []\n}\n// end", "// mine\n{\n  \"inputs\": [],\n  \"servers\": {\n    " + entry + "\n  }\n}\n// end"},
	} {
		t.Run(c.about, func(t *testing.T) {
			if got := installed(t, commentsForm, []byte(c.before), testServer); got != c.after {
				t.Errorf("got\n%s\nwant\n%s", got, c.after)
			}
		})
	}
}

func TestInstallTOML(t *testing.T) {
	const table = "[mcp_servers.tailrace]\ncommand = \"/opt/tailrace\"\nargs = [\"mcp\", \"serve\"]\n"
	for _, c := range []struct{ about, before, after string }{
		{"other settings", "model = \"x\" # mine\n", "model = \"x\" # mine\n\n" + table},
		{"no last line end", "# only this", "# only this\n" + table},
		{"an empty file", "", "\n" + table},
		{"other servers", "[mcp_servers.x]\ncommand = 'a'\n", "[mcp_servers.x]\ncommand = 'a'\n\n" + table},
		{"a container of its own", "[mcp_servers]\n", "[mcp_servers]\n\n" + table},
		{"line ends of Windows", "a = 1\r\n", strings.ReplaceAll("a = 1\n\n"+table, "\n", "\r\n")},
		{"a text that looks like the entry", "a = '''\n" + table + "'''\n", "a = '''\n" + table + "'''\n\n" + table},
	} {
		t.Run(c.about, func(t *testing.T) {
			if got := installed(t, tablesForm, []byte(c.before), testServer); got != c.after {
				t.Errorf("got\n%s\nwant\n%s", got, c.after)
			}
		})
	}
	t.Run("no file", func(t *testing.T) {
		if got := installed(t, tablesForm, nil, testServer); got != table {
			t.Errorf("got\n%s\nwant\n%s", got, table)
		}
	})
}

// An entry of an earlier install takes the new command, and keeps what the user added.
func TestInstallUpdates(t *testing.T) {
	for _, c := range []struct {
		about         string
		form          form
		before, after string
	}{
		{"JSON", plainForm, `{"mcpServers": {"tailrace": {"env": {"A": "b"}, "command": "old", "args": ["mcp", "serve", "--x"]}}}`,
			`{"mcpServers": {"tailrace": {"env": {"A": "b"}, "command": "/opt/tailrace", "args": ["mcp", "serve"]}}}`},
		{"TOML", tablesForm, "[mcp_servers.tailrace]\ncommand = \"old\"\nargs = [\"mcp\", \"serve\"]\nstartup_timeout_sec = 20\n[x]\n",
			"[mcp_servers.tailrace]\ncommand = \"/opt/tailrace\"\nargs = [\"mcp\", \"serve\"]\nstartup_timeout_sec = 20\n[x]\n"},
	} {
		t.Run(c.about, func(t *testing.T) {
			edits, err := c.form.install([]byte(c.before), testServer)
			if got := string(apply([]byte(c.before), edits)); err != nil || got != c.after {
				t.Errorf("got\n%s\nand error %v, want\n%s", got, err, c.after)
			}
			if _, _, err := c.form.uninstall([]byte(c.after), "tailrace"); !errors.Is(err, ErrExtended) {
				t.Errorf("uninstall of an entry with more in it: %v, want ErrExtended", err)
			}
		})
	}
}

// What a user wrote behind or around the entry stays when it is removed.
func TestUninstallKeeps(t *testing.T) {
	const entry = `"tailrace": {"command": "x", "args": ["mcp", "serve"]}`
	const table = "[mcp_servers.tailrace]\ncommand = \"x\"\nargs = [\"mcp\", \"serve\"]\n"
	for _, c := range []struct {
		about         string
		form          form
		before, after string
	}{
		{"a server behind it", commentsForm, `{"servers": {` + entry + `, "y": 1}}`, `{"servers": { "y": 1}}`},
		{"comments around it", commentsForm, "{\"servers\": {\n  // a\n  " + entry + " // b\n}}", "{\"servers\": {\n  // a\n // b\n}}"},
		{"a comment that would take the brace", commentsForm, "{\"servers\": { // a\n" + entry + "}}", "{\"servers\": { // a\n}}"},
		{"a comma of its own", commentsForm, "{\"servers\": {\n  " + entry + ",\n}}", "{\"servers\": {\n}}"},
		{"an env that the client added", commentsForm, `{"servers": {"tailrace": {"command": "x", "args": ["mcp", "serve"], "env": {}}}}`, `{"servers": {}}`},
		{"a table behind it", tablesForm, "a = 1\n\n" + table + "\n[y]\n", "a = 1\n\n[y]\n"},
		{"a table right behind it", tablesForm, "a = 1\n" + table + "[y]\n", "a = 1\n[y]\n"},
		{"a comment behind it", tablesForm, table + "# c\n", "# c\n"},
	} {
		t.Run(c.about, func(t *testing.T) {
			edits, gone, err := c.form.uninstall([]byte(c.before), "tailrace")
			if got := string(apply([]byte(c.before), edits)); err != nil || gone || got != c.after {
				t.Errorf("got\n%s\ngone %v and error %v, want\n%s", got, gone, err, c.after)
			}
		})
	}
}

func TestRefused(t *testing.T) {
	for _, c := range []struct {
		about        string
		form         form
		text         string
		reason       error
		line, column int
	}{
		{"broken JSON", plainForm, "{\n  \"a\": 1,\n  b\n}", ErrSyntax, 3, 3},
		{"a comment for a client that takes none", plainForm, "{\n  // a\n}", ErrStrict, 2, 3},
		{"a trailing comma for a client that takes none", plainForm, "{\"a\": 1,\n}", ErrStrict, 2, 1},
		{"broken JSON with comments", commentsForm, "{ // a\n  \"a\": tru\n}", ErrSyntax, 2, 8},
		{"no object", plainForm, "[]", ErrShape, 1, 1},
		{"a container that is none", plainForm, "{\"mcpServers\": null}", ErrShape, 1, 16},
		{"a container that is there twice", plainForm, "{\"mcpServers\": {},\n\"mcpServers\": {}}", ErrTwice, 2, 1},
		{"an entry that is there twice", plainForm, "{\"mcpServers\": {\"tailrace\": {},\n\"tailr\\u0061ce\": {}}}", ErrTwice, 2, 1},
		{"another server of the name", plainForm, "{\"mcpServers\": {\n\"tailrace\": {\"url\": \"x\"}}}", ErrTaken, 2, 1},
		{"too deep", commentsForm, strings.Repeat("[", 5000), ErrDeep, 1, 1001},
		{"broken TOML", tablesForm, "a = 1\nb = \n", ErrSyntax, 2, 5},
		{"servers that cannot be added to", tablesForm, "\nmcp_servers = {x = {command = 'a'}}\n", ErrClosed, 2, 1},
		{"servers that are none", tablesForm, "mcp_servers = 1\n", ErrShape, 1, 1},
		{"another server of the name in TOML", tablesForm, "a = 1\n[mcp_servers.tailrace]\nurl = 'x'\n", ErrTaken, 2, 1},
		{"an entry of another form", tablesForm, "[mcp_servers]\ntailrace = {command = 'a', args = ['mcp', 'serve']}\n", ErrExtended, 2, 1},
	} {
		t.Run(c.about, func(t *testing.T) {
			edits, err := c.form.install([]byte(c.text), testServer)
			var p *Problem
			if !errors.Is(err, c.reason) || !errors.As(err, &p) || edits != nil {
				t.Fatalf("edits %v and error %v, want %v", edits, err, c.reason)
			}
			if p.Line != c.line || p.Column != c.column {
				t.Errorf("line %d, column %d, want %d, %d", p.Line, p.Column, c.line, c.column)
			}
		})
	}
}

func TestRefusedServers(t *testing.T) {
	for _, c := range []struct {
		s    Server
		want error
	}{
		{Server{Name: "a b", Command: "x"}, ErrName},
		{Server{Name: strings.Repeat("a", 65), Command: "x"}, ErrName},
		{Server{Name: "a", Command: ""}, ErrCommand},
		{Server{Name: "a", Command: "x\x7f"}, ErrCommand},
		{Server{Name: "a", Command: "\xff"}, ErrCommand},
		{Server{Name: "a", Command: "x", Args: []string{"\n"}}, ErrArgument},
		{Server{Name: "a", Command: `C:\Program Files\"ö`, Args: []string{""}}, nil},
	} {
		if err := c.s.check(); !errors.Is(err, c.want) {
			t.Errorf("%q: %v, want %v", c.s, err, c.want)
		}
	}
}
