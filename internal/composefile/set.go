package composefile

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/compose-spec/compose-go/v2/cli"

	"github.com/tailrace/tailrace/internal/project"
)

// maxFileBytes is the largest compose file or .env file that is read.
const maxFileBytes = 1 << 20

// A Set is the compose files of one project. The zero value has none.
type Set struct {
	// Root is the absolute path of the project.
	Root string
	// Dir is the folder of the first file, where Compose resolves relative paths and looks
	// for .env.
	Dir string
	// Files are the absolute paths of the files, each laid over the one before. There is at
	// least one.
	Files []string
}

// Find returns the compose files of a project: docker-compose.yml in .hack or .dev, else
// the first of Compose's own names in the root of the project, with its override file.
// COMPOSE_FILE is not read. The error is [ErrNoFile].
func Find(p project.Project) (Set, error) {
	if p.DirName == ".hack" || p.DirName == ".dev" {
		if file := filepath.Join(p.Dir, "docker-compose.yml"); isFile(file) {
			return Set{Root: p.Root, Dir: p.Dir, Files: []string{file}}, nil
		}
	}
	s := Set{Root: p.Root, Dir: p.Root}
	for _, names := range [...][]string{cli.DefaultFileNames, cli.DefaultOverrideFileNames} {
		for _, name := range names {
			if file := filepath.Join(p.Root, name); isFile(file) {
				s.Files = append(s.Files, file)
				break
			}
		}
		if len(s.Files) == 0 {
			return Set{}, ErrNoFile
		}
	}
	return s, nil
}

// place names a file for people: its path within the project, or its name alone where it
// lies elsewhere.
func (s Set) place(file string) string {
	if rel, err := filepath.Rel(s.Root, file); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return filepath.Base(file)
}

// inside says whether a file lies in the project, links followed.
func (s Set) inside(file string) bool {
	real, err := filepath.EvalSymlinks(file)
	if err != nil {
		return false
	}
	root, err := filepath.EvalSymlinks(s.Root)
	if err != nil {
		return false
	}
	rel, err := filepath.Rel(root, real)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// readFile reads a regular file of at most [maxFileBytes]. Anything else in its place,
// such as a pipe, is refused without waiting for it.
func readFile(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxFileBytes {
		return nil, ErrCompose
	}
	data, err := io.ReadAll(io.LimitReader(f, maxFileBytes+1))
	if err == nil && len(data) > maxFileBytes {
		err = ErrCompose
	}
	return data, err
}
