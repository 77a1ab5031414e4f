package mcp

import "time"

const (
	defaultTimeout = 120 * time.Second
	initTimeout    = 180 * time.Second
)

// tools returns the table of all tools.
func tools() []*tool { return append(logTools(), projectTools()...) }

// Fields that several tools have.
func branchField() *field {
	return &field{name: "branch", kind: kindBranch, flag: "--branch", about: "Branch whose instance is meant. Default: the base instance."}
}

func profilesField() *field {
	return &field{name: "profiles", kind: kindNames, flag: "--profile", about: "Compose profiles to include."}
}

func timeoutField() *field {
	return &field{name: "timeoutMs", kind: kindInteger, max: maxRun, fallback: int(defaultTimeout.Milliseconds()), about: "How many milliseconds the command may run."}
}

func commandFields(required bool) []*field {
	return append(selectors(), branchField(), profilesField(),
		&field{name: "service", kind: kindName, required: true, about: "The service."},
		&field{name: "cmd", kind: kindWords, max: maxQuery, required: required, about: "The command and its arguments, one word each. No shell reads them."},
		&field{name: "workdir", kind: kindText, max: maxPath, flag: "--workdir", about: "Working directory in the container."},
		timeoutField())
}

func commandArgv(name string) []part {
	return []part{word(name), selection(), option("branch"), option("profiles"), option("workdir"), operand("service"), words("cmd")}
}

// lifecycle is a tool that starts, stops or restarts a project.
func lifecycle(name, title, about string, destructive bool, more ...part) *tool {
	return &tool{
		name: "hack.project." + name, title: title, about: about + " It is stopped after 120000 ms. What it started stays.",
		fields:  append(selectors(), branchField(), profilesField()),
		argv:    append([]part{word(name), selection(), option("branch"), option("profiles")}, more...),
		timeout: defaultTimeout, data: noData, keepGroup: true, destructive: destructive,
	}
}

// projectTools are the tools beside those that read logs.
func projectTools() []*tool {
	return []*tool{
		{
			name: "hack.projects.list", title: "Projects", about: "List the known projects with their status. data is what the command reports.",
			fields: []*field{
				{name: "filter", kind: kindText, max: 4 * maxName, flag: "--project", about: "Only the project of this name."},
				{name: "includeGlobal", kind: kindBoolean, flag: "--include-global", about: "Include the projects of the global infrastructure."},
				{name: "includeUnregistered", kind: kindBoolean, flag: "--all", about: "Include compose projects that are not registered."},
			},
			argv:    []part{word("projects"), word("--json"), option("filter"), option("includeGlobal"), option("includeUnregistered")},
			timeout: defaultTimeout, readOnly: true, data: objectData,
		},
		{
			name: "hack.project.status", title: "Project status", about: "Show the services of a project and their state. data is what the command reports.",
			fields:  append(selectors(), branchField(), profilesField()),
			argv:    []part{word("ps"), selection(), option("branch"), option("profiles"), word("--json")},
			timeout: defaultTimeout, readOnly: true, data: objectData,
		},
		lifecycle("up", "Start a project", "Start the services of a project and return.", false, word("--detach")),
		lifecycle("down", "Stop a project", "Stop the services of a project and remove their containers.", true),
		lifecycle("restart", "Restart a project", "Restart the services of a project.", true),
		{
			name: "hack.project.run", title: "Run in a new container", about: "Run a command in a new container of a service, and wait for it. stdout and stderr are its output, at most 8388608 bytes.",
			fields: commandFields(false), argv: commandArgv("run"), data: runData, keepGroup: true, destructive: true,
		},
		{
			name: "hack.project.exec", title: "Run in a running container", about: "Run a command in the running container of a service, and wait for it. stdout and stderr are its output, at most 8388608 bytes.",
			fields: commandFields(true), argv: commandArgv("exec"), data: execData, keepGroup: true, destructive: true,
		},
		{
			name: "hack.project.open", title: "Project address", about: "Return the address of a project or of one of its services, in data.url. No browser is opened.",
			fields: append(selectors(), branchField(),
				&field{name: "target", kind: kindName, about: "The service. Default: the project's own address."}),
			argv:    []part{word("open"), selection(), option("branch"), word("--json"), operand("target")},
			timeout: defaultTimeout, readOnly: true, data: objectData,
		},
		{
			name: "hack.project.init", title: "Set up a project", about: "Set up a repository as a project. It needs repoRoot or path, which need not be registered yet. It is stopped after 180000 ms.",
			fields: append(selectors(),
				&field{name: "name", kind: kindText, max: maxName, flag: "--name", about: "Name of the project. Default: the name of the folder."},
				&field{name: "devHost", kind: kindText, max: maxName, flag: "--dev-host", about: "Host name for development."},
				&field{name: "oauth", kind: kindBoolean, flag: "--oauth", about: "Add an alias host for OAuth."},
				&field{name: "oauthTld", kind: kindText, max: maxName, flag: "--oauth-tld", about: "Top-level domain of that alias."},
				&field{name: "manual", kind: kindBoolean, flag: "--manual", about: "Write a minimal definition without looking at the repository."},
				&field{name: "noDiscovery", kind: kindBoolean, flag: "--no-discovery", about: "Do not look at the repository."}),
			argv: []part{word("init"), selection(), word("--auto"), option("name"), option("devHost"), option("oauth"),
				option("oauthTld"), option("manual"), option("noDiscovery")},
			timeout: initTimeout, data: noData, keepGroup: true, anchor: true,
		},
		{
			name: "hack.project.doctor", title: "Check a project", about: "Check the setup of a project. data is the report of the command.",
			fields:  append(selectors(), branchField()),
			argv:    []part{word("doctor"), selection(), option("branch"), word("--json")},
			timeout: defaultTimeout, readOnly: true, data: objectData, byPath: true,
		},
		{
			name: "hack.project.env.explain", title: "Explain a variable", about: "Say where an environment variable of a project comes from and where it goes. Its value is never returned, nor is raw output of the command.",
			fields: append(envFields(),
				&field{name: "key", kind: kindKey, required: true, about: "The variable."},
				&field{name: "target", kind: kindChoice, choices: []string{"host", "compose"}, flag: "--target", about: "Whose view of the environment. Default: host."}),
			argv:    []part{word("env"), word("explain"), selection(), option("env"), option("service"), option("target"), word("--json"), operand("key")},
			timeout: defaultTimeout, readOnly: true, data: envExplainData,
		},
		{
			name: "hack.project.env.keys", title: "List the variables", about: "List the names of the environment variables of a project, where they come from, and which required ones are missing. Values are never returned, nor is raw output of the command.",
			fields:  envFields(),
			argv:    []part{word("env"), word("list"), selection(), option("env"), option("service"), word("--json")},
			timeout: defaultTimeout, readOnly: true, data: envKeysData,
		},
		{
			name: "hack.project.instances", title: "Running instances", about: "List the running instances of a project by branch, with the containers of each service.",
			fields:  selectors(),
			argv:    []part{word("projects"), word("--json"), selection()},
			timeout: defaultTimeout, readOnly: true, data: instancesData,
		},
	}
}

func envFields() []*field {
	return append(selectors(),
		&field{name: "env", kind: kindName, flag: "--env", about: "The environment. Default: the project's own."},
		&field{name: "service", kind: kindName, flag: "--service", about: "The service, or global. Default: all."})
}
