package e2e

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Each test that docs/faults.md names exists, and each TestFault_ is named there.
func TestFaultDocs(t *testing.T) {
	page, err := os.ReadFile("../../docs/faults.md")
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]bool{}
	for _, name := range regexp.MustCompile(`Test[A-Z][A-Za-z0-9_]+`).FindAllString(string(page), -1) {
		named[name] = true
	}
	exists := map[string]bool{}
	declared := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	err = filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "node_modules" || d.Name() == ".git"):
			return filepath.SkipDir
		case !strings.HasSuffix(path, "_test.go"):
			return nil
		}
		text, err := os.ReadFile(path)
		for _, m := range declared.FindAllSubmatch(text, -1) {
			name := string(m[1])
			exists[name] = true
			if strings.HasPrefix(name, "TestFault_") && !named[name] {
				t.Errorf("docs/faults.md lacks %s", name)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for name := range named {
		if !exists[name] && name != "TestFault_" {
			t.Errorf("docs/faults.md names %s, which does not exist", name)
		}
	}
	if len(named) < 30 {
		t.Errorf("docs/faults.md names %d tests", len(named))
	}
}
