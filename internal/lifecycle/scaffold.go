package lifecycle

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tailrace/tailrace/internal/composefile"
	"github.com/tailrace/tailrace/internal/project"
)

// ScaffoldFile is the compose file that [Scaffold] writes, as a path within the folder.
const ScaffoldFile = ".hack/docker-compose.yml"

// maxScanned bounds the entries of a folder that are looked at.
const maxScanned = 1000

// ErrScaffold says that a compose file could not be written.
var ErrScaffold = &Error{Code: CodePermission, Text: "the compose file could not be written: check the rights of the folder"}

// ErrHost says that --dev-host is no host name.
var ErrHost = &Error{Code: CodeUsage, Text: "--dev-host takes a host name: letters, digits and dashes, with dots between"}

// Composed says whether a folder has a compose file, and whether what it has makes it a
// project already.
func Composed(c project.Context, dir string) (composed, defined bool) {
	p, ok := c.Find(dir)
	if !ok || p.Root != dir {
		p, ok = project.Project{Root: dir, Dir: dir, DirName: "."}, false
	}
	_, err := composefile.Find(p)
	return err == nil, ok
}

// ValidHost says whether a text is a host name.
func ValidHost(host string) bool { return len(host) <= 253 && hostRE.MatchString(host) }

// Scaffold writes .hack/docker-compose.yml in a folder, for a compose project of a name.
// With discover it has a service for each Dockerfile in the folder and the folders in it. A
// file that is there is never changed, and no link leads it out of the folder. It returns
// the names of the services. The error is [ErrScaffold].
func Scaffold(dir, name string, discover bool) (services []string, err error) {
	var found []build
	if discover {
		found = discovered(dir)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, ErrScaffold
	}
	defer root.Close()
	if err := root.Mkdir(".hack", 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, ErrScaffold
	}
	f, err := root.OpenFile(ScaffoldFile, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return nil, ErrScaffold
	}
	_, err = f.WriteString(scaffoldText(composefile.BranchSlug(name), found))
	if errors.Join(err, f.Close()) != nil {
		_ = root.Remove(ScaffoldFile)
		return nil, ErrScaffold
	}
	services = []string{}
	for _, b := range found {
		services = append(services, b.service)
	}
	return services, nil
}

// A build is a Dockerfile that was found.
type build struct{ service, context string }

func discovered(dir string) []build {
	var found []build
	if isDockerfile(filepath.Join(dir, "Dockerfile")) {
		found = append(found, build{"app", ".."})
	}
	folder, err := os.Open(dir)
	if err != nil {
		return found
	}
	defer folder.Close()
	entries, _ := folder.ReadDir(maxScanned) // what could be read counts
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	for _, e := range entries {
		name := e.Name()
		if !e.IsDir() || name[0] == '.' || name == "node_modules" || name == "vendor" || !isDockerfile(filepath.Join(dir, name, "Dockerfile")) {
			continue
		}
		service := composefile.BranchSlug(name)
		if !slices.ContainsFunc(found, func(b build) bool { return b.service == service }) {
			found = append(found, build{service, "../" + name})
		}
	}
	return found
}

func isDockerfile(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode().IsRegular()
}

func scaffoldText(name string, found []build) string {
	var out strings.Builder
	out.WriteString("# The services of this project, for docker compose. Start them with: tailrace up --detach\nname: " + name + "\n\n")
	if len(found) == 0 {
		out.WriteString("services: {}\n# services:\n#   web:\n#     build: ..          # the folder of the project\n#     ports: [\"8080\"]\n")
		return out.String()
	}
	out.WriteString("services:\n")
	for _, b := range found {
		// A JSON string is a YAML text in double quotes; a dollar begins a variable.
		context, _ := json.Marshal(strings.ReplaceAll(b.context, "$", "$$")) // a string can always be encoded
		out.WriteString("  " + b.service + ":\n    build:\n      context: " + string(context) + "\n")
	}
	return out.String()
}
