package source

import (
	"bytes"
	"context"
	"errors"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/tailrace/tailrace/pipeline"
)

// ErrCompressed: a compressed file is damaged, or not complete yet.
var ErrCompressed = errors.New("the compressed file is damaged or not complete; what could be read of it is kept")

// maxWindow bounds, in bytes, what a zstd file makes its reader hold. The usual levels need
// up to 8 MiB; zstd --ultra and --long may need more, and such a file is refused.
const maxWindow = 32 << 20

// A decompressor reads what was compressed. It has no goroutines.
type decompressor interface {
	io.Reader
	Close()
}

type gzipReader struct{ *gzip.Reader }

func (r gzipReader) Close() { _ = r.Reader.Close() }

// newDecompressor returns a reader for a file that begins as compressed files do, by its
// first bytes and not by its name; nil for another. The file is not moved by it then.
func newDecompressor(f io.ReadSeeker) (decompressor, error) {
	head := make([]byte, 4)
	n, err := io.ReadFull(f, head)
	if _, back := f.Seek(0, io.SeekStart); back != nil || err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, ErrOpen
	}
	head = head[:n]
	switch {
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		r, err := gzip.NewReader(f)
		if err != nil {
			return nil, ErrCompressed
		}
		return gzipReader{r}, nil
	case bytes.Equal(head, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		r, err := zstd.NewReader(f, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return nil, ErrCompressed
		}
		return r, nil
	}
	return nil, nil
}

// Compressed says whether the file is read as what was compressed in it: whole, from its
// beginning to its end.
func (s *File) Compressed() bool { return s.unpack != nil }

func (s *File) readCompressed(ctx context.Context, yield func(pipeline.Chunk) bool) pipeline.Exit {
	defer s.unpack.Close()
	for {
		if end, over := s.over(ctx); over {
			yield(pipeline.Chunk{Cut: true})
			return pipeline.Exit{End: end}
		}
		n, err := s.unpack.Read(s.segments.room())
		if n > 0 && !yield(pipeline.Chunk{Data: s.segments.take(n)}) {
			return pipeline.Exit{End: pipeline.EndConsumer}
		}
		if errors.Is(err, io.EOF) {
			return pipeline.Exit{}
		}
		if err != nil {
			if _, over := s.over(ctx); !over {
				return pipeline.Exit{Err: ErrCompressed}
			}
		}
	}
}
