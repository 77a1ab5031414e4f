package install

import (
	"os"
	"path/filepath"
	"testing"
)

func TestPaths(t *testing.T) {
	home, root := t.TempDir(), t.TempDir()
	for _, c := range []struct {
		os, id string
		env    map[string]string
		scope  Scope
		want   string // below home, or below root in a project
	}{
		{"linux", "claude-code", nil, User, ".claude.json"},
		{"linux", "claude-code", map[string]string{"CLAUDE_CONFIG_DIR": filepath.Join(home, "c")}, User, "c/.claude.json"},
		{"linux", "claude-code", map[string]string{"CLAUDE_CONFIG_DIR": "c"}, User, "work/c/.claude.json"},
		{"linux", "claude-code", nil, Project, ".mcp.json"},
		{"linux", "claude-desktop", nil, User, ".config/Claude/claude_desktop_config.json"},
		{"linux", "claude-desktop", map[string]string{"XDG_CONFIG_HOME": filepath.Join(home, "x")}, User, "x/Claude/claude_desktop_config.json"},
		{"linux", "claude-desktop", map[string]string{"XDG_CONFIG_HOME": "relative"}, User, ".config/Claude/claude_desktop_config.json"},
		{"darwin", "claude-desktop", nil, User, "Library/Application Support/Claude/claude_desktop_config.json"},
		{"windows", "claude-desktop", nil, User, "AppData/Roaming/Claude/claude_desktop_config.json"},
		{"windows", "claude-desktop", map[string]string{"APPDATA": filepath.Join(home, "r")}, User, "r/Claude/claude_desktop_config.json"},
		{"darwin", "cursor", nil, User, ".cursor/mcp.json"},
		{"windows", "cursor", nil, Project, ".cursor/mcp.json"},
		{"linux", "vscode", nil, User, ".config/Code/User/mcp.json"},
		{"darwin", "vscode", nil, User, "Library/Application Support/Code/User/mcp.json"},
		{"windows", "vscode", nil, User, "AppData/Roaming/Code/User/mcp.json"},
		{"darwin", "vscode", nil, Project, ".vscode/mcp.json"},
		{"windows", "codex", nil, User, ".codex/config.toml"},
		{"linux", "codex", map[string]string{"CODEX_HOME": filepath.Join(home, "c")}, User, "c/config.toml"},
		{"linux", "codex", nil, Project, ".codex/config.toml"},
	} {
		s := Surroundings{OS: c.os, Home: home, Cwd: filepath.Join(home, "work"), Root: root, Getenv: func(k string) string { return c.env[k] }}
		client, ok := ByID(c.id)
		if !ok {
			t.Fatalf("no client %s", c.id)
		}
		base := home
		if c.scope == Project {
			base = root
		}
		if got, err := client.Path(s, c.scope); err != nil || got != filepath.Join(base, filepath.FromSlash(c.want)) {
			t.Errorf("%s on %s with %v: %s, %v; want %s", c.id, c.os, c.env, got, err, c.want)
		}
	}
}

// The packaged application of Windows reads a file of its own, where it has been started.
func TestPathOfPackagedDesktop(t *testing.T) {
	home := t.TempDir()
	s := Surroundings{OS: "windows", Home: home, Getenv: func(string) string { return "" }}
	client, _ := ByID("claude-desktop")
	for _, dir := range []string{"AppData/Local/Packages/Claude_abc/LocalCache/Roaming/Claude", "AppData/Local/Claude-Data/claude_abc"} {
		dir = filepath.Join(home, filepath.FromSlash(dir))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if got, err := client.Path(s, User); err != nil || got != filepath.Join(dir, "claude_desktop_config.json") {
			t.Errorf("got %s, %v; want it in %s", got, err, dir)
		}
	}
}

func TestPathNeeds(t *testing.T) {
	client, _ := ByID("claude-desktop")
	if _, err := client.Path(Surroundings{OS: "linux"}, User); err != ErrNoHome {
		t.Errorf("without a home: %v", err)
	}
	if _, err := client.Path(Surroundings{OS: "linux", Home: "/"}, Project); err != ErrScope {
		t.Errorf("of a project: %v", err)
	}
}
