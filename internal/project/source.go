package project

// The kinds of sources, as events name them.
const (
	KindFile       = "file"
	KindCommand    = "command"
	KindJournal    = "journal"
	KindKubernetes = "kubernetes"
	KindLoki       = "loki"
	KindCompose    = "compose"
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
	// FromStart reads a followed file from its beginning, however many of its last lines
	// are asked for: it was made while its source was followed.
	FromStart bool
	// Command is an argument vector; its first element names the executable.
	Command []string
	// Dir is the absolute working directory of the command.
	Dir string
	// Env holds what the command's environment has beyond that of the caller, as
	// "KEY=value" strings.
	Env []string
	// Journal, Kubernetes, Loki and Compose say what is read of a journal of systemd, of pods,
	// of a Loki server, and of the containers of a compose project; nil where the source is of
	// another kind.
	Journal    *Journal
	Kubernetes *Kubernetes
	Loki       *Loki
	Compose    *Compose
}

// A Journal says what is read of the journal. The zero value is all of the system's.
type Journal struct {
	// Units are the units whose entries are read, as journalctl takes them; all, if empty.
	Units []string
	// Identifier is the syslog identifier of the entries.
	Identifier string
	// Priority is the least important priority that is read, by name: emerg to debug.
	Priority string
	// File is the absolute path of a journal file, or Directory that of a folder of them, in
	// place of the system's journal.
	File, Directory string
	// User reads the journal of the user's own services, where units are those of the user.
	User bool
}

// A Kubernetes says whose logs are read. Selector or Pod is set.
type Kubernetes struct {
	// Selector is a label selector of pods; Pod is the name of one.
	Selector, Pod string
	// Namespace and Context are those of kubectl's configuration where they are empty.
	Namespace, Context string
	// Container is the one container of each pod that is read; all, if empty.
	Container string
	// Previous reads the instance of each container before its last restart.
	Previous bool
}

// A Loki says what is read of a Loki server. What is secret is in environment variables:
// the members here are their names.
type Loki struct {
	// URL is where the server is; "" means that of HACK_LOKI_URL, or the local one.
	URL string
	// Query is a log query in LogQL; "" means all of the project.
	Query string
	// Tenant is the value of the X-Scope-OrgID header, "" for none.
	Tenant string
	// Username, with the variable that has its password, is for basic authentication.
	Username, PasswordEnv string
	// TokenEnv is the variable that has a bearer token.
	TokenEnv string
	// CA is the absolute path of a file of certificates that the server's may be signed by.
	CA string
}

// A Compose says whose containers are read. The zero value is those of the compose file of
// the project.
type Compose struct {
	// Project is the name of the compose project; "" means that of the compose file, with
	// the branch.
	Project string
	// Services are those that are read; none means all.
	Services []string
}

// Kind returns what the source is, as its events name it.
func (s Source) Kind() string {
	switch {
	case s.Command != nil:
		return KindCommand
	case s.Journal != nil:
		return KindJournal
	case s.Kubernetes != nil:
		return KindKubernetes
	case s.Loki != nil:
		return KindLoki
	case s.Compose != nil:
		return KindCompose
	}
	return KindFile
}
