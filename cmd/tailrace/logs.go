package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tailrace/tailrace/internal/project"
)

const logsLong = `Show the logs of the project's sources, which tailrace.yaml lists: files, commands, the
journal of systemd, pods of Kubernetes, queries to Loki, the containers of a compose
project. Where it lists none, those are the containers of the project's compose file.

The project is the one of the working directory, or the one that --project or --path
names. SERVICE is the name of a source, or of a service of the compose file; without it all sources are shown, line by line
as they arrive. --file shows log files without any project, merged by time, those that
gzip or zstd has compressed included.

With --json each line is one event on stdout: start, then a log event for each line of
the log, error events for what could not be read, dropped events for lines that are known
to be missing, and end with a reason (eof, exit:CODE, error, closed).

On a terminal, and with --pretty, the lines are for people: local time, level, service,
message and fields in columns, with ! instead of | for what was written to stderr. A JSON
text over several lines is kept together. Control characters, and characters that change
the direction of text, are shown as escapes. There are no colours where NO_COLOR is set,
TERM is dumb, or stdout is no terminal. Else the lines are shown as they are.

With --no-follow the sources are merged by the times in their lines; commands are read
after the others, one by one, each to its end. A line of more than 8 MiB becomes several.
--since and --until go by the time that is written in a line; a line without one belongs
to the line before it. With --since there is no limit of 200 lines unless --tail is given.

Sources that are not files are read for registered projects only (see tailrace init), and
the files of a project that is not registered must lie in its folder.

Exit codes: 0 the sources ended, 1 a source failed or the call was refused, 130 and 143
ended by SIGINT and SIGTERM.`

// Refusals that --json does not turn into an envelope: like the reference command line,
// they leave stdout empty.
var (
	errComposeConflict = errors.New("--compose cannot be combined with --loki, --query, --services, --since or --until: leave one out")
	errFormatConflict  = errors.New("--json and --pretty cannot be combined: leave one out")
	errFollowUntil     = errors.New("--until cannot be combined with following: add --no-follow")
	errSinceUntil      = errors.New("--since is later than --until: exchange them")
	errNoCompose       = &refusal{codeMissing, "the project has no compose file: leave out --compose, or add one"}
)

// logsOptions are the flags of the command, as they were given.
type logsOptions struct {
	project, path               string
	files                       []string
	branch, profile             string
	services, since, until      string
	query                       string
	tail                        int
	json, pretty, loki, compose bool
	follow, noFollow            bool

	service      string // the positional argument
	sinceAt      time.Time
	untilAt      time.Time
	names        []string // the services that were asked for
	tailWasGiven bool
	prettyGiven  bool // --pretty was given
	wantsLoki    bool // --loki or --query was given
	byName       bool // --project was given
	byPath       bool // --path was given
}

