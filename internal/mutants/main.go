// Mutants proves that the tests hold the rules: it makes small edits to a copy of the
// tree, one at a time, and runs the test that must fail for each. An edit that the test
// does not notice is a survivor, and an error.
//
//	go run ./internal/mutants          # all of them, in a few minutes
//	go run ./internal/mutants B3 C1    # those of some rules
//	go run ./internal/mutants -table   # the table of docs/proof.md, nothing is run
//
// It must be run in the root of the module. The copy is thrown away, also after a failure.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"time"
)

func main() {
	printTable := flag.Bool("table", false, "print the table and run nothing")
	flag.Parse()
	if *printTable {
		fmt.Print(markdown())
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		stop()
		os.Exit(1)
	}
}

// markdown is the table of docs/proof.md.
func markdown() string {
	var b strings.Builder
	b.WriteString("| rule | edit | file | killed by |\n|---|---|---|---|\n")
	for _, m := range table {
		fmt.Fprintf(&b, "| %s | %s | `%s` | `%s` in `%s` |\n", m.rule, m.what, m.file, m.test, m.pkg)
	}
	return b.String()
}

func run(ctx context.Context, rules []string) error {
	tree, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tree)
	if err := copyTree(tree); err != nil {
		return err
	}
	var chosen []mutant
	tests := map[string][]string{}
	for _, m := range table {
		if len(rules) == 0 || slices.Contains(rules, m.rule) {
			chosen = append(chosen, m)
			tests[m.pkg] = append(tests[m.pkg], m.test)
		}
	}
	// A test that fails anyway would kill everything.
	for _, pkg := range sortedKeys(tests) {
		if out, failed := test(ctx, tree, pkg, strings.Join(tests[pkg], "|")); failed {
			return fmt.Errorf("the tests of %s fail without a mutant:\n%s", pkg, out)
		}
	}
	fmt.Printf("%-5s %-9s %6s  %s\n", "rule", "mutant", "s", "edit, test")
	var bad []string
	for _, m := range chosen {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		began := time.Now()
		fate, err := m.try(ctx, tree)
		if err != nil {
			return err
		}
		fmt.Printf("%-5s %-9s %6.1f  %s; %s\n", m.rule, fate, time.Since(began).Seconds(), m.what, m.test)
		if fate != "killed" {
			bad = append(bad, m.rule+": "+m.what+": "+fate)
		}
	}
	if len(bad) > 0 {
		return fmt.Errorf("%d of %d mutants were not killed:\n%s", len(bad), len(chosen), strings.Join(bad, "\n"))
	}
	fmt.Printf("%d mutants, all killed\n", len(chosen))
	return nil
}

// try applies m to the tree, runs its test, and takes m back.
func (m mutant) try(ctx context.Context, tree string) (fate string, err error) {
	path := filepath.Join(tree, filepath.FromSlash(m.file))
	text, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	if n := strings.Count(string(text), m.old); n != 1 {
		return fmt.Sprintf("found %d times", n), nil
	}
	defer func() { err = errors.Join(err, os.WriteFile(path, text, 0o644)) }()
	if err := os.WriteFile(path, []byte(strings.Replace(string(text), m.old, m.new, 1)), 0o644); err != nil {
		return "", err
	}
	out, failed := test(ctx, tree, m.pkg, m.test)
	switch {
	case strings.Contains(out, "[build failed]") || strings.Contains(out, "[setup failed]"):
		fmt.Print(out)
		return "no build", nil
	case !failed:
		return "SURVIVED", nil
	}
	return "killed", nil
}

// test runs some tests of a package. A run without a test has not failed.
func test(ctx context.Context, tree, pkg, name string) (out string, failed bool) {
	c := exec.CommandContext(ctx, "go", "test", "-count=1", "-vet=off", "-timeout=90s", "-run", "^("+name+")$", pkg)
	c.Dir = tree
	c.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod", "TAILRACE_SEED=1")
	b, err := c.CombinedOutput()
	return string(b), err != nil
}

// copyTree copies what the tests need: all but what is built, fetched or hidden.
func copyTree(to string) error {
	return filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name := d.Name(); d.IsDir() && path != "." && (name[0] == '.' || name == "node_modules" || name == "bin") {
			return fs.SkipDir
		}
		target := filepath.Join(to, path)
		if d.IsDir() {
			return os.MkdirAll(target, 0o755)
		}
		info, err := d.Info()
		if err != nil || !info.Mode().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(target, b, info.Mode().Perm())
	})
}

func sortedKeys(m map[string][]string) (keys []string) {
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}
