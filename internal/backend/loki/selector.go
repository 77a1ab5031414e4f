package loki

import (
	"regexp"
	"strconv"
	"strings"
)

// Selector returns the log query for the services of a project, or for all of it where none
// is given. Values are quoted as LogQL reads them: a backslash for a metacharacter of a
// regular expression is one of the string, and is doubled once by the quotes around it.
func Selector(project string, services []string) string {
	var parts []string
	if project != "" {
		parts = append(parts, "project="+strconv.Quote(project))
	}
	switch len(services) {
	case 0:
	case 1:
		parts = append(parts, "service="+strconv.Quote(services[0]))
	default:
		quoted := make([]string, len(services))
		for i, s := range services {
			quoted[i] = regexp.QuoteMeta(s)
		}
		parts = append(parts, "service=~"+strconv.Quote("^("+strings.Join(quoted, "|")+")$"))
	}
	return "{" + strings.Join(parts, ",") + "}"
}
