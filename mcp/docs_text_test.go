package mcp

// What docs/tools.md says beside what is made from the table.
const (
	docsHead = `# The tools

Made from the table in ` + "`mcp/tools.go` and `mcp/tools_project.go`" + `, and from runs of a stub command; a test keeps it true.

Every result has the same shape: ` + "`ok`, `outputTruncated` (only true), `command`, `exitCode`, `stdout`, `stderr`, `data`" + ` (where a tool has one),
` + "`spawned` (only false), `error` (`code`, `reason`, `message`). The `content`" + ` text is the same JSON; of a large result it is a smaller view.
What goes over the wire for each tool and each kind of error is in ` + "`mcp/testdata/wire`" + `.

In a command line, ` + "`--flag VALUE` is two elements, and `--flag=VALUE`" + ` one where the value begins with a dash. A list is one value, with commas.
PROJECT is ` + "`--project NAME`, `--path PATH`" + ` or nothing.
`

	docsDecisions = `
## What was decided here

The command's documentation leaves these open.

- **Names.** A service, a profile, an environment: 1 to 253 letters, digits, ` + "`_`, `.` and `-`" + `, a letter or digit first. A branch may have ` + "`/`" + `, too, but no
  ` + "`..` and no `/`" + ` at its end. A variable begins with a letter or underscore. ` + "`profiles` and `services`" + ` take one name or a list of at most 64.
- **Words of a command.** ` + "`run` and `exec` put `--`" + ` between the service and the words, so that ` + "`ls -la`" + ` is a command and not a flag of hack. At most 256 words
  with 32,768 bytes in all; no shell reads them.
- **exec** is ` + "`hack exec`, with the flags of `hack run`" + `.
- **doctor** is told the folder of a project, also where it was chosen by name: ` + "`hack doctor` has no `--project`. It never has `--fix`" + `.
- **env.keys** is ` + "`hack env list`, never with `--show-secrets`" + `. A variable is secret where the command says so, where it is stored as one, or where it comes from a keychain.
- **Env tools** return what they know the form of: names, scopes and services are words, places have no ` + "`=`, no `@` and no `//`" + `. What has another form is null, or left out of
  a list. Raw output is withheld, also when the command failed. An envelope that tells of an error has no data: ` + "`data`" + ` is null.
- **instances** is ` + "`hack projects`" + ` with the registered name. The base instance has ` + "`branch`" + ` null and comes first; containers whose state is running count as running. A project
  that is not registered is refused.
- **init** needs ` + "`repoRoot` or `path`" + `, which need not be registered; ` + "`projectName`" + ` beside it is a conflict.
- **A time-out and a cut** are no failures of the command and are told apart by ` + "`reason`. `data`" + ` is there after a time-out, and not after a cut.
- **Descendants** of a log tool's command are ended with it. Those of the others live on after a normal end, since up and init may leave daemons.
`
)
