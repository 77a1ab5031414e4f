package install

import "path/filepath"

// codex keeps its servers in config.toml in CODEX_HOME, ~/.codex by default. It reads the
// one of a project only where the user trusts the project.
func codex() Client {
	return Client{
		ID: "codex", Title: "Codex",
		After:   "start a new session; /mcp shows the server",
		user:    func(s Surroundings) string { return filepath.Join(s.ownDir("CODEX_HOME", ".codex"), "config.toml") },
		project: []string{".codex", "config.toml"},
		form:    tomlForm{container: "mcp_servers"},
	}
}
