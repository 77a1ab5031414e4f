package project

// The kinds of sources, as events name them.
const (
	KindFile    = "file"
	KindCommand = "command"
)

// A Source is one source of logs, of one kind: that of the member that is set.
type Source struct {
	// Name is the name of the source, which is the name of the service in its events.
	Name string
	// File is the absolute path of a log file.
	File string
	// Files are absolute paths of log files and patterns of them, as [filepath.Match] has
	// them, that make up one log.
	Files []string
	// Instance tells one of several files of a source from the others.
	Instance string
	// Command is an argument vector; its first element names the executable.
	Command []string
	// Dir is the absolute working directory of the command.
	Dir string
	// Env holds what the command's environment has beyond that of the caller, as
	// "KEY=value" strings.
	Env []string
}

// Kind returns what the source is, as its events name it.
func (s Source) Kind() string {
	if s.Command != nil {
		return KindCommand
	}
	return KindFile
}
