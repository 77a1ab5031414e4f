package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// dial starts the test binary as a server with a stub as its backend.
func dial(t *testing.T, backend string) *Client {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "tailrace.yaml"), []byte("version: 1\nsources: {}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Dir, cmd.Env, cmd.Stderr = dir, []string{stubVariable + "=serve:" + backend}, os.Stderr
	c, err := Dial(t.Context(), cmd)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Errorf("S2: the server did not exit with 0: %v", err)
		}
	})
	return c
}

func TestClient_Call(t *testing.T) {
	c := dial(t, "logs:3")
	r, err := c.Call(t.Context(), SnapshotTool, nil)
	if err != nil {
		t.Fatal(err)
	}
	var frame struct {
		Result json.RawMessage
	}
	if err := json.Unmarshal(r.Frame, &frame); err != nil || len(frame.Result) != r.ResultBytes || r.Frame[len(r.Frame)-1] != '\n' {
		t.Errorf("B2: frame of %d bytes, result of %d", len(r.Frame), r.ResultBytes)
	}
	s := r.Structured
	if !s.OK || r.IsError || s.Data.Count != 5 || len(s.Data.Events) != 5 || s.Data.Cutoff != nil || s.Error != nil || s.Spawned != nil || r.TextBytes == 0 {
		t.Errorf("got %+v", r)
	}
	r, err = c.Call(t.Context(), TailTool, map[string]any{"maxEvents": 2})
	if err != nil {
		t.Fatal(err)
	}
	if s := r.Structured; s.Data.Cutoff == nil || s.Data.Cutoff.Bound != "events" || s.Data.Cutoff.Limit != 2 || s.Data.StopReason != "max_events" {
		t.Errorf("got %+v", s)
	}
}

func TestClient_Inspect(t *testing.T) {
	c := dial(t, "polite")
	info, err := c.Inspect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(info.Tools)
	if !slices.Equal(info.Tools, ToolNames()) || !slices.Equal(info.Prompts, []string{"hack-init"}) || info.Version == "" || !slices.Contains(protocolVersions, info.Protocol) {
		t.Errorf("got %+v", info)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if _, err := c.Inspect(t.Context()); !errors.Is(err, ErrServerGone) {
		t.Errorf("after the end: %v", err)
	}
}

func TestClient_Errors(t *testing.T) {
	c := dial(t, "polite")
	if _, err := c.Call(t.Context(), "no.such.tool", nil); !errors.Is(err, ErrRejected) {
		t.Errorf("an unknown tool: %v", err)
	}
	r, err := c.Call(t.Context(), SnapshotTool, map[string]any{"tail": 0})
	if err != nil {
		t.Fatal(err)
	}
	if e := r.Structured.Error; !r.IsError || e == nil || e.Reason != "invalid_arguments" || r.Structured.Spawned == nil {
		t.Errorf("got %+v", r.Structured)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Call(ctx, TailTool, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled call: %v", err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if _, err := c.Call(t.Context(), TailTool, nil); !errors.Is(err, ErrServerGone) {
		t.Errorf("a call after the end: %v", err)
	}
}

func TestClient_DialFails(t *testing.T) {
	if _, err := Dial(t.Context(), exec.Command("/nonexistent/server")); err == nil {
		t.Error("no error for a command that is not there")
	}
	if _, err := Dial(t.Context(), exec.Command("/bin/true")); !errors.Is(err, ErrServerGone) {
		t.Errorf("a server that ends at once: %v", err)
	}
}

// A server that says nothing ends with the patience of its client, also where what it
// started still holds its stdout.
func TestClient_DialEnds(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	cmd := exec.Command("/bin/sh", "-c", "exec 3<&0; (cat <&3 >/dev/null; :) & exec sleep 600")
	cmd.Stderr = io.Discard
	cmd.WaitDelay = 50 * time.Millisecond
	if _, err := Dial(ctx, cmd); !errors.Is(err, ErrServerGone) {
		t.Errorf("got %v", err)
	}
	if cmd.ProcessState == nil {
		t.Error("the process was not waited for")
	}
}
