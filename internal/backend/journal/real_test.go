//go:build linux && tools

package journal

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/tailrace/tailrace/internal/project"
)

// export is entries in the export format of the journal.
type export struct{ bytes.Buffer }

func (e *export) add(second int, unit, priority string, message []byte) {
	fmt.Fprintf(e, "__REALTIME_TIMESTAMP=%d\n__MONOTONIC_TIMESTAMP=%d\n_BOOT_ID=0123456789abcdef0123456789abcdef\n", 1772355600_000000+second*1e6+250_000, second+1)
	fmt.Fprintf(e, "PRIORITY=%s\n_SYSTEMD_UNIT=%s\n_PID=%d\n", priority, unit, 100+second)
	e.WriteString("MESSAGE\n")
	_ = binary.Write(e, binary.LittleEndian, uint64(len(message)))
	e.Write(message)
	e.WriteString("\n\n")
}

// journalFile makes a journal file by systemd-journal-remote.
func journalFile(t *testing.T, path string, e *export) {
	t.Helper()
	cmd := exec.Command("/lib/systemd/systemd-journal-remote", "-o", path, "-")
	cmd.Stdin = e
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: apt-get install -y systemd-journal-remote\n%s", err, out)
	}
}

// TestRealJournal reads a real journal file with the real journalctl.
func TestRealJournal(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x.journal")
	big := bytes.Repeat([]byte("日"), 100_000)
	var e export
	e.add(0, "web.service", "6", []byte("up"))
	e.add(1, "db.service", "3", []byte("gone\nsecond line"))
	e.add(2, "web.service", "4", []byte("a\xff\x00b"))
	e.add(3, "web.service", "7", big)
	journalFile(t, path, &e)
	at := time.Date(2026, 3, 1, 9, 0, 0, 250_000_000, time.UTC)
	texts := []string{"up", "gone\nsecond line", "a\xff\x00b", string(big)}
	for name, tt := range map[string]struct {
		o    Options
		want []string
	}{
		"all":          {Options{Lines: -1}, texts},
		"the last":     {Options{Lines: 2}, texts[2:]},
		"none":         {Options{Lines: 0}, nil},
		"a unit":       {Options{Lines: -1, Journal: project.Journal{Units: []string{"db.service"}}}, texts[1:2]},
		"a priority":   {Options{Lines: -1, Journal: project.Journal{Priority: "warning"}}, texts[1:3]},
		"times":        {Options{Lines: -1, Since: at.Add(time.Second), Until: at.Add(2 * time.Second)}, texts[1:3]},
		"last of them": {Options{Lines: 1, Since: at.Add(time.Second), Until: at.Add(2 * time.Second)}, texts[2:3]},
		"since":        {Options{Lines: 10, Since: at.Add(2 * time.Second)}, texts[2:]},
		"last since":   {Options{Lines: 1, Since: at.Add(2 * time.Second)}, texts[3:]},
		"last of all":  {Options{Lines: 2, Until: at.Add(2 * time.Second)}, texts[1:3]},
		"until":        {Options{Lines: -1, Until: at.Add(time.Second)}, texts[:2]},
		"a directory":  {Options{Lines: -1, Journal: project.Journal{Directory: dir}}, texts},
	} {
		o := tt.o
		if o.Directory == "" {
			o.File = path
		}
		o.Env = os.Environ()
		got, err := all(t, t.Context(), o, nil)
		if err != nil || !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %.80q, %v", name, got, err)
		}
	}
	s, err := Open(Options{Journal: project.Journal{File: path}, Env: os.Environ(), Lines: -1})
	if err != nil {
		t.Fatal(err)
	}
	i := 0
	for items := range s.Batches(t.Context()) {
		for _, item := range items {
			r := item.Record
			unit := []string{"web.service", "db.service", "web.service", "web.service"}[i]
			level := []string{"info", "error", "warn", "debug"}[i]
			if r.Service != unit || r.Level != level || !r.Time.Equal(at.Add(time.Duration(i)*time.Second)) || r.Labels["pid"] != fmt.Sprint(100+i) {
				t.Errorf("entry %d: %+v", i, r)
			}
			i++
		}
	}
	// What is no journal is told apart.
	if err := os.WriteFile(filepath.Join(dir, "bad.journal"), []byte("junk"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := all(t, t.Context(), Options{Journal: project.Journal{File: filepath.Join(dir, "bad.journal")}, Env: os.Environ()}, nil); err == nil {
		t.Error("junk was read as a journal")
	}
}

// TestRealJournal_Follow: a follow sees what comes, in further files too.
func TestRealJournal_Follow(t *testing.T) {
	dir := t.TempDir()
	var e export
	e.add(0, "web.service", "6", []byte("first"))
	journalFile(t, filepath.Join(dir, "a.journal"), &e)
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	defer cancel()
	texts, err := all(t, ctx, Options{Journal: project.Journal{Directory: dir}, Env: os.Environ(), Lines: -1, Follow: true}, func(text string) bool {
		if text == "first" {
			var e export
			e.add(1, "web.service", "6", []byte("second"))
			journalFile(t, filepath.Join(dir, "b.journal"), &e)
		}
		return text == "second"
	})
	if err != nil || !slices.Equal(texts, []string{"first", "second"}) {
		t.Errorf("got %q, %v", texts, err)
	}
}
