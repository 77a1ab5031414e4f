package source

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"time"

	"github.com/tailrace/tailrace/pipeline"
)

// The errors of files. Their texts hold no path.
var (
	// ErrNotFound: there is no such file.
	ErrNotFound = errors.New("the file was not found; check its name")
	// ErrPermission: the file may not be read.
	ErrPermission = errors.New("the file may not be read; check its permissions")
	// ErrIsDirectory: the name is that of a folder.
	ErrIsDirectory = errors.New("the name is that of a folder; name a file in it")
	// ErrNotRegular: the name is that of a pipe, a socket or a device.
	ErrNotRegular = errors.New("only regular files can be read; read a pipe or a device through a command")
	// ErrOutside: the file lies outside the folder that it must lie in, or a link on the way does.
	ErrOutside = errors.New("the file lies outside the folder that it may be read from; use a path inside it")
)

// FileOptions are the settings of [OpenFile]. The zero value reads the whole file once.
type FileOptions struct {
	// Follow reads on as the file grows, by its name: across rotation, truncation,
	// removal and re-creation. It never ends by itself, and waits for a file that is
	// not there yet.
	Follow bool
	// LastLines starts at the LastLines-th line from the end, which is found without
	// reading what is before it. 0 starts at the beginning, a negative number at the end:
	// of a file that is there, only what is added is read.
	LastLines int
	// Root, if not "", is the folder that the file must lie in. No link leads out of it.
	Root string
	// Poll is how often a followed file is looked at; 0 means 100 ms.
	Poll time.Duration
}

// A File is a file as a [pipeline.Source].
type File struct {
	path string
	o    FileOptions
	root *os.Root
	f    *os.File // nil while a followed file is not there

	segments *segments
	exit     pipeline.Exit

	// What a follow knows of the file that it reads.
	offset   int64
	size     int64
	head     []byte // its first bytes, to tell it from another with the same number
	lastByte byte
}

// OpenFile opens a file. The error is one of the errors of files.
func OpenFile(path string, o FileOptions) (*File, error) {
	if o.Poll == 0 {
		o.Poll = 100 * time.Millisecond
	}
	s := &File{path: path, o: o, segments: newSegments(0)}
	if o.Root != "" {
		rel := path
		if filepath.IsAbs(path) {
			var err error
			if rel, err = filepath.Rel(o.Root, path); err != nil {
				return nil, ErrOutside
			}
		}
		if !filepath.IsLocal(rel) {
			return nil, ErrOutside
		}
		root, err := os.OpenRoot(o.Root)
		if err != nil {
			return nil, fileError(err)
		}
		s.path, s.root = rel, root
	}
	f, err := s.open()
	switch {
	case err == nil:
		s.f = f
		if err = s.start(); err == nil {
			return s, nil
		}
	case o.Follow && errors.Is(err, ErrNotFound):
		return s, nil
	}
	s.Close()
	return nil, err
}

// open opens the file under its name.
func (s *File) open() (*os.File, error) {
	var f *os.File
	var err error
	if s.root != nil {
		f, err = s.root.OpenFile(s.path, os.O_RDONLY|nonblock, 0)
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) {
			return nil, ErrOutside // a link that leads out of the root
		}
	} else {
		// Without nonblock the opening of a pipe would wait for a writer.
		f, err = os.OpenFile(s.path, os.O_RDONLY|nonblock, 0)
	}
	if err != nil {
		return nil, fileError(err)
	}
	info, err := f.Stat()
	switch {
	case err != nil:
		err = fileError(err)
	case info.IsDir():
		err = ErrIsDirectory
	case !info.Mode().IsRegular():
		err = ErrNotRegular
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func fileError(err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return ErrNotFound
	case errors.Is(err, fs.ErrPermission):
		return ErrPermission
	}
	return ErrRead
}

// start moves to where reading starts.
func (s *File) start() error {
	at, whence := int64(0), io.SeekStart
	var err error
	switch {
	case s.o.LastLines == 0:
		return nil
	case s.o.LastLines > 0:
		at, err = lastLines(s.f, s.o.LastLines)
	default:
		whence = io.SeekEnd
	}
	if err == nil {
		s.offset, err = s.f.Seek(at, whence)
	}
	if err != nil {
		return fileError(err)
	}
	return nil
}

// lastLines returns the offset of the n-th line from the end. A last line without a line
// end counts.
func lastLines(f *os.File, n int) (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	end := info.Size()
	block := make([]byte, 64<<10)
	last := true // the line end at the very end begins no line
	for end > 0 {
		start := max(0, end-int64(len(block)))
		b := block[:end-start]
		if _, err := io.ReadFull(io.NewSectionReader(f, start, int64(len(b))), b); err != nil {
			return 0, err
		}
		if last && b[len(b)-1] == '\n' {
			b = b[:len(b)-1]
		}
		last = false
		for {
			i := bytes.LastIndexByte(b, '\n')
			if i < 0 {
				break
			}
			if n--; n == 0 {
				return start + int64(i) + 1, nil
			}
			b = b[:i]
		}
		end = start
	}
	return 0, nil
}

// Chunks yields the file's bytes. Followed, it waits for more at the end.
func (s *File) Chunks(ctx context.Context) iter.Seq[pipeline.Chunk] {
	return func(yield func(pipeline.Chunk) bool) {
		for {
			if ctx.Err() != nil {
				s.exit.End = pipeline.EndContext
				yield(pipeline.Chunk{Cut: true})
				return
			}
			n, err := 0, io.EOF
			if s.f != nil {
				n, err = s.f.Read(s.segments.room())
			}
			if n > 0 {
				data := s.segments.take(n)
				s.note(data)
				if !yield(pipeline.Chunk{Data: data}) {
					s.exit.End = pipeline.EndConsumer
					return
				}
				continue
			}
			switch {
			case err != nil && !errors.Is(err, io.EOF):
				s.exit = pipeline.Exit{End: pipeline.EndSource, Err: ErrRead}
				return
			case !s.o.Follow:
				s.exit.End = pipeline.EndSource
				return
			}
			if !s.behind() {
				t := time.NewTimer(s.o.Poll)
				select {
				case <-t.C:
				case <-ctx.Done():
					t.Stop()
					continue
				}
			}
			// Looked at before it is read on: what stands there now may be another file.
			if s.next() && s.lastByte != '\n' && s.lastByte != 0 {
				// The old file ended inside a line, and nothing will complete it.
				s.lastByte = '\n'
				if !yield(pipeline.Chunk{Data: []byte{'\n'}}) {
					s.exit.End = pipeline.EndConsumer
					return
				}
			}
		}
	}
}

// Exit returns how the reading ended.
func (s *File) Exit() pipeline.Exit { return s.exit }

// Close closes the file. The error is always nil.
func (s *File) Close() error {
	if s.f != nil {
		s.f.Close()
	}
	if s.root != nil {
		s.root.Close()
	}
	return nil
}
