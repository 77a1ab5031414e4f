package project

import (
	"os"
	"path/filepath"
)

// ConfigFile is the name of the file that makes a folder a project of its own.
const ConfigFile = "tailrace.yaml"

const composeFile = "docker-compose.yml"

// A Project is a folder with logs. The zero value is no project.
type Project struct {
	// Name is the name that the project is registered by. [Context.Find] fills in the
	// name of the folder; a name in tailrace.yaml takes its place (see [LoadConfig]).
	Name string
	// Root is the absolute path of the folder.
	Root string
	// Dir is the folder of the project's definition: Root/.hack, Root/.dev, or Root.
	Dir string
	// DirName is ".hack", ".dev", or "." where Dir is Root.
	DirName string
	// ConfigPath is the path of tailrace.yaml, "" where Root holds none.
	ConfigPath string
	// DevHost is the host name for development that [Context.Register] notes, "" for none.
	// [Context.Find] does not fill it in.
	DevHost string
}

// Find looks for a project in dir and upward from it, and returns the nearest. In one
// folder .hack comes before .dev, and both before tailrace.yaml, since that is the
// order in which the hack command line knows it; ConfigPath is set in any case. A
// relative dir is resolved against the captured working directory. Links are not
// resolved: upward means the parents of the path as it is written.
func (c Context) Find(dir string) (Project, bool) {
	for dir = c.abs(dir); ; {
		if p, ok := projectAt(dir); ok {
			return p, true
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return Project{}, false
		}
		dir = parent
	}
}

// projectAt returns the project whose root is dir.
func projectAt(dir string) (Project, bool) {
	p := Project{Name: filepath.Base(dir), Root: dir}
	if path := filepath.Join(dir, ConfigFile); isFile(path) {
		p.Dir, p.DirName, p.ConfigPath = dir, ".", path
	}
	for _, name := range [...]string{".hack", ".dev"} {
		if sub := filepath.Join(dir, name); isFile(filepath.Join(sub, composeFile)) {
			p.Dir, p.DirName = sub, name
			break
		}
	}
	return p, p.DirName != ""
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// project returns the project of a registry entry.
func (e entry) project() Project {
	p := Project{Name: e.name, Root: e.repoRoot, Dir: e.dir, DirName: e.dirName, DevHost: e.devHost}
	if path := filepath.Join(e.repoRoot, ConfigFile); isFile(path) {
		p.ConfigPath = path
	}
	return p
}
