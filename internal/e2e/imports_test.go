package e2e

import (
	"os/exec"
	"strings"
	"testing"
)

// TestImportDirection keeps the house in order: pipeline <- stages <- mcp <- cmd, the MCP
// SDK behind mcp alone, the terminal behind cmd alone.
func TestImportDirection(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, "../../...").Output()
	if err != nil {
		t.Fatal(err)
	}
	const module = "github.com/tailrace/tailrace/"
	floor := func(path string) int {
		for i, p := range []string{"internal", "pipeline", "stages", "mcp", "cmd", "proptest", "bench"} {
			if rest := strings.TrimPrefix(path, module); rest == p || strings.HasPrefix(rest, p+"/") {
				return i
			}
		}
		return -1
	}
	for _, line := range strings.Split(strings.TrimSpace(string(out)), "\n") {
		from, imports, _ := strings.Cut(line, " ")
		for _, to := range strings.Fields(imports) {
			switch f := floor(to); {
			case strings.HasPrefix(to, module) && floor(from) == 0 && f > 1:
				t.Errorf("%s imports %s: internal packages stand below stages", from, to)
			case strings.HasPrefix(to, module) && floor(from) > 0 && f > floor(from), f == 5 && floor(from) != 5, f == 6 && floor(from) != 6:
				t.Errorf("%s imports %s: against the direction", from, to)
			case strings.HasPrefix(to, "github.com/modelcontextprotocol/") && floor(from) != 3:
				t.Errorf("%s imports the MCP SDK", from)
			case strings.HasPrefix(to, "golang.org/x/term") && floor(from) != 4:
				t.Errorf("%s knows the terminal", from)
			}
		}
	}
}
