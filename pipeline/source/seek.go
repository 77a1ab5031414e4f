package source

import (
	"bytes"
	"io"
	"time"
)

const (
	// seekFrom is the size from which seeking is worth it: a smaller file is read whole.
	seekFrom = 4 << 20
	// probeBytes is one read of a probe, and maxProbe how far a probe looks for a time.
	probeBytes = 64 << 10
	maxProbe   = 1 << 20
	// slack is how far around the found places is read too: writers that share a file are
	// out of order by a little.
	slack = 1 << 20
	// samples is at how many places a file is looked at to see whether it is in order.
	samples = 16
)

// A timeRange is a range of times in a file whose lines carry one.
type timeRange struct {
	since, until time.Time
	time         func(line []byte) (time.Time, bool)
}

func (s *File) window() timeRange {
	w := timeRange{s.o.Since, s.o.Until, s.o.Time}
	if s.o.Follow {
		w.until = time.Time{} // what comes is not there yet
	}
	return w
}

func (w timeRange) set() bool {
	return w.time != nil && (!w.since.IsZero() || !w.until.IsZero())
}

// A place is a line that carries a time.
type place struct {
	offset int64
	at     time.Time
}

// A prober looks at places of a file.
type prober struct {
	f    io.ReaderAt
	size int64
	time func([]byte) (time.Time, bool)
	seen []place
	bad  bool // a place without a time, a failed read, or two places out of order
}

// find returns where reading starts, and where it ends. Where lines without a time, or out
// of order, make that unsafe, it returns the whole file. It reads a number of blocks that
// grows with the logarithm of the size.
func (w timeRange) find(f io.ReaderAt, size int64) (from, to int64) {
	if size < seekFrom {
		return 0, size
	}
	p := &prober{f: f, size: size, time: w.time}
	for i := range int64(samples) {
		p.probe(size / samples * i)
	}
	from, to = 0, size
	if !w.since.IsZero() {
		if before, _ := p.search(func(t time.Time) bool { return !t.Before(w.since) }); before > slack {
			from = p.probe(before - slack).offset
		}
	}
	if !w.until.IsZero() {
		if _, after := p.search(func(t time.Time) bool { return t.After(w.until) }); after < size-slack {
			to = p.probe(after + slack).offset
		}
	}
	if p.bad || to < from {
		return 0, size
	}
	return from, to
}

// search returns two offsets near each other: no line up to the first is past a border,
// and each from the second on is.
func (p *prober) search(past func(time.Time) bool) (before, after int64) {
	before, after = 0, p.size
	for after-before > probeBytes && !p.bad {
		mid := before + (after-before)/2
		if at := p.probe(mid); at.offset >= p.size || past(at.at) {
			after = mid
		} else {
			before = mid
		}
	}
	return before, after
}

// probe returns the first line from an offset on that carries a time, and the size of the
// file where there is none up to its end.
func (p *prober) probe(offset int64) place {
	block := make([]byte, probeBytes)
	inside := offset > 0 // the first line is not whole
	for start := offset; start < min(p.size, offset+maxProbe); {
		n, err := p.f.ReadAt(block, start)
		if err != nil && err != io.EOF {
			break
		}
		b, next := block[:n], start
		if inside {
			i := bytes.IndexByte(b, '\n')
			if i < 0 {
				start += int64(n)
				continue
			}
			b, next, inside = b[i+1:], next+int64(i)+1, false
		}
		for len(b) > 0 {
			line := b
			i := bytes.IndexByte(b, '\n')
			if i < 0 && n == len(block) && next > start {
				break // not whole yet: it begins the next block
			}
			if i >= 0 {
				line = b[:i]
			}
			if at, ok := p.time(line); ok {
				found := place{next, at}
				p.note(found)
				return found
			}
			if i < 0 {
				inside = true // longer than a block, without a time
				next += int64(len(b))
				break
			}
			b, next = b[i+1:], next+int64(i)+1
		}
		if start = next; n < len(block) {
			return place{offset: p.size}
		}
	}
	if offset+maxProbe < p.size {
		p.bad = true
	}
	return place{offset: p.size}
}

// note keeps a place, and sees whether all of them are in order.
func (p *prober) note(found place) {
	for _, other := range p.seen {
		if other.offset < found.offset && other.at.After(found.at) || other.offset > found.offset && other.at.Before(found.at) {
			p.bad = true
		}
	}
	p.seen = append(p.seen, found)
}
