package install

import "path/filepath"

// claudeCode keeps the servers of the user in ~/.claude.json, which is in
// CLAUDE_CONFIG_DIR where that is set, and those of a project in .mcp.json in its root.
func claudeCode() Client {
	return Client{
		ID: "claude-code", Title: "Claude Code",
		After: "start a new session; /mcp shows the server (one of a project has to be approved there)",
		user: func(s Surroundings) string {
			return filepath.Join(s.ownDir("CLAUDE_CONFIG_DIR"), ".claude.json")
		},
		project: []string{".mcp.json"},
		form:    jsonForm{container: "mcpServers", typed: true, strict: true},
	}
}
