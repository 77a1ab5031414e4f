package install

import "path/filepath"

// cursor keeps both configurations in a folder .cursor, and takes comments in them.
func cursor() Client {
	return Client{
		ID: "cursor", Title: "Cursor",
		After:   "restart Cursor, and switch the server on under MCP in its settings",
		user:    func(s Surroundings) string { return filepath.Join(s.Home, ".cursor", "mcp.json") },
		project: []string{".cursor", "mcp.json"},
		form:    jsonForm{container: "mcpServers", typed: true},
	}
}
