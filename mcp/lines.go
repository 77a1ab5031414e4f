package mcp

import (
	"bufio"
	"errors"
	"io"
)

// maxLine is the longest line that is read from the client, in bytes without its LF.
const maxLine = 16 << 20

// errLineTooLong says that a line was longer than [maxLine]. The line has been skipped.
var errLineTooLong = errors.New("line too long")

// A lineReader reads lines that end at LF. It is for one goroutine.
type lineReader struct {
	r    *bufio.Reader
	long []byte // a line that does not fit the buffer of r
}

func newLineReader(r io.Reader) *lineReader {
	return &lineReader{r: bufio.NewReaderSize(r, 64<<10)}
}

// next returns the next line without its LF; it is valid until the call after. A last
// line may lack the LF. The error is errLineTooLong, after which reading goes on, or
// what ended the stream.
func (l *lineReader) next() ([]byte, error) {
	if cap(l.long) > 1<<20 {
		l.long = nil // One large message is no reason to hold its memory for the session.
	}
	l.long = l.long[:0]
	for {
		part, err := l.r.ReadSlice('\n')
		switch {
		case err == nil:
			part = part[:len(part)-1]
			if len(l.long)+len(part) > maxLine {
				return nil, errLineTooLong
			}
			if len(l.long) == 0 {
				return part, nil
			}
			l.long = append(l.long, part...)
			return l.long, nil
		case errors.Is(err, bufio.ErrBufferFull):
			if len(l.long)+len(part) > maxLine {
				return nil, l.skip()
			}
			l.long = append(l.long, part...)
		default:
			if len(l.long)+len(part) == 0 {
				return nil, err
			}
			// The next call sees the error again.
			l.long = append(l.long, part...)
			if len(l.long) > maxLine {
				return nil, errLineTooLong
			}
			return l.long, nil
		}
	}
}

// skip reads to the end of a line that is too long.
func (l *lineReader) skip() error {
	for {
		_, err := l.r.ReadSlice('\n')
		if !errors.Is(err, bufio.ErrBufferFull) {
			// A stream that ends here says so at the next call.
			return errLineTooLong
		}
	}
}
