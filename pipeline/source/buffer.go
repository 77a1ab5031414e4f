package source

import (
	"math/bits"
	"sync"
)

const (
	// largestRead is how much one read may take. Pipes rarely hold more than 64 KiB;
	// files do.
	largestRead = 256 << 10
	// smallestRead is the least room that is worth a read.
	smallestRead = 4 << 10
	// pooledBytes is the size from which a buffer is worth keeping for the next run.
	pooledBytes = 1 << 20
)

// buffers keeps the large buffers of runs that are over, by size class: those of at least
// 2^i bytes and less than twice that at i. Clearing and mapping 8 MiB costs more than
// reading them.
var buffers [bits.UintSize]sync.Pool

func sizeClass(size int) int { return bits.Len(uint(size)) - 1 }

// A segments hands out memory to read into. What it handed out before is never handed
// out again, and consecutive pieces are adjacent as long as they fit one segment.
type segments struct {
	free   []byte
	next   int // the size of the next segment
	pooled *[]byte
}

// newSegments returns segments of which the first has size bytes.
func newSegments(size int) *segments {
	s := &segments{next: largestRead}
	if size < pooledBytes {
		s.free = make([]byte, max(size, smallestRead))
		return s
	}
	if b, ok := buffers[sizeClass(size)].Get().(*[]byte); ok && len(*b) >= size {
		s.pooled = b
	} else {
		fresh := make([]byte, size)
		useHugePages(fresh)
		s.pooled = &fresh
	}
	s.free = *s.pooled
	return s
}

// room returns memory for one read.
func (s *segments) room() []byte {
	if len(s.free) < smallestRead {
		s.free = make([]byte, s.next)
	}
	return s.free[:min(len(s.free), largestRead)]
}

// take says that the first n bytes of the last room are in use, and returns them. Their
// capacity reaches into what follows, by which a consumer sees that pieces are adjacent.
func (s *segments) take(n int) []byte {
	b := s.free[:n]
	s.free = s.free[n:]
	return b
}

// release gives the large buffer back. Nothing that was taken is valid afterwards.
func (s *segments) release() {
	if s.pooled != nil {
		buffers[sizeClass(len(*s.pooled))].Put(s.pooled)
		s.pooled, s.free = nil, nil
	}
}
