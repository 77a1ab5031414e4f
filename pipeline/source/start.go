package source

import (
	"bytes"
	"errors"
	"io"
)

// prepare finds out what the file is and moves to where reading starts.
func (s *File) prepare() error {
	if s.o.Decompress {
		var err error
		if s.unpack, err = newDecompressor(s.f); s.unpack != nil || err != nil {
			return err
		}
	}
	info, err := s.f.Stat()
	if err != nil {
		return ErrOpen
	}
	at, end := int64(0), int64(0)
	if w := s.window(); w.set() {
		at, end = w.find(s.f, info.Size())
	}
	switch {
	case s.o.LastLines > 0:
		at, err = lastLines(s.f, info.Size(), s.o.LastLines)
	case s.o.LastLines < 0:
		at = info.Size()
	}
	if err == nil && at > 0 {
		at, err = s.f.Seek(at, io.SeekStart)
	}
	if err != nil {
		return ErrOpen
	}
	if at > 0 {
		s.pos.startAt(s.f, at)
	}
	if end < info.Size() {
		s.end = end
	}
	return nil
}

// lastLines returns the offset of the n-th line from the end. A last line without a line
// end counts.
//
// It reads backward from the end, by blocks of 64 KiB, and no block that it does not need.
func lastLines(f io.ReaderAt, size int64, n int) (int64, error) {
	end := size
	block := make([]byte, 64<<10)
	last := true // the line end at the very end begins no line
	for end > 0 {
		start := max(0, end-int64(len(block)))
		b := block[:end-start]
		if _, err := io.ReadFull(io.NewSectionReader(f, start, int64(len(b))), b); err != nil {
			if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
				return 0, nil // truncated under way: what is there now is new
			}
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
