package compose

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"time"

	"github.com/tailrace/tailrace/internal/utf8cut"
	"github.com/tailrace/tailrace/pipeline"
)

const (
	// maxFrame is the longest frame that is read, in bytes. The engine's are of 16 KiB.
	maxFrame = 16 << 20
	// recordBytes is how much of a long line the engine puts into one record.
	recordBytes = 16 << 10
	// stampBytes bounds the time before a record.
	stampBytes = 64
)

// errFrame says that a stream is not one of log frames.
var errFrame = errors.New("the stream of the engine is damaged")

// A line is one line of a container's log.
type line struct {
	stream pipeline.Stream
	// at is the engine's time, zero where its log driver keeps none.
	at time.Time
	// text is the line without its LF.
	text []byte
	// records is how many records of the log it consists of.
	records int
}

// A decoder makes lines of what the engine sends: frames, or plain lines where the container
// has a terminal. Long lines, which come in records of 16 KiB, are joined.
type decoder struct {
	// line takes a line, whose text is valid during the call; pause is called where nothing
	// more is at hand. They return false to stop.
	line  func(line) bool
	pause func() bool

	open [2]line // by stream: the begin of a line, text nil where there is none
	held []byte  // a plain line that does not fit the buffer of the reader
}

// decode reads to the end. It is false where it was stopped. Where the stream ends well, so
// does a line that has no LF; what broke off within one is left out.
func (d *decoder) decode(r io.Reader, terminal bool) (bool, error) {
	in := bufio.NewReaderSize(r, 64<<10)
	next := d.frame
	if terminal {
		next = d.plain
	}
	for {
		if in.Buffered() == 0 && !d.pause() {
			return false, nil
		}
		switch more, err := next(in); {
		case err == io.EOF:
			return d.flush(pipeline.Stdout) && d.flush(pipeline.Stderr) && d.pause(), nil
		case err != nil:
			d.pause()
			return true, err
		case !more:
			return false, nil
		}
	}
}

// frame reads one frame: a header of eight bytes with the stream and the length, then a
// record.
func (d *decoder) frame(in *bufio.Reader) (bool, error) {
	head, err := in.Peek(8)
	if err != nil {
		if err == io.EOF && len(head) > 0 {
			err = io.ErrUnexpectedEOF
		}
		return true, err
	}
	kind, size := head[0], int(binary.BigEndian.Uint32(head[4:]))
	if kind < 1 || kind > 2 || head[1]|head[2]|head[3] != 0 || size > maxFrame {
		return true, errFrame
	}
	stream := pipeline.Stdout
	if kind == 2 {
		stream = pipeline.Stderr
	}
	_, _ = in.Discard(len(head)) // it is in the buffer
	record, err := in.Peek(size)
	if errors.Is(err, bufio.ErrBufferFull) {
		record = make([]byte, size)
		_, err = io.ReadFull(in, record)
	} else if err == nil {
		defer func() { _, _ = in.Discard(size) }()
	}
	if err != nil {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return true, err
	}
	at, text := cutStamp(record)
	return d.record(stream, at, text), nil
}

// record takes one record, which ends with LF where the line does.
func (d *decoder) record(stream pipeline.Stream, at time.Time, text []byte) bool {
	open := &d.open[stream]
	if open.text != nil && !open.at.Equal(at) {
		// The records of one line have one time. This is another line: who wrote the one
		// before ended within it.
		if !d.flush(stream) {
			return false
		}
	}
	whole, ended := bytes.CutSuffix(text, []byte{'\n'})
	switch {
	case ended && open.text == nil:
		return d.line(line{stream: stream, at: at, text: whole, records: 1})
	case open.text == nil:
		*open = line{stream: stream, at: at, text: make([]byte, 0, 4*recordBytes)}
	}
	open.text, open.records = append(open.text, whole...), open.records+1
	if ended {
		return d.flush(stream)
	}
	if len(open.text) <= pipeline.CaptureLimit {
		return true
	}
	// More than anyone takes: it becomes several.
	n := utf8cut.Complete(open.text[:pipeline.CaptureLimit])
	ok := d.line(line{stream: stream, at: at, text: open.text[:n], records: open.records})
	open.text, open.records = append(open.text[:0], open.text[n:]...), 0
	return ok
}

// flush gives the begin of a line on as one.
func (d *decoder) flush(stream pipeline.Stream) bool {
	l := d.open[stream]
	if l.text == nil {
		return true
	}
	d.open[stream] = line{}
	return d.line(l)
}

// plain reads a line of a container with a terminal. The time stands before each of its
// records.
func (d *decoder) plain(in *bufio.Reader) (bool, error) {
	part, err := in.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		d.held = append(d.held, part...)
		if len(d.held) <= 2*pipeline.CaptureLimit {
			return true, nil
		}
		err = nil
	}
	if err != nil && (err != io.EOF || len(d.held)+len(part) == 0) {
		return true, err
	}
	text := part
	if len(d.held) > 0 {
		text, d.held = append(d.held, part...), d.held[:0]
	}
	at, rest := cutStamp(text)
	stamp := text[:len(text)-len(rest)]
	for len(stamp) > 0 && len(rest) > recordBytes+len(stamp) && bytes.HasPrefix(rest[recordBytes:], stamp) {
		if !d.record(pipeline.Stdout, at, rest[:recordBytes]) {
			return false, nil
		}
		rest = rest[recordBytes+len(stamp):]
	}
	return d.record(pipeline.Stdout, at, rest), nil
}

// cutStamp takes the time off a record. A record without one has no time.
func cutStamp(record []byte) (time.Time, []byte) {
	stamp, _, ok := bytes.Cut(record[:min(len(record), stampBytes)], []byte{' '})
	if !ok {
		return time.Time{}, record
	}
	at, err := time.Parse(time.RFC3339Nano, string(stamp))
	if err != nil {
		return time.Time{}, record
	}
	return at, record[len(stamp)+1:]
}
