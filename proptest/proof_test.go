package proptest

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestProof: docs/proof.md has a proof for each rule of the contract and for each law,
// and what it names exists.
func TestProof(t *testing.T) {
	read := func(path string) string {
		b, err := os.ReadFile(filepath.FromSlash(path))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	functions := map[string]bool{}
	declared := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Example)\w*)\(`)
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && d.Name() != ".." && (d.Name()[0] == '.' || d.Name() == "node_modules") {
			return fs.SkipDir
		}
		if strings.HasSuffix(path, "_test.go") {
			for _, m := range declared.FindAllStringSubmatch(read(path), -1) {
				functions[m[1]] = true
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	proof := read("../docs/proof.md")
	rows := map[string]string{}
	for line := range strings.Lines(proof) {
		if cells := strings.Split(line, "|"); len(cells) == 4 {
			rows[strings.TrimSpace(cells[1])] = cells[2]
		}
	}
	names := regexp.MustCompile("`((?:Test|Fuzz|Example)\\w*)`")
	proved := func(what string) {
		if !names.MatchString(rows[what]) {
			t.Errorf("docs/proof.md has no proof of %s", what)
		}
	}
	rules := regexp.MustCompile(`(?m)^- ([A-Z][0-9]+) `).FindAllStringSubmatch(read("../docs/contract.md"), -1)
	laws := regexp.MustCompile(`(?m)^//   - ([a-z-]+):`).FindAllStringSubmatch(read("../pipeline/doc.go"), -1)
	if len(rules) < 40 || len(laws) < 12 {
		t.Fatalf("found %d rules and %d laws", len(rules), len(laws))
	}
	for _, m := range append(rules, laws...) {
		proved(m[1])
	}
	for _, m := range names.FindAllStringSubmatch(proof, -1) {
		if !functions[m[1]] {
			t.Errorf("docs/proof.md names %s, which does not exist", m[1])
		}
	}
	if !strings.Contains(proof, "| rule | edit |") {
		t.Error("docs/proof.md has no table of mutants")
	}
}
