package source

import (
	"io"
	"os"
	"testing"
	"time"

	"github.com/tailrace/tailrace/internal/procgroup"
)

// ProcessGroup is what a child needs of its group.
type ProcessGroup = processGroup

// SetStartGroup puts wrap around the start of every group until the test ends.
func SetStartGroup(t *testing.T, wrap func(ProcessGroup, error) (ProcessGroup, error)) {
	before := startGroup
	startGroup = func(s procgroup.Spec) (processGroup, error) { return wrap(before(s)) }
	t.Cleanup(func() { startGroup = before })
}

// SetStartError makes every start fail with err, with nothing started, until the test ends.
func SetStartError(t *testing.T, err error) {
	before := startGroup
	startGroup = func(procgroup.Spec) (processGroup, error) { return nil, err }
	t.Cleanup(func() { startGroup = before })
}

// SetOpenPipe replaces the call that opens the pipes of a child until the test ends.
func SetOpenPipe(t *testing.T, open func() (r, w *os.File, err error)) {
	before := openPipe
	openPipe = open
	t.Cleanup(func() { openPipe = before })
}

// SetReadPipe replaces the call that reads the pipes of a child until the test ends.
func SetReadPipe(t *testing.T, read func(*os.File, []byte) (int, error)) {
	before := readPipe
	readPipe = read
	t.Cleanup(func() { readPipe = before })
}

// SetKillPatience shortens the wait for killed processes until the test ends.
func SetKillPatience(t *testing.T, d time.Duration) {
	before := killPatience
	killPatience = d
	t.Cleanup(func() { killPatience = before })
}

// LastLinesAt is where the n-th line from the end begins.
func LastLinesAt(f io.ReaderAt, size int64, n int) (int64, error) { return lastLines(f, size, n) }

// Slack is how far around the found places a file is read.
const Slack = slack

// FindTimes is where the lines of a time begin and end, about.
func FindTimes(f io.ReaderAt, size int64, since, until time.Time, at func([]byte) (time.Time, bool)) (from, to int64) {
	return timeRange{since, until, at}.find(f, size)
}
