//go:build unix

package main

import (
	"io"
	"path/filepath"
	"syscall"
	"testing"
)

// A doctor that is interrupted while a log is read leaves neither the server nor what the
// server started.
func TestS2_InterruptedDoctorLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	ready := filepath.Join(dir, "ready")
	cmd, out := startIn(t, dir, "version: 1\nsources:\n  s:\n    command: [sh, -c, 'echo $$ > "+ready+"; exec sleep 60']\n", "mcp", "doctor")
	pid := waitFor(t, ready)
	kill(t, cmd, syscall.SIGINT)
	if rest, err := io.ReadAll(out); err != nil || len(rest) != 0 {
		t.Errorf("got %q, %v: a report that is not whole is none", rest, err)
	}
	wantExit(t, cmd, 130)
	wantGone(t, pid)
}
