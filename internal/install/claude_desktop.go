package install

import (
	"os"
	"path/filepath"
)

const claudeDesktopFile = "claude_desktop_config.json"

// claudeDesktop has a configuration of the user only. On Windows it is a packaged
// application, whose files lie elsewhere than it says itself.
func claudeDesktop() Client {
	return Client{
		ID: "claude-desktop", Title: "Claude Desktop",
		After: "quit Claude Desktop as a whole and start it again",
		user:  claudeDesktopPath,
		form:  jsonForm{container: "mcpServers", strict: true},
	}
}

func claudeDesktopPath(s Surroundings) string {
	if s.OS == "windows" {
		local := s.dir("LOCALAPPDATA", "AppData", "Local")
		for _, pattern := range []string{
			filepath.Join("Claude-Data", "claude*"),
			filepath.Join("Packages", "Claude_*", "LocalCache", "Roaming", "Claude"),
		} {
			// The only error is that of a pattern. What the folder is called in a
			// pattern's place matters only if it is there.
			found, _ := filepath.Glob(filepath.Join(local, pattern))
			for _, dir := range found {
				if info, err := os.Stat(dir); err == nil && info.IsDir() {
					return filepath.Join(dir, claudeDesktopFile)
				}
			}
		}
	}
	return filepath.Join(s.appData(), "Claude", claudeDesktopFile)
}
