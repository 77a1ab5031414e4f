package inventory

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"
)

// skipped are folders of what was fetched or built. Folders with a leading dot are
// skipped, too, but for those of shown.
var (
	skipped = []string{"node_modules", "vendor", "dist", "build", "target", "out", "venv", "__pycache__", "coverage", "tmp"}
	shown   = []string{".hack", ".dev", ".devcontainer"}
)

// entriesAtOnce is how many entries are read from a folder at a time: a folder can have
// very many.
const entriesAtOnce = 256

// A reader reads one repository.
type reader struct {
	limits   Limits
	root     *os.Root
	out      *Inventory
	managers map[string]int // index in the list, by name
	entries  int
	files    int
	bytes    int
	texts    int
}

type folder struct {
	path  string
	depth int
}

func (r *reader) open(dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return ErrFolder
	}
	r.root = root
	return nil
}

// cut notes that a bound was met.
func (r *reader) cut(bound string) {
	if !slices.Contains(r.out.CutBy, bound) {
		r.out.CutBy = append(r.out.CutBy, bound)
	}
}

// walk looks into folders, shallow ones first.
func (r *reader) walk(ctx context.Context) error {
	queue := []folder{{path: "."}}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		list, err := r.list(ctx, at.path)
		if err != nil && at.path == "." {
			return err
		}
		for _, e := range list {
			if ctx.Err() != nil {
				return nil // the caller knows whose time is over
			}
			name := e.Name()
			full := path.Join(at.path, name)
			switch {
			case e.IsDir() && !looked(name):
			case e.IsDir() && !pathRE.MatchString(full):
				r.out.LeftOut++
			case e.IsDir() && at.depth >= r.limits.MaxDepth:
				r.cut("depth")
			case e.IsDir():
				queue = append(queue, folder{full, at.depth + 1})
			case e.Type().IsRegular():
				r.file(full, name)
			}
		}
	}
	return nil
}

// looked says whether a folder is looked into.
func looked(name string) bool {
	if strings.HasPrefix(name, ".") {
		return slices.Contains(shown, name)
	}
	return !slices.Contains(skipped, name)
}

// list returns the entries of a folder by name. Of one with too many it has those that
// came first.
func (r *reader) list(ctx context.Context, dir string) ([]fs.DirEntry, error) {
	f, err := r.root.OpenFile(dir, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, ErrFolder
	}
	defer f.Close()
	var list []fs.DirEntry
	for ctx.Err() == nil {
		some, err := f.ReadDir(min(entriesAtOnce, r.limits.MaxEntries-r.entries+1))
		if room := r.limits.MaxEntries - r.entries; len(some) > room {
			some = some[:room]
			r.cut("entries")
		}
		list, r.entries = append(list, some...), r.entries+len(some)
		if errors.Is(err, io.EOF) || slices.Contains(r.out.CutBy, "entries") {
			break
		}
		if err != nil {
			return nil, ErrFolder
		}
	}
	slices.SortFunc(list, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return list, nil
}

// read returns the text of a file. ok is false where there is none, or no room for it.
func (r *reader) read(name string) (text []byte, ok bool) {
	if r.files >= r.limits.MaxFiles {
		r.cut("files")
		return nil, false
	}
	r.files++
	// What was a regular file a moment ago can be a pipe by now: it is not waited for.
	f, err := r.root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		r.notRead(name)
		return nil, false
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() > int64(r.limits.MaxFileBytes) {
		r.notRead(name)
		return nil, false
	}
	room := r.limits.MaxBytes - r.bytes
	if info.Size() > int64(room) {
		r.cut("bytes")
		return nil, false
	}
	limit := min(room, r.limits.MaxFileBytes)
	text, err = io.ReadAll(io.LimitReader(f, int64(limit)+1))
	r.bytes += len(text)
	if err != nil || len(text) > limit {
		r.notRead(name)
		return nil, false
	}
	return text, true
}

func (r *reader) notRead(name string) {
	if p, ok := r.path(name); ok {
		r.out.NotRead = append(r.out.NotRead, p)
	}
}
