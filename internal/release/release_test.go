package main

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tailrace/tailrace/mcp"
)

// read returns a file of the repository.
func read(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// atRoot has the test run where the program does.
func atRoot(t *testing.T) {
	t.Helper()
	t.Chdir(filepath.Join("..", ".."))
}

func TestServerJSONFollowsItsSchema(t *testing.T) {
	atRoot(t)
	if err := validate(serverSchema, read(t, registryPath)); err != nil {
		t.Error(err)
	}
	var entry struct {
		Schema string `json:"$schema"`
	}
	var schema struct {
		ID string `json:"$id"`
	}
	text, err := schemas.ReadFile(serverSchema)
	if err != nil {
		t.Fatal(err)
	}
	if json.Unmarshal(text, &schema) != nil || json.Unmarshal(read(t, registryPath), &entry) != nil || schema.ID == "" || entry.Schema != schema.ID {
		t.Errorf("the entry names the schema %q, and the copy is of %q", entry.Schema, schema.ID)
	}
}

func TestManifestFollowsItsSchema(t *testing.T) {
	atRoot(t)
	manifest := read(t, manifestPath)
	if err := validate(manifestSchema, manifest); err != nil {
		t.Error(err)
	}
	var m struct {
		Tools []struct{ Name string }
	}
	if err := json.Unmarshal(manifest, &m); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range m.Tools {
		names = append(names, tool.Name)
	}
	if !slices.Equal(names, mcp.ToolNames()) {
		t.Errorf("the manifest lists %v, the server has %v", names, mcp.ToolNames())
	}
}

// The schemas refuse something: a check that takes everything is none.
func TestSchemasRefuse(t *testing.T) {
	atRoot(t)
	for _, c := range []struct{ schema, path, member, value string }{
		{serverSchema, registryPath, "name", `"tailrace"`},
		{serverSchema, registryPath, "description", `"` + strings.Repeat("x", 101) + `"`},
		{serverSchema, registryPath, "websiteUrl", `"no address"`},
		{serverSchema, registryPath, "packages", `[{"registryType": "mcpb", "identifier": "x", "fileSha256": "X", "transport": {"type": "stdio"}}]`},
		{manifestSchema, manifestPath, "server", `{"type": "elf", "entry_point": "x", "mcp_config": {"command": "x"}}`},
		{manifestSchema, manifestPath, "wrong", `1`},
	} {
		d, err := parseDocument(read(t, c.path))
		if err != nil {
			t.Fatal(err)
		}
		if err := d.set(c.member, json.RawMessage(c.value)); err != nil {
			t.Fatal(err)
		}
		text, err := d.text()
		if err != nil {
			t.Fatal(err)
		}
		if validate(c.schema, text) == nil {
			t.Errorf("%s takes %s %s", c.schema, c.member, c.value)
		}
	}
}

// made runs the program with three binaries, and returns the bundle and the entry.
func made(t *testing.T) (bundle, entry []byte) {
	t.Helper()
	atRoot(t)
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	for _, name := range []string{"darwin", "linux", "windows"} {
		if err := os.WriteFile(in(name), []byte("of "+name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out := in("out/tailrace_1.2.3.mcpb")
	if err := run([]string{"bundle", "-version", "1.2.3", "-darwin", in("darwin"), "-linux", in("linux"), "-windows", in("windows"), "-out", out}); err != nil {
		t.Fatal(err)
	}
	if err := run([]string{"registry", "-version", "1.2.3", "-bundle", out, "-out", in("server.json")}); err != nil {
		t.Fatal(err)
	}
	return read(t, out), read(t, in("server.json"))
}

func TestBundle(t *testing.T) {
	data, _ := made(t)
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	content := map[string][]byte{}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		if content[f.Name], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
		if executable := f.Mode()&0o111 != 0; executable != strings.HasPrefix(f.Name, "server/") {
			t.Errorf("%s has the mode %v", f.Name, f.Mode())
		}
	}
	for name, want := range map[string]string{"server/tailrace": "of darwin", "server/tailrace-linux": "of linux", "server/tailrace.exe": "of windows"} {
		if string(content[name]) != want {
			t.Errorf("%s is %q", name, content[name])
		}
	}
	var m struct {
		Version string
		Server  struct {
			EntryPoint string `json:"entry_point"`
			Config     struct {
				Command  string
				Platform map[string]struct{ Command string } `json:"platform_overrides"`
			} `json:"mcp_config"`
		}
	}
	if err := json.Unmarshal(content["manifest.json"], &m); err != nil || m.Version != "1.2.3" {
		t.Errorf("the manifest has the version %q, %v", m.Version, err)
	}
	// What the manifest starts is in the bundle.
	commands := []string{m.Server.Config.Command, "${__dirname}/" + m.Server.EntryPoint}
	for _, p := range m.Server.Config.Platform {
		commands = append(commands, p.Command)
	}
	for _, command := range commands {
		if _, ok := content[strings.TrimPrefix(command, "${__dirname}/")]; !ok {
			t.Errorf("the manifest starts %s, which is not there", command)
		}
	}
}

func TestRegistryEntry(t *testing.T) {
	bundle, text := made(t)
	var entry struct {
		Version  string
		Packages []registryPackage
	}
	if err := json.Unmarshal(text, &entry); err != nil || len(entry.Packages) != 1 {
		t.Fatalf("%v: %s", err, text)
	}
	sum := sha256.Sum256(bundle)
	p := entry.Packages[0]
	if entry.Version != "1.2.3" || p.Identifier != "https://github.com/tailrace/tailrace/releases/download/v1.2.3/tailrace_1.2.3.mcpb" ||
		p.FileSHA256 != hex.EncodeToString(sum[:]) || p.Transport.Type != "stdio" {
		t.Errorf("got %s", text)
	}
	if err := validate(serverSchema, text); err != nil {
		t.Error(err)
	}
}

func TestSameInputGivesSameBundle(t *testing.T) {
	var first, second []byte
	t.Run("first", func(t *testing.T) { first, _ = made(t) })
	t.Run("second", func(t *testing.T) { second, _ = made(t) })
	if len(first) == 0 || !bytes.Equal(first, second) {
		t.Error("two bundles of the same files differ")
	}
}

func TestWrongCommandLines(t *testing.T) {
	atRoot(t)
	out := filepath.Join(t.TempDir(), "out")
	for _, args := range [][]string{
		nil, {"publish"}, {"bundle"}, {"bundle", "-version", "1", "-out", out}, {"registry", "-version", "1", "-out", out},
		{"registry", "-version", "1", "-out", out, "-bundle", out + ".gone"},
		{"bundle", "-version", "1", "-out", out, "-darwin", "gone", "-linux", "gone", "-windows", "gone"},
	} {
		if run(args) == nil {
			t.Errorf("%v is taken", args)
		}
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("something was written")
	}
}
