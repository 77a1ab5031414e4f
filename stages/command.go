package stages

import (
	"strings"

	"github.com/tailrace/tailrace/internal/jsonstr"
)

// CommandLine returns a command line for people, as a [Payload] shows it: its parts
// joined by spaces, a part that holds a space quoted as JSON does.
func CommandLine(path string, args []string) string {
	var b []byte
	for i, part := range append([]string{path}, args...) {
		if i > 0 {
			b = append(b, ' ')
		}
		if !strings.Contains(part, " ") {
			b = append(b, part...)
			continue
		}
		b = append(jsonstr.Append(append(b, '"'), []byte(part)), '"')
	}
	return string(b)
}
