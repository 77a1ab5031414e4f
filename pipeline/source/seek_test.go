//go:build unix

package source_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/tailrace/tailrace/pipeline/source"
)

const lineWidth = 64

// lines is a log file that is made as it is read, of lines of one width. It counts what is
// read of it.
type lines struct {
	n    int64
	line func(i int64) string
	read int64
}

func (l *lines) size() int64 { return l.n * lineWidth }

func (l *lines) ReadAt(p []byte, offset int64) (int, error) {
	n := 0
	for n < len(p) {
		i, at := (offset+int64(n))/lineWidth, (offset+int64(n))%lineWidth
		if i >= l.n {
			l.read += int64(n)
			return n, io.EOF
		}
		n += copy(p[n:], fmt.Sprintf("%-*s\n", lineWidth-1, l.line(i))[at:])
	}
	l.read += int64(n)
	return n, nil
}

var begin = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)

func stamped(i int64) string {
	return begin.Add(time.Duration(i)*time.Second).Format(time.RFC3339) + " line"
}

func firstWord(line []byte) (time.Time, bool) {
	word, _, _ := strings.Cut(string(line), " ")
	t, err := time.Parse(time.RFC3339, word)
	return t, err == nil
}

// TestMemory_LastLinesOfALargeFile: the last lines of 4 GiB are found in one block.
func TestMemory_LastLinesOfALargeFile(t *testing.T) {
	l := &lines{n: 4 << 30 / lineWidth, line: stamped}
	at, err := source.LastLinesAt(l, l.size(), 200)
	if err != nil || at != l.size()-200*lineWidth {
		t.Errorf("at %d of %d, %v", at, l.size(), err)
	}
	if l.read > 64<<10 {
		t.Errorf("%d bytes were read", l.read)
	}
	// Each block is read once, however many are needed.
	l.read = 0
	if at, err := source.LastLinesAt(l, l.size(), 100_000); err != nil || at != l.size()-100_000*lineWidth {
		t.Errorf("at %d of %d, %v", at, l.size(), err)
	}
	if want := int64(100_000*lineWidth + 64<<10); l.read > want {
		t.Errorf("%d bytes were read, want at most %d", l.read, want)
	}
}

// TestMemory_LargeFile: a file of 4 GiB on disk, whose begin is a hole, gives its last lines
// in far less memory than 32 MiB.
func TestMemory_LargeFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	var want strings.Builder
	for i := range 200 {
		fmt.Fprintf(&want, "line %d %s\n", i, strings.Repeat("x", i))
	}
	text := "\nbefore\n" + want.String()
	if _, err := f.WriteAt([]byte(text), 4<<30-int64(len(text))); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got := drain(t.Context(), openFile(t, path, source.FileOptions{LastLines: 200}), nil).stdout.String()
	runtime.ReadMemStats(&after)
	if got != want.String() {
		t.Errorf("got %d bytes, want %d", len(got), want.Len())
	}
	if n := after.TotalAlloc - before.TotalAlloc; n > 4<<20 {
		t.Errorf("%d bytes were allocated", n)
	}
}

// TestFileTimes_Seek: a range of times in 4 GiB is found by a few looks, and all of it lies
// in what is read.
func TestFileTimes_Seek(t *testing.T) {
	l := &lines{n: 4 << 30 / lineWidth, line: func(i int64) string {
		if i%3 == 1 {
			return "\tgoes on"
		}
		return stamped(i)
	}}
	at := func(i int64) time.Time { return begin.Add(time.Duration(i) * time.Second) }
	for _, tt := range []struct{ since, until int64 }{{0, 100}, {30_000_000, 30_100_000}, {l.n - 100, l.n + 100}, {-100, l.n / 2}, {l.n + 5, l.n + 10}} {
		l.read = 0
		from, to := source.FindTimes(l, l.size(), at(tt.since), at(tt.until), firstWord)
		first, last := max(tt.since, 0)*lineWidth, min(tt.until+1, l.n)*lineWidth
		if from > first || to < last {
			t.Errorf("%v: read from %d to %d, want at least %d to %d", tt, from, to, first, last)
		}
		if first < l.size() && first-from > source.Slack+1<<18 || to-last > source.Slack+1<<18 {
			t.Errorf("%v: read from %d to %d, which is far from %d to %d", tt, from, to, first, last)
		}
		if from%lineWidth != 0 || to%lineWidth != 0 || (from/lineWidth)%3 == 1 {
			t.Errorf("%v: %d and %d are not the begin of a line with a time", tt, from, to)
		}
		if l.read > 8<<20 {
			t.Errorf("%v: %d bytes were looked at", tt, l.read)
		}
	}
}

// TestFileTimes_NotInOrder: where the times are out of order, or missing, the whole file is
// read.
func TestFileTimes_NotInOrder(t *testing.T) {
	const n = 1 << 30 / lineWidth
	for name, line := range map[string]func(int64) string{
		"two files in one": func(i int64) string { return stamped(i % (n / 2)) },
		"newest first":     func(i int64) string { return stamped(n - i) },
		"no times":         func(i int64) string { return "line" },
		"a long part without times": func(i int64) string {
			if i > n/4 && i < n/2 {
				return "line"
			}
			return stamped(i)
		},
	} {
		l := &lines{n: n, line: line}
		from, to := source.FindTimes(l, l.size(), begin.Add(n/2*time.Second), begin.Add((n/2+10)*time.Second), firstWord)
		if from != 0 || to != l.size() {
			t.Errorf("%s: read from %d to %d", name, from, to)
		}
		if l.read > 64<<20 {
			t.Errorf("%s: %d bytes were looked at", name, l.read)
		}
	}
	small := &lines{n: 1000, line: stamped}
	if from, to := source.FindTimes(small, small.size(), begin.Add(time.Minute), time.Time{}, firstWord); from != 0 || to != small.size() || small.read != 0 {
		t.Errorf("a small file: %d to %d, %d bytes looked at", from, to, small.read)
	}
	// One line that is longer than a block, and one that is longer than what is looked at.
	for _, size := range []int{200 << 10, 3 << 20} {
		text := []byte(strings.Repeat(stamped(1)+"\n", 100_000) + strings.Repeat("x", size) + "\n" + strings.Repeat(stamped(2)+"\n", 100_000))
		from, to := source.FindTimes(bytes.NewReader(text), int64(len(text)), begin.Add(2*time.Second), time.Time{}, firstWord)
		if first := int64(bytes.Index(text, []byte(stamped(2)))); from > first || to != int64(len(text)) {
			t.Errorf("a line of %d bytes: %d to %d, want at most %d", size, from, to, first)
		}
	}
}

// TestFileTimes: what is read of a file on disk begins and ends where it was found.
func TestFileTimes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	var text bytes.Buffer
	for i := range int64(200_000) {
		fmt.Fprintf(&text, "%-*s\n", lineWidth-1, stamped(i))
	}
	put(t, path, text.String())
	o := source.FileOptions{Since: begin.Add(100_000 * time.Second), Until: begin.Add(100_100 * time.Second), Time: firstWord}
	got := drain(t.Context(), openFile(t, path, o), nil).stdout.String()
	if i := strings.Index(text.String(), got); i < 0 || len(got) > 2*source.Slack+1<<20 || !strings.HasSuffix(got, "\n") {
		t.Errorf("%d bytes at %d", len(got), i)
	}
	for _, i := range []int64{100_000, 100_100} {
		if !strings.Contains(got, stamped(i)) {
			t.Errorf("line %d is missing", i)
		}
	}
}
