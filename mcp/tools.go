package mcp

import (
	"time"

	"github.com/tailrace/tailrace/pipeline"
)

// The names of the log tools.
const (
	SnapshotTool = "hack.project.logs.snapshot"
	TailTool     = "hack.project.logs.tail"
)

// The fallbacks of a tail. They are no defaults of the schema, since the command has its
// own for what it is not told.
const (
	defaultMaxEvents = 200
	defaultMaxMs     = 5_000
)

// A tool is one row of the table: everything that is to be known of a tool. Schema,
// validation and command line are made from it.
type tool struct {
	name, title, about string
	fields             []*field
	// argv is the command line behind the executable, in order.
	argv []part
	// timeout bounds the run where no field does.
	timeout time.Duration
	// readOnly says that a call changes nothing, destructive that it may end or undo
	// what was there.
	readOnly, destructive bool
	data                  dataKind
	// keepGroup leaves the descendants of the command alone after a normal end, for
	// they may be daemons.
	keepGroup bool
	// anchor says that the project need not be registered: the tool makes it one.
	anchor bool
	// byPath says that the command knows no projects by name: it is given the folder of
	// the project instead.
	byPath bool
}

// field returns the field of a name, or nil.
func (t *tool) field(name string) *field {
	for _, f := range t.fields {
		if f.name == name {
			return f
		}
	}
	return nil
}

// selectors choose the project of a call.
func selectors() []*field {
	return []*field{
		{name: "projectName", kind: kindText, max: 4 * maxName, about: "Name of a registered project, in any spelling. Give at most one of projectName, repoRoot and path; none means the project of the server's working directory."},
		{name: "repoRoot", kind: kindText, max: maxPath, about: "Root folder of a registered project."},
		{name: "path", kind: kindText, max: maxPath, about: "A path in a registered project. Relative ones start at the server's working directory."},
	}
}

// logFields are the inputs that both log tools have.
func logFields() []*field {
	return append(selectors(),
		&field{name: "branch", kind: kindBranch, flag: "--branch", about: "Branch whose instance is meant. Default: the base instance."},
		&field{name: "profiles", kind: kindNames, flag: "--profile", about: "Compose profiles to include."},
		&field{name: "service", kind: kindName, about: "The one service to read. Default: all services."},
		&field{name: "services", kind: kindNames, flag: "--services", about: "Several services to read. The hack backend reads them from Loki."},
		&field{name: "query", kind: kindText, max: maxQuery, flag: "--query", about: "Raw LogQL query in place of the one made from project and services, for backends with Loki."},
		&field{name: "loki", kind: kindBoolean, flag: "--loki", about: "Force the Loki backend. Not with compose."},
		&field{name: "compose", kind: kindBoolean, flag: "--compose", about: "Force the docker compose backend. Not with loki, services, query, since or until."},
		&field{name: "tail", kind: kindInteger, max: maxCount, flag: "--tail", about: "How many of the last log lines to start with. Default: the backend's own, usually 200."},
		&field{name: "since", kind: kindInstant, flag: "--since", about: "Start time. To go on after an earlier call, give the ts of its last event; a few events can repeat. The hack backend reads from Loki then."},
		&field{name: "until", kind: kindInstant, flag: "--until", about: "End time, for snapshots: backends refuse it while following. The hack backend reads from Loki then."},
	)
}

// logArgv is the command line of both log tools.
func logArgv(follow bool) []part {
	argv := []part{word("logs"), selection(), option("branch"), option("profiles"), word("--json")}
	if !follow {
		argv = append(argv, word("--no-follow"))
	}
	return append(argv, option("loki"), option("compose"), option("tail"), option("query"), option("services"),
		option("since"), option("until"), operand("service"))
}

// logTools are the tools that read logs.
func logTools() []*tool {
	return []*tool{
		{
			name:  SnapshotTool,
			title: "Log snapshot",
			about: "Read the last logs of a project that exist now, as many as tail says, and end. The call runs the backend once and returns its events in data.events, in order. " +
				"It is stopped after 120000 ms, and at 8388608 bytes of output; data.cutoff then says at which bound, and what was collected is valid. " +
				"Nothing is kept between calls.",
			fields:   logFields(),
			argv:     logArgv(false),
			timeout:  pipeline.SnapshotTime,
			readOnly: true,
			data:     logData,
		},
		{
			name:  TailTool,
			title: "Log tail",
			about: "Follow the logs of a project for a while, and end. The call runs the backend once, collects events until maxEvents log events, maxMs or 8388608 bytes of output are reached, " +
				"and returns them in data.events, in order. data.cutoff says at which bound it was stopped; that is a success. " +
				"Nothing is kept between calls: to go on, call again with since.",
			fields: append(logFields(),
				&field{name: "maxEvents", kind: kindInteger, max: maxCount, fallback: defaultMaxEvents, about: "How many events of type log end the call. Other events do not count."},
				&field{name: "maxMs", kind: kindInteger, max: maxWindow, fallback: defaultMaxMs, about: "How many milliseconds after the start of the backend the call ends."},
			),
			argv:     logArgv(true),
			readOnly: true,
			data:     tailData,
		},
	}
}
