//go:build unix

package source_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tailrace/tailrace/pipeline/source"
)

// TestFollowCopyTruncate: a file is cut down 1,000 times while it is written. What had not
// been read by then is lost, which is counted here, and nothing else: of the times that the
// writer let the reader catch up before, nothing is. No line comes twice or out of order.
func TestFollowCopyTruncate(t *testing.T) {
	const rotations, perFile = 1000, 12
	path := filepath.Join(t.TempDir(), "log")
	put(t, path, "")
	f := openFile(t, path, source.FileOptions{Follow: true, Poll: 200 * time.Microsecond})
	w := &rotator{path: path}
	w.file = w.open(t)
	defer w.file.Close()
	var last atomic.Int64 // the number of the newest line that was read
	last.Store(-1)
	var tail []byte
	mayLose := map[int]bool{}
	got := followed(t, f, func(seen func(string)) {
		for i := range rotations {
			w.write(t, perFile)
			if i%2 == 0 {
				for deadline := time.Now().Add(20 * time.Second); last.Load() < int64(w.lines-1); time.Sleep(100 * time.Microsecond) {
					if time.Now().After(deadline) {
						t.Fatalf("%d lines written, %d read", w.lines, last.Load()+1)
					}
				}
			}
			for n := int(last.Load()) + 1; n < w.lines; n++ {
				mayLose[n] = true
			}
			if err := os.Truncate(path, 0); err != nil {
				t.Fatal(err)
			}
		}
		w.write(t, 1)
		seen(fmt.Sprintf("\n%d\n", w.lines-1))
	}, func(data []byte) {
		tail = append(tail, data...)
		if end := bytes.LastIndexByte(tail, '\n'); end >= 0 {
			whole := strings.TrimSpace(string(tail[:end]))
			if n, err := strconv.ParseInt(whole[strings.LastIndexByte(whole, '\n')+1:], 10, 64); err == nil {
				last.Store(n)
			}
			tail = tail[end+1:]
		}
	})
	next, lost := 0, 0
	for _, line := range strings.Split(strings.TrimSuffix(got, "\n"), "\n") {
		n, err := strconv.Atoi(line)
		if err != nil || n < next {
			t.Fatalf("line %q after %d", line, next-1)
		}
		for ; next < n; next++ {
			if lost++; !mayLose[next] {
				t.Fatalf("line %d is lost, though it had been read before the file was cut down", next)
			}
		}
		next++
	}
	if next != w.lines || lost > len(mayLose) {
		t.Errorf("%d lines of %d; %d lost", next, w.lines, lost)
	}
	t.Logf("%d rotations, %d lines, %d could be lost and %d were", rotations, w.lines, len(mayLose), lost)
}
