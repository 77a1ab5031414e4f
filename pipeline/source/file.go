package source

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"sync"
	"syscall"
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
	// ErrOpen: the file could not be opened for another reason, such as too many open
	// files or a name that is too long.
	ErrOpen = errors.New("the file could not be opened; check its name and how many files are open")
)

// defaultPoll is how often a followed file is looked at.
const defaultPoll = 100 * time.Millisecond

// FileOptions are the settings of [OpenFile]. The zero value reads the whole file once.
type FileOptions struct {
	// Follow reads on as the file grows, by its name: across rotation, truncation,
	// removal and re-creation. It waits for a file that is not there, and ends by itself
	// only where reading fails. See [File] for what it can lose.
	Follow bool
	// LastLines starts at the LastLines-th line from the end, which is found without
	// reading what is before it. 0 starts at the beginning, a negative number at the end:
	// of a file that is there, only what is added is read.
	LastLines int
	// Root, if not "", is the folder that the file must lie in. A path that is not
	// absolute is then taken from it. No link leads out of it, however links change
	// while the file is read; absolute links count as leading out.
	Root string
	// Decompress reads a file that begins as gzip or zstd files do as what was compressed.
	// Such a file is read whole, whatever Follow, LastLines and the times say; see
	// [File.Compressed].
	Decompress bool
	// Since and Until let what lies outside of them be left out, without reading it, where
	// that can be found by looking at few places of a file whose lines are in the order of
	// their times. Lines outside may still come: who wants none looks at each. Zero means no
	// such end; Until does not count with Follow. Both need Time.
	Since, Until time.Time
	// Time returns the time that a line carries, and false where it carries none.
	Time func(line []byte) (time.Time, bool)
	// Poll is how often a followed file is looked at; 0 and less mean 100 ms.
	Poll time.Duration
}

// A File is a file as a [pipeline.Source]. Chunks is for one goroutine; Close may be
// called from any.
//
// A follow loses nothing and repeats nothing across rotation by renaming, as long as the
// writer is done with the old file when it writes to the new one: the old one is read to
// its end after the new one was seen to hold something. Between two looks there may be
// several rotations if the old files are kept as NAME.1, NAME.2 and so on, the newest as
// NAME.1, up to NAME.32. Of files with other names, compressed or removed ones, those
// that came and went between two looks are lost.
//
// A file that is cut down in place (copytruncate) is read from its beginning again. What
// was not read before is lost. Where it has grown past the old place by the next look, it
// is known by its first 256 bytes; one that begins as before, and is not shorter than
// what was read, is taken for the same.
//
// A line that an old file leaves open is ended with a line end of our own, so that it
// does not run into the first one of the new file.
//
// On Windows a file that is open can be renamed only if it was opened under a Root.
type File struct {
	path string
	o    FileOptions
	root *os.Root

	segments *segments
	started  bool
	exit     pipeline.Exit
	pos      position
	end      int64        // where reading ends, 0 for at the end of the file
	unpack   decompressor // nil where the bytes are read as they are

	// mu guards what Close closes. Only the goroutine of Chunks changes f and next.
	mu     sync.Mutex
	closed chan struct{}
	f      *os.File   // nil while a followed file is not there
	next   []*os.File // what is read after f, in this order
}

// OpenFile opens a regular file. The error is one of the errors of files.
func OpenFile(path string, o FileOptions) (*File, error) {
	if o.Poll <= 0 {
		o.Poll = defaultPoll
	}
	s := &File{path: path, o: o, segments: newSegments(0), closed: make(chan struct{})}
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
	f, err := s.open(s.path)
	switch {
	case err == nil:
		s.f = f
		if err = s.prepare(); err == nil {
			return s, nil
		}
	case o.Follow && errors.Is(err, ErrNotFound):
		return s, nil
	}
	s.Close()
	return nil, err
}

// stat looks at what stands under a name.
func (s *File) stat(name string) (fs.FileInfo, error) {
	if s.root != nil {
		return s.root.Stat(name)
	}
	return os.Stat(name)
}

