// Package procgroup starts a process as the leader of a group of its own and ends the
// whole group: a process group on Unix, a job object on Windows.
package procgroup

import "os"

// Spec says what to start. Nothing passes through a shell.
type Spec struct {
	// Path is the executable's path; Args are the arguments with argv[0].
	Path string
	Args []string
	// Dir is the working directory, "" for this process's own. Env is the whole environment.
	Dir string
	Env []string
	// Files are stdin, stdout and stderr.
	Files [3]*os.File
}
