package source

import (
	"bytes"
	"io"
	"io/fs"
	"os"
	"time"
)

// headBytes is how much of a file's beginning is kept to recognize it by. A number that
// is given to another file is no concern: ours is in use as long as we hold it open.
const headBytes = 256

// A position is what a follow knows of the file that it reads.
type position struct {
	offset int64
	head   []byte // the first bytes before offset
	open   bool   // what was read ends inside a line

	// The size and the time of change at the last look.
	size    int64
	changed time.Time
}

// startAt takes down that reading starts at an offset.
func (p *position) startAt(f *os.File, offset int64) {
	*p = position{offset: offset}
	head := make([]byte, min(offset, headBytes))
	if n, _ := f.ReadAt(head, 0); n == len(head) {
		p.head = head
	}
}

// advance takes down what was read.
func (p *position) advance(data []byte) {
	if n := len(p.head); int64(n) == p.offset && n < headBytes {
		p.head = append(p.head, data[:min(len(data), headBytes-n)]...)
	}
	p.offset += int64(len(data))
	p.open = data[len(data)-1] != '\n'
}

// rewritten says whether the file is not what was read any more: cut down, or cut down
// and filled again.
func (p *position) rewritten(f *os.File, now fs.FileInfo) bool {
	same := now.Size() == p.size && now.ModTime().Equal(p.changed)
	p.size, p.changed = now.Size(), now.ModTime()
	return now.Size() < p.offset || !same && p.otherHead(f)
}

// otherHead says whether the file begins with something else than what was read.
func (p *position) otherHead(f *os.File) bool {
	if len(p.head) == 0 {
		return false
	}
	head := make([]byte, len(p.head))
	n, _ := f.ReadAt(head, 0)
	return n == len(head) && !bytes.Equal(head, p.head)
}

// A step is what to do at the end of a followed file.
type step uint8

const (
	wait   step = iota // nothing new
	readOn             // there is more of the same file
	begun              // what comes now is no continuation of what was read
)

// look is called at the end of a followed file. It finds out whether the name has come
// to mean another file, or the file has been rewritten, and moves on to what is to be
// read.
func (s *File) look() step {
	if len(s.next) > 0 {
		s.use(s.next)
		return begun
	}
	// The name first, the file after it: where the name means a file that the writer has
	// moved on to, the size of the old one is final.
	named, err := s.stat(s.path)
	if s.f == nil {
		if f, err := s.open(s.path); err == nil {
			s.use([]*os.File{f})
			return readOn
		}
		return wait
	}
	own, ownErr := s.f.Stat()
	switch {
	case ownErr != nil:
		return wait
	case err != nil || os.SameFile(named, own):
		// Or gone for now, or out of reach: its writer may still have it open.
		if s.pos.rewritten(s.f, own) {
			if _, err := s.f.Seek(0, io.SeekStart); err != nil {
				return wait
			}
			return begun
		}
		if own.Size() > s.pos.offset {
			return readOn
		}
		return wait
	case own.Size() > s.pos.offset:
		return readOn
	case !named.Mode().IsRegular() || named.Size() == 0:
		// Nothing to read, or made, but the writer may not have moved on to it.
		return wait
	}
	if files := s.successors(own); len(files) > 0 {
		s.use(files)
		return begun
	}
	return wait
}

// refilled is called with what was read and not taken yet. It says whether the file was
// cut down and filled again before that, so that the bytes are from the middle of
// something else, and goes back to its beginning then.
func (s *File) refilled() bool {
	now, err := s.f.Stat()
	// Not by size and time, as at the end of a file: within a tick of the clock of the file
	// system both can be what they were.
	if err != nil || now.Size() < s.pos.offset || !s.pos.otherHead(s.f) {
		return false
	}
	_, err = s.f.Seek(0, io.SeekStart)
	return err == nil
}

// use reads files from now on, in their order, and closes the one before them.
func (s *File) use(files []*os.File) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.f.Close()
	s.f, s.next = files[0], files[1:]
	select {
	case <-s.closed:
		s.closeAll()
	default:
	}
}

func (s *File) closeAll() {
	s.f.Close()
	for _, f := range s.next {
		f.Close()
	}
}
