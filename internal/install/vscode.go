package install

import "path/filepath"

// vsCode calls its servers by another name than the others. Its files are JSON with
// comments.
func vsCode() Client {
	return Client{
		ID: "vscode", Title: "VS Code",
		After:   "run the command \"MCP: List Servers\" and start the server",
		user:    func(s Surroundings) string { return filepath.Join(s.appData(), "Code", "User", "mcp.json") },
		project: []string{".vscode", "mcp.json"},
		form:    jsonForm{container: "servers", typed: true},
	}
}
