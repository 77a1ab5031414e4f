//go:build unix

package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/klauspost/compress/zstd"
)

func gzipped(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(text)); err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	return b.String()
}

func zstandard(t *testing.T, text string) string {
	t.Helper()
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	return string(w.EncodeAll([]byte(text), nil))
}

// Rotated and compressed files and patterns of them are one log, merged by time.
func TestLogs_FilesAreMergedByTime(t *testing.T) {
	stamp := func(i int) string { return fmt.Sprintf("2026-03-01T10:00:%02dZ line %d\n", i, i) }
	files := map[string]string{
		"logs/a.log.2.gz":  gzipped(t, stamp(0)+stamp(1)+"\tgoes on\n"),
		"logs/a.log.1.zst": zstandard(t, stamp(2)+stamp(5)),
		"logs/a.log":       stamp(6) + stamp(8),
		"logs/b.log":       stamp(3) + stamp(7) + stamp(9),
		"x.log":            stamp(4),
		"tailrace.yaml":    "version: 1\nsources:\n  app: {files: ['logs/a.log*', logs/b.log, x.log]}\n  none: {files: ['none/*']}\n",
	}
	all := []string{"0", "1", "on", "2", "3", "4", "5", "6", "7", "8", "9"}
	for _, tt := range []struct {
		args []string
		want []string
	}{
		{[]string{"app"}, all},
		{[]string{"app", "--tail", "3"}, all[8:]},
		{[]string{"app", "--tail", "0"}, nil},
		{[]string{"app", "--since", "2026-03-01T10:00:01Z", "--until", "2026-03-01T10:00:03Z"}, all[1:5]},
		{[]string{"--file", "logs/*", "--file", "x.log"}, all},
		{[]string{"--file", "logs/a.log.2.gz"}, all[:3]},
		{[]string{"--file", "logs/a.log.2.gz", "--tail", "1"}, all[2:3]},
		{[]string{"--file", "logs/?.log"}, []string{"3", "6", "7", "8", "9"}},
	} {
		for _, asJSON := range []bool{false, true} {
			args := append(tt.args, "--no-follow")
			if asJSON {
				args = append(args, "--json")
			}
			out, err := logsApp(t, files, args...)
			wantCode(t, err, 0)
			var got []string
			for line := range strings.Lines(out) {
				if asJSON {
					var e struct {
						Type  string
						Entry struct{ Raw, Instance, Service string }
					}
					if err := json.Unmarshal([]byte(line), &e); err != nil {
						t.Fatal(err)
					}
					if e.Type != "log" {
						continue
					}
					if several := !slices.Contains(tt.args, "logs/a.log.2.gz"); several != (e.Entry.Instance != "") || slices.Contains(tt.args, "app") != (e.Entry.Service != "") {
						t.Errorf("%v: %+v", args, e.Entry)
					}
					line = e.Entry.Raw
				}
				line = strings.TrimSpace(line)
				got = append(got, line[strings.LastIndexByte(line, ' ')+1:])
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("%v: got %v, want %v", args, got, tt.want)
			}
		}
	}
	for args, want := range map[string]string{
		"none --json":            "no file matches",
		"--json --file none/*":   "no file matches",
		"--json --file none.log": "the file was not found",
	} {
		out, err := logsApp(t, files, append(strings.Fields(args), "--no-follow")...)
		wantCode(t, err, 1)
		if !strings.Contains(out, want) || strings.Contains(out, "none.log") {
			t.Errorf("%s: %s", args, out)
		}
	}
	// A damaged file is a failure that says so; what could be read of it is there.
	files["logs/a.log.2.gz"] = files["logs/a.log.2.gz"][:30]
	out, err := logsApp(t, files, "app", "--json", "--no-follow")
	wantCode(t, err, 1)
	if !strings.Contains(out, `"type":"error"`) || !strings.Contains(out, "the compressed file is damaged") || !strings.Contains(out, "line 9") {
		t.Errorf("got %s", out)
	}
	// A clone shows nothing from outside of its folder.
	files["tailrace.yaml"] = "version: 1\nsources:\n  out: {files: ['../*']}\n"
	out, err = logsApp(t, files, "--json", "--no-follow")
	wantCode(t, err, 1)
	if !strings.Contains(out, "lies outside") {
		t.Errorf("got %s", out)
	}
}

// Files that come to match a pattern are followed from their beginning; those that were
// rotated away are not read twice.
func TestLogs_FollowsPatterns(t *testing.T) {
	root := t.TempDir()
	path := func(name string) string { return filepath.Join(root, name) }
	appendFile(t, path("a.log"), "a 0\n")
	appendFile(t, path("old.log.gz"), gzipped(t, "packed 1\npacked 2\n"))
	cmd, out := startIn(t, root, "version: 1\nsources:\n  app: {files: ['*.log*']}\n", "logs", "--tail", "1")
	want := func(lines ...string) {
		t.Helper()
		left := slices.Clone(lines)
		for range lines {
			got := readLine(t, out)
			i := slices.Index(left, got)
			if i < 0 {
				t.Fatalf("got %q, want one of %q", got, left)
			}
			left = slices.Delete(left, i, i+1)
		}
	}
	want("a.log | a 0", "old.log.gz | packed 2")
	appendFile(t, path("b.log"), "b 0\nb 1\n")
	want("b.log | b 0", "b.log | b 1")
	for i := range 3 {
		if err := os.Rename(path("a.log"), path("a.log.1")); err != nil {
			t.Fatal(err)
		}
		appendFile(t, path("a.log"), fmt.Sprintf("a %d\n", i+1))
		want(fmt.Sprintf("a.log | a %d", i+1))
	}
	// A later look at the patterns has found a.log.1, which is why the next file comes.
	appendFile(t, path("c.log"), "c 0\n")
	want("c.log | c 0")
	appendFile(t, path("b.log"), "b 2\n")
	want("b.log | b 2")
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err == nil || !strings.Contains(err.Error(), "143") {
		t.Errorf("got %v, want exit code 143", err)
	}
}
