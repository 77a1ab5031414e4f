package main

import (
	"bytes"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// roffMarks are what the page has between the words of its text.
var roffMarks = regexp.MustCompile(`\\f[A-Z]|\\&|\\`)

// Each page has all words of the command's text, each flag, and the same bytes each time:
// what is markup in the library's language would lose some.
func TestManPagesSayAll(t *testing.T) {
	page := func(args ...string) string {
		t.Helper()
		var out, problems bytes.Buffer
		a := &app{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &problems, Args: append([]string{"man"}, args...)}
		if code := a.run(); code != codeComplete || problems.Len() > 0 {
			t.Fatalf("man %v: exit code %d, %s", args, code, problems.String())
		}
		return out.String()
	}
	for _, cmd := range commandTree(newRootCommand(&app{Stdout: io.Discard, Stderr: io.Discard})) {
		words := strings.Fields(cmd.CommandPath())[1:]
		raw := page(words...)
		if raw != page(words...) {
			t.Errorf("%s: not the same twice", cmd.CommandPath())
		}
		text := roffMarks.ReplaceAllString(raw, "")
		rest := text
		for word := range strings.FieldsSeq(strings.ReplaceAll(cmd.Long, "`", "")) {
			_, after, found := strings.Cut(rest, word)
			if !found {
				t.Errorf("%s: the page lacks %q, or has it out of order", cmd.CommandPath(), word)
				break
			}
			rest = after
		}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden && !strings.Contains(text, "--"+f.Name) {
				t.Errorf("%s: the page lacks --%s", cmd.CommandPath(), f.Name)
			}
		})
	}
}
