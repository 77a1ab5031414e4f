package mcp

import (
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

const (
	// auditName is the audit log's file in the home folder of hack, and auditOld what it
	// is renamed to when it is full.
	auditName = "mcp-audit.log"
	auditOld  = auditName + ".1"
	// auditLimit is the size from which the next line goes to a new file, in bytes.
	auditLimit = 10 << 20
	// growingLooks and growingWait are how often and how long the part of a line is
	// looked at that another process may still be writing.
	growingLooks = 20
	growingWait  = time.Millisecond
)

// The errors of the audit log, beside those of the system.
var (
	errAuditForm = errors.New("not a regular file")
	errAuditFull = errors.New("a line was not written whole")
)

// An auditLog appends a line for each finished command to the file of its session's home
// folder. What goes wrong there changes no result: it is said once for each file. It
// opens the file for each line, so it holds nothing, and several processes and a rotation
// by any of them get along. It is safe for concurrent use.
type auditLog struct {
	log   *slog.Logger
	limit int64
	open  func(path string) (auditFile, error)

	mu   sync.Mutex
	said map[string]bool // the files that could not be written
}

// An auditFile is what is done with the open file.
type auditFile interface {
	Write(p []byte) (int, error)
	ReadAt(p []byte, at int64) (int, error)
	Stat() (fs.FileInfo, error)
	Close() error
}

func newAuditLog(log *slog.Logger) *auditLog {
	return &auditLog{log: log, limit: auditLimit, open: openAudit, said: map[string]bool{}}
}

// An auditLine is a line of the file. It has no member that a caller or a command could
// fill: names and reasons are ours, the project is a hash.
type auditLine struct {
	TS          string      `json:"ts"`
	Session     string      `json:"session"`
	Tool        string      `json:"tool"`
	Project     string      `json:"project,omitempty"`
	Spawned     bool        `json:"spawned"`
	Outcome     CallOutcome `json:"outcome"`
	Reason      string      `json:"reason,omitempty"`
	Bound       string      `json:"bound,omitempty"`
	ExitCode    int         `json:"exit_code"`
	DurationMs  int64       `json:"duration_ms"`
	StdoutBytes int64       `json:"stdout_bytes"`
	StderrBytes int64       `json:"stderr_bytes"`
	Events      int         `json:"events"`
	Killed      bool        `json:"killed,omitempty"`
}

// auditText returns the line of a record, with its LF.
func auditText(r CallRecord) []byte {
	line := auditLine{
		TS:      r.Began.Add(r.Duration).UTC().Format("2006-01-02T15:04:05.000Z"),
		Session: r.Session, Tool: r.Tool, Project: r.Project, Spawned: r.Spawned, Outcome: r.Outcome, Reason: r.Reason,
		ExitCode: r.ExitCode, DurationMs: r.Duration.Milliseconds(),
		StdoutBytes: r.StdoutBytes, StderrBytes: r.StderrBytes, Events: r.Events, Killed: r.Killed,
	}
	if r.Bound != 0 {
		line.Bound = r.Bound.String()
	}
	text, _ := json.Marshal(line) // The error is for types that are not in it.
	return append(text, '\n')
}

// append writes the line of a finished command.
func (a *auditLog) append(home string, r CallRecord) {
	path := filepath.Join(home, auditName)
	if err := a.write(path, auditText(r)); err != nil {
		a.complain(path, err)
	}
}

// write appends a line in one Write, which the system does not mix with those of others.
func (a *auditLog) write(path string, line []byte) error {
	f, err := a.open(path)
	if errors.Is(err, fs.ErrNotExist) {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		f, err = a.open(path)
	}
	if err != nil {
		return err
	}
	defer func() { f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if info.Size() >= a.limit && a.rotate(path, f) {
		f.Close()
		if f, err = a.open(path); err != nil {
			return err
		}
	}
	// A disk that was full can have left a part of a line. It stays one bad line.
	if unfinished(f) {
		line = append([]byte{'\n'}, line...)
	}
	n, err := f.Write(line)
	if err == nil && n < len(line) {
		err = errAuditFull
	}
	return err
}

// unfinished says whether the file ends in a part of a line that nobody is writing. A line
// on the border of two pages can be seen growing, so a part is looked at for some time.
func unfinished(f auditFile) bool {
	for range growingLooks {
		info, err := f.Stat()
		if err != nil || info.Size() == 0 {
			return false
		}
		var last [1]byte
		if n, _ := f.ReadAt(last[:], info.Size()-1); n == 0 || last[0] == '\n' {
			return false
		}
		time.Sleep(growingWait)
	}
	return true
}

// complain says once for each file that it cannot be written, by the kind of the failure.
// The path is a path, and what the system says can hold it.
func (a *auditLog) complain(path string, err error) {
	a.mu.Lock()
	told := a.said[path]
	a.said[path] = true
	a.mu.Unlock()
	if told {
		return
	}
	reason := "other"
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT), errors.Is(err, syscall.EFBIG), errors.Is(err, errAuditFull):
		reason = "no_space"
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		reason = "no_permission"
	case errors.Is(err, errAuditForm):
		reason = "not_a_regular_file"
	}
	a.log.Warn("the audit log cannot be written; calls go on without it: mend "+auditName+" in the home folder of hack, or start with --no-audit", "reason", reason)
}
