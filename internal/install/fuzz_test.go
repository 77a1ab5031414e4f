package install

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/pelletier/go-toml/v2"
	"github.com/tailscale/hujson"
)

// meaning returns what a JSON text means, without the entry and without the container
// where that is empty.
func meaning(t *testing.T, text []byte, container string) any {
	t.Helper()
	_, text = cutMark(text)
	standard, err := hujson.Standardize(withEnd(text))
	if err != nil {
		t.Fatalf("no JSON any more: %v\n%s", err, text)
	}
	var root map[string]any
	if err := json.Unmarshal(standard, &root); err != nil {
		t.Fatal(err)
	}
	if servers, ok := root[container].(map[string]any); ok {
		if delete(servers, testServer.Name); len(servers) == 0 {
			delete(root, container)
		}
	}
	return root
}

// FuzzInstallJSON holds the laws of [installed] for any file, and that install changes
// nothing else.
func FuzzInstallJSON(f *testing.F) {
	for _, seed := range []string{
		``, ` `, `{}`, "{\n}\n", "{ // a\n}", `{"servers":{}}`, "{\"servers\":{\n}}", `{"servers":{"x":{}},}`,
		"{\"servers\": {/* a */ \"x\": 1 /* b */, // c\n}, \"y\": 2}", "\xef\xbb\xbf{\r\n\t\"a\": [1,\r\n2]\r\n}",
		"{\"servers\": {\"tailrace\": {\"command\": \"a\", \"args\": [\"mcp\", \"serve\"]}}}", "/**/{\"a\":1// x\n}//", "\n{\"servers\": {\n  }\n}",
	} {
		f.Add([]byte(seed), "/opt/tailrace")
	}
	f.Fuzz(func(t *testing.T, before []byte, command string) {
		s := Server{Name: testServer.Name, Command: command}
		if s.check() != nil || before == nil {
			return
		}
		edits, err := commentsForm.install(before, s)
		found, _ := commentsForm.servers(before)
		if err != nil || len(edits) == 0 || len(found) > 0 {
			return // refused, or there before
		}
		after := installed(t, commentsForm, before, s)
		_, text := cutMark(before)
		if t, err := parseJSON(text, false); err != nil || len(t.text) == 0 {
			return // an empty file
		}
		if a, b := meaning(t, before, "servers"), meaning(t, []byte(after), "servers"); !reflect.DeepEqual(a, b) {
			t.Errorf("the file meant %v and means %v", a, b)
		}
	})
}

// FuzzUninstallJSON removes an entry from any text that has one: the rest keeps its
// meaning, and every byte that stays was there.
func FuzzUninstallJSON(f *testing.F) {
	const entry = `"tailrace": {"command": "a", "args": ["mcp", "serve"]}`
	for _, seed := range []string{
		`{"servers":{` + entry + `}}`, "{\"servers\":{ // a\n" + entry + "}}", `{"servers":{"x":1,` + entry + `,"y":2}}`,
		"{\"servers\":{\"x\":1 /* a */, // b\n" + entry + " /* c */ , /* d */ }, \"y\": 2}", "{\"servers\":{\n  \"tailrace\": {\n\"command\":\"a\",\"args\":[\"mcp\",\"serve\"]}\n}}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, before []byte) {
		edits, gone, err := commentsForm.uninstall(before, testServer.Name)
		if err != nil || len(edits) == 0 || gone {
			return
		}
		after := apply(before, edits)
		if len(after) > len(before) {
			t.Errorf("uninstall made the file larger: %q", after)
		}
		if found, _ := commentsForm.servers(after); len(found) > 0 && found[0].Name == testServer.Name {
			t.Errorf("the entry is still there: %q", after)
		}
		_, text := cutMark(after)
		if tree, err := parseJSON(text, false); err == nil && len(tree.text) > 0 {
			if a, b := meaning(t, before, "servers"), meaning(t, after, "servers"); !reflect.DeepEqual(a, b) {
				t.Errorf("the file meant %v and means %v", a, b)
			}
		}
	})
}

// FuzzInstallTOML holds the laws of [installed] for any file, and that install changes
// nothing else.
func FuzzInstallTOML(f *testing.F) {
	for _, seed := range []string{
		"", "\n", "a=1", "a=1\r\n", "[mcp_servers]\n", "[mcp_servers.x]\ncommand='a'", "# a\n[[b]]\nc=1", "mcp_servers.x.command='a'\n",
		"a='''\n[mcp_servers.tailrace]\ncommand = \"/opt/tailrace\"\nargs = [\"mcp\", \"serve\"]\n'''\n", "a = nan\n", "mcp_servers={}",
	} {
		f.Add([]byte(seed), "/opt/tailrace")
	}
	f.Fuzz(func(t *testing.T, before []byte, command string) {
		s := Server{Name: testServer.Name, Command: command}
		if s.check() != nil || before == nil {
			return
		}
		edits, err := tablesForm.install(before, s)
		if err != nil || len(edits) == 0 || len(edits[0].Old) > 0 {
			return // refused, or there before
		}
		after := installed(t, tablesForm, before, s)
		var doc map[string]any
		if err := toml.Unmarshal(before, &doc); err != nil {
			t.Fatal(err)
		}
		if !tablesForm.means([]byte(after), tablesForm.with(doc, s.Name, map[string]any{"command": command, "args": anyList(s.args())})) {
			t.Errorf("the file has another meaning: %q", after)
		}
	})
}
