package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTable: each mutant can be made, and docs/proof.md shows the table as it is.
func TestTable(t *testing.T) {
	if len(table) < 25 {
		t.Errorf("%d mutants", len(table))
	}
	for _, m := range table {
		text, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(m.file)))
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(text), m.old); n != 1 || m.old == m.new {
			t.Errorf("%s: %s: the text to edit is %d times in %s", m.rule, m.what, n, m.file)
		}
	}
	proof, err := os.ReadFile("../../docs/proof.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(string(proof), markdown()) {
		t.Error("docs/proof.md does not end with the output of `go run ./internal/mutants -table`")
	}
}