func newLogsCommand(app *app) *cobra.Command {
	o := &logsOptions{}
	cmd := &cobra.Command{
		Use:           "logs [SERVICE]",
		Short:         "Show the logs of the project's sources",
		Long:          logsLong,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	f := cmd.Flags()
	f.StringVar(&o.project, "project", "", "registered project, by `NAME`")
	f.StringVar(&o.path, "path", "", "project of a folder, searched upward from `DIR`")
	f.StringArrayVar(&o.files, "file", nil, "show a log `FILE`, or those of a pattern, without a project; can be given several times")
	f.StringVar(&o.branch, "branch", "", "branch `NAME` that the events carry")
	f.StringVar(&o.profile, "profile", "", "compose profiles whose services are shown, as a comma-separated `LIST`")
	f.StringVar(&o.services, "services", "", "sources to show, as a comma-separated `LIST`")
	f.StringVar(&o.since, "since", "", "only lines from `TIME` on (15m, 2h, RFC 3339)")
	f.StringVar(&o.until, "until", "", "only lines up to `TIME`, with --no-follow")
	f.IntVar(&o.tail, "tail", 200, "how many last `LINES` of each source to begin with")
	f.BoolVarP(&o.follow, "follow", "f", true, "go on with new lines")
	f.BoolVar(&o.noFollow, "no-follow", false, "end when the sources have ended")
	f.BoolVar(&o.json, "json", false, "one JSON event a line")
	f.BoolVar(&o.pretty, "pretty", false, "lines for people, as on a terminal; --pretty=false shows them there as they are")
	f.BoolVar(&o.loki, "loki", false, "read from Loki: the sources that are on a server, or all of the project on that of HACK_LOKI_URL")
	f.BoolVar(&o.compose, "compose", false, "read the containers of the compose file, also where there are other sources")
	f.StringVar(&o.query, "query", "", "read what a log `QUERY` in LogQL gives from Loki")

	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error {
		return app.refuse(asksForJSON(app.Args), &refusal{codeUsage, flagProblem(err)})
	})
	cmd.Args = func(_ *cobra.Command, args []string) error {
		if len(args) > 1 {
			return app.refuse(o.json, &refusal{codeUsage, "logs takes one SERVICE: use --services for several"})
		}
		return nil
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 1 {
			o.service = args[0]
		}
		if err := o.check(app.Now(), f.Changed); err != nil {
			return app.refuse(o.json, err)
		}
		c, err := project.NewContext(app.Cwd, app.Env)
		if err != nil {
			return app.refuse(o.json, err)
		}
		plan, err := o.plan(cmd.Context(), c)
		if err != nil {
			return app.refuse(o.json, err)
		}
		return runLogs(cmd.Context(), app, o, plan)
	}
	return cmd
}

// check looks at the flags in the order of the reference command line.
func (o *logsOptions) check(now time.Time, given func(string) bool) error {
	o.byName, o.byPath, o.tailWasGiven = given("project"), given("path"), given("tail")
	o.prettyGiven = given("pretty")
	o.wantsLoki = o.loki || given("query")
	explicitLoki := o.loki || slices.ContainsFunc([]string{"query", "services", "since", "until"}, given)
	if o.compose && explicitLoki {
		return errComposeConflict
	}
	if o.json && o.pretty {
		return errFormatConflict
	}
	var err error
	if o.sinceAt, err = parseTime(o.since, now); err != nil {
		return fmt.Errorf("--since %w", err)
	}
	if o.untilAt, err = parseTime(o.until, now); err != nil {
		return fmt.Errorf("--until %w", err)
	}
	if !o.sinceAt.IsZero() && !o.untilAt.IsZero() && o.sinceAt.After(o.untilAt) {
		return errSinceUntil
	}
	if o.noFollow && given("follow") && o.follow {
		return &refusal{codeUsage, "--follow and --no-follow cannot be combined: leave one out"}
	}
	o.follow = o.follow && !o.noFollow
	switch {
	case o.follow && !o.untilAt.IsZero():
		return errFollowUntil
	case o.tail < 0:
		return &refusal{codeUsage, "--tail takes a number of lines, 0 or more"}
	case o.byName && o.byPath:
		return &refusal{codeUsage, "--project and --path cannot be combined: leave one out"}
	case given("file") && (o.byName || o.byPath || o.wantsLoki || given("services") || o.service != ""):
		return &refusal{codeUsage, "--file is read without a project: leave out --project, --path, --loki, --query and services"}
	case given("query") && strings.TrimSpace(o.query) == "":
		return &refusal{codeUsage, "--query takes a log query, such as '{service=\"web\"}'"}
	case slices.ContainsFunc(o.files, func(path string) bool { return path == "" || strings.ContainsRune(path, 0) }):
		return &refusal{codeUsage, "--file takes the path of a log file"}
	}
	for _, name := range append(strings.Split(o.services, ","), o.service) {
		if name = strings.TrimSpace(name); name != "" && !slices.Contains(o.names, name) {
			o.names = append(o.names, name)
		}
	}
	return nil
}

// lines returns with how many of its last lines a source begins, or -1 for all.
func (o *logsOptions) lines() int {
	if !o.sinceAt.IsZero() && !o.tailWasGiven {
		return -1
	}
	return o.tail
}