// open opens the regular file that stands under a name.
func (s *File) open(name string) (*os.File, error) {
	// Looked at first, since to open a pipe or a device can do something to it.
	info, err := s.stat(name)
	if err == nil {
		err = regular(info)
	}
	if err != nil {
		return nil, fileError(err)
	}
	var f *os.File
	// Without nonblock the opening would wait for a writer if a pipe stood there by now.
	if s.root != nil {
		f, err = s.root.OpenFile(name, os.O_RDONLY|nonblock, 0)
	} else {
		f, err = os.OpenFile(name, os.O_RDONLY|nonblock, 0)
	}
	if err != nil {
		return nil, fileError(err)
	}
	if info, err = f.Stat(); err == nil {
		err = regular(info)
	}
	if err != nil {
		f.Close()
		return nil, fileError(err)
	}
	return f, nil
}

func regular(info fs.FileInfo) error {
	switch {
	case info.IsDir():
		return ErrIsDirectory
	case !info.Mode().IsRegular():
		return ErrNotRegular
	}
	return nil
}

// fileError makes one of the errors of files of an error of package os, whose text
// holds the path.
func fileError(err error) error {
	var number syscall.Errno
	switch {
	case errors.Is(err, ErrIsDirectory), errors.Is(err, ErrNotRegular):
		return err
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return ErrNotFound
	case errors.Is(err, fs.ErrPermission):
		return ErrPermission
	case errors.As(err, &number):
		return ErrOpen
	}
	// Only an [os.Root] refuses by itself, without an error of the system.
	return ErrOutside
}

// Chunks yields the file's bytes. Followed, it waits for more at the end.
func (s *File) Chunks(ctx context.Context) iter.Seq[pipeline.Chunk] {
	return func(yield func(pipeline.Chunk) bool) {
		if s.started {
			return
		}
		s.started = true
		s.exit = s.read(ctx, yield)
	}
}

func (s *File) read(ctx context.Context, yield func(pipeline.Chunk) bool) pipeline.Exit {
	if s.unpack != nil {
		return s.readCompressed(ctx, yield)
	}
	waiting := false // nothing is read after a wait that was not looked at
	for {
		if end, over := s.over(ctx); over {
			yield(pipeline.Chunk{Cut: true})
			return pipeline.Exit{End: end}
		}
		n, err := 0, io.EOF
		if s.f != nil && !waiting {
			n, err = s.readSome(s.segments.room())
		}
		step := readOn
		switch {
		case n > 0 && s.o.Follow && s.refilled():
			step = begun
		case n > 0:
			data := s.segments.take(n)
			if s.o.Follow {
				s.pos.advance(data)
			}
			if !yield(pipeline.Chunk{Data: data}) {
				return pipeline.Exit{End: pipeline.EndConsumer}
			}
		case errors.Is(err, os.ErrClosed):
			// The loop finds out that it was Close.
		case err != nil && !errors.Is(err, io.EOF):
			return pipeline.Exit{Err: ErrRead}
		case !s.o.Follow:
			return pipeline.Exit{}
		default:
			step = s.look()
		}
		waiting = step == wait
		switch step {
		case wait:
			s.sleep(ctx)
		case begun:
			if s.pos.open && !yield(pipeline.Chunk{Data: []byte{'\n'}}) {
				return pipeline.Exit{End: pipeline.EndConsumer}
			}
			s.pos = position{}
		}
	}
}

// readSome reads up to where reading ends.
func (s *File) readSome(room []byte) (int, error) {
	if s.end > 0 {
		left := s.end - s.pos.offset
		if left <= 0 {
			return 0, io.EOF
		}
		room = room[:min(int64(len(room)), left)]
	}
	n, err := s.f.Read(room)
	if s.end > 0 {
		s.pos.offset += int64(n)
	}
	return n, err
}

// over says whether the sequence was ended from outside, and by what.
func (s *File) over(ctx context.Context) (pipeline.End, bool) {
	select {
	case <-ctx.Done():
		return pipeline.EndContext, true
	default:
	}
	select {
	case <-s.closed:
		return pipeline.EndConsumer, true
	default:
		return 0, false
	}
}

func (s *File) sleep(ctx context.Context) {
	t := time.NewTimer(s.o.Poll)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	case <-s.closed:
	}
}

// Exit returns how the reading ended. Err is [ErrRead] where reading failed, and
// [ErrCompressed] where a compressed file is damaged or not complete.
func (s *File) Exit() pipeline.Exit { return s.exit }

// Close closes the file. The error is always nil.
func (s *File) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.closed:
		return nil
	default:
	}
	close(s.closed)
	s.closeAll()
	if s.root != nil {
		s.root.Close()
	}
	return nil
}
