package source

import (
	"bytes"
	"io"
	"os"
)

// headBytes is how much of a file's beginning is kept to recognize it by.
const headBytes = 256

// note takes down what was read.
func (s *File) note(data []byte) {
	if !s.o.Follow {
		return
	}
	if int64(len(s.head)) == s.offset && len(s.head) < headBytes {
		s.head = append(s.head, data[:min(len(data), headBytes-len(s.head))]...)
	}
	s.offset += int64(len(data))
	s.lastByte = data[len(data)-1]
}

// behind says whether the file is known to hold more than was read.
func (s *File) behind() bool {
	if s.f == nil {
		return false
	}
	info, err := s.f.Stat()
	return err == nil && info.Size() > s.offset
}

// next is called at the end of a followed file. It looks whether the name has come to
// mean another file, or the file has been cut down, and moves on to what is to be read.
// It returns true where what was read so far will not be continued.
//
// What a poll cannot see is lost: a file that came and went between two polls, and
// what a truncation (copytruncate) took away before it was read.
func (s *File) next() bool {
	fresh, err := s.open()
	if err != nil {
		// Gone for now, or out of reach. The old file, if any, is read on: its writer
		// may still have it open.
		return false
	}
	if s.f == nil {
		s.begin(fresh)
		return false
	}
	was, err1 := s.f.Stat()
	is, err2 := fresh.Stat()
	if err1 != nil || err2 != nil {
		fresh.Close()
		return false
	}
	if !os.SameFile(was, is) {
		if was.Size() > s.offset {
			// Written to after the last read and before the rename: first to its end.
			fresh.Close()
			return false
		}
		s.f.Close()
		s.begin(fresh)
		return true
	}
	defer fresh.Close()
	grown := is.Size() != s.size
	s.size = is.Size()
	if is.Size() >= s.offset && !(grown && s.replaced()) {
		return false
	}
	// Truncated, or another file that was given the same number: from the start.
	if _, err := s.f.Seek(0, io.SeekStart); err != nil {
		return false
	}
	s.offset, s.head = 0, nil
	return true
}

// begin starts to read a file from its beginning.
func (s *File) begin(f *os.File) {
	s.f, s.offset, s.size, s.head = f, 0, 0, nil
}

// replaced says whether the file begins otherwise than it did.
func (s *File) replaced() bool {
	if len(s.head) == 0 || s.offset < int64(len(s.head)) {
		return false
	}
	now := make([]byte, len(s.head))
	n, err := s.f.ReadAt(now, 0)
	return (err == nil || n == len(now)) && !bytes.Equal(now, s.head)
}
