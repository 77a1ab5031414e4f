package stages

import (
	"bytes"
	"iter"
	"slices"
	"sort"

	"github.com/tailrace/tailrace/internal/vector"
)

// An EventList holds events in their order, compactly: events that lie in one buffer
// with a single LF between them, as captured lines do, share one entry and are not
// copied. The zero value is an empty list. It is safe for concurrent use while nothing
// is appended.
type EventList struct {
	runs []eventRun
	n    int
	size int
	// page is where short runs are gathered, so that a list of many tiny events that lie
	// apart does not cost many times their bytes.
	page []byte
}

// An eventRun is a region in which events are separated by exactly one LF. An event
// holds no LF, so the region is written by one copy with commas for the LFs.
type eventRun struct {
	data []byte
	// before counts the events of the runs before this one, offset their size and that
	// of the commas behind them.
	before, offset int
}

const (
	// packBytes is the longest run that is gathered. Above it an entry of its own costs
	// little beside its bytes.
	packBytes    = 256
	firstPage    = 4 << 10
	largestPage  = 64 << 10
	runSeparator = 1
)

// Append adds an event, whose Raw must not be empty and holds no LF. The list keeps Raw,
// or a copy of it where that is smaller.
func (l *EventList) Append(e Event) {
	if l.n > 0 {
		l.size += runSeparator
	}
	if !l.extend(e.Raw) {
		l.settle()
		l.runs = append(l.runs, eventRun{data: e.Raw, before: l.n, offset: l.size})
	}
	l.n++
	l.size += len(e.Raw)
}

// extend takes raw into the last run where it lies right behind it, one LF apart.
func (l *EventList) extend(raw []byte) bool {
	if len(l.runs) == 0 {
		return false
	}
	last := &l.runs[len(l.runs)-1].data
	n := len(*last)
	whole := n + runSeparator + len(raw)
	if cap(*last) < whole {
		return false
	}
	// The addresses come first: where they differ, what lies behind the run is memory that
	// a source may be writing to.
	behind := (*last)[:whole]
	if &behind[n+1] != &raw[0] || behind[n] != '\n' {
		return false
	}
	*last = behind
	return true
}

// settle moves the last run to the page where it is short and nothing can extend it any
// more, to the run before it where that one ends the page.
func (l *EventList) settle() {
	k := len(l.runs) - 1
	if k < 0 || len(l.runs[k].data) > packBytes {
		return
	}
	data := l.runs[k].data
	if k > 0 && l.endsPage(l.runs[k-1].data) && cap(l.page)-len(l.page) > len(data) {
		before := &l.runs[k-1].data
		l.page = append(append(l.page, '\n'), data...)
		*before = (*before)[:len(*before)+runSeparator+len(data)]
		l.runs = l.runs[:k]
		return
	}
	if cap(l.page)-len(l.page) < len(data) {
		l.page = make([]byte, 0, min(max(2*cap(l.page), firstPage), largestPage))
	}
	at := len(l.page)
	l.page = append(l.page, data...)
	l.runs[k].data = l.page[at:]
}

// endsPage says whether a run is the last on the page.
func (l *EventList) endsPage(run []byte) bool {
	return len(l.page) > 0 && &run[len(run)-1] == &l.page[len(l.page)-1]
}

// Len returns the number of events.
func (l *EventList) Len() int { return l.n }

// Size returns the length in bytes of the first n events as they are written: joined by
// commas, without brackets. It takes time in the size of one run at most.
func (l *EventList) Size(n int) int {
	if n <= 0 {
		return 0
	}
	if n >= l.n {
		return l.size
	}
	r := &l.runs[l.runOf(n-1)]
	return r.offset + r.end(n-r.before)
}

// Fit returns the largest n for which Size(n) is at most room.
func (l *EventList) Fit(room int) int {
	if room >= l.size {
		return l.n
	}
	i := sort.Search(len(l.runs), func(i int) bool { return l.runs[i].offset > room }) - 1
	if i < 0 {
		return 0
	}
	r := &l.runs[i]
	room -= r.offset
	if room >= len(r.data) {
		return r.before + bytes.Count(r.data, lf) + 1
	}
	// Whole events up to room: as many as have their LF at or before it.
	return r.before + bytes.Count(r.data[:room+1], lf)
}

var lf = []byte{'\n'}

// runOf returns the index of the run that holds event i.
func (l *EventList) runOf(i int) int {
	return sort.Search(len(l.runs), func(k int) bool { return l.runs[k].before > i }) - 1
}

// end returns the offset in the region behind its k-th event.
func (r *eventRun) end(k int) int {
	at := 0
	for ; k > 0; k-- {
		i := bytes.IndexByte(r.data[at:], '\n')
		if i < 0 {
			return len(r.data)
		}
		at += i + 1
	}
	return at - runSeparator
}

// AppendJSON appends the first n events to dst, joined by commas, without brackets.
func (l *EventList) AppendJSON(dst []byte, n int) []byte {
	if n <= 0 {
		return dst
	}
	left := l.Size(n)
	for i := range l.runs {
		if left <= 0 {
			break
		}
		if i > 0 {
			dst = append(dst, ',')
			left--
		}
		data := l.runs[i].data
		data = data[:min(len(data), left)]
		left -= len(data)
		dst = appendCommas(dst, data)
	}
	return dst
}

// commaBytes is how much is copied before its commas are written: what the nearest
// cache holds.
const commaBytes = 16 << 10

// appendCommas appends data to dst with a comma for each LF.
func appendCommas(dst, data []byte) []byte {
	start := len(dst)
	dst = slices.Grow(dst, len(data))
	n := vector.Commas(dst[start:start+len(data)], data)
	dst, data = dst[:start+n], data[n:]
	for len(data) > 0 {
		n := min(len(data), commaBytes)
		start := len(dst)
		dst = append(dst, data[:n]...)
		commas(dst[start:])
		data = data[n:]
	}
	return dst
}

// commas writes a comma over each LF.
func commas(b []byte) {
	for {
		i := bytes.IndexByte(b, '\n')
		if i < 0 {
			return
		}
		b[i] = ','
		b = b[i+1:]
	}
}

// All yields the events' raw objects in order. They are valid until the source is closed.
func (l *EventList) All() iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for i := range l.runs {
			for data := l.runs[i].data; ; {
				k := bytes.IndexByte(data, '\n')
				if k < 0 {
					if !yield(data) {
						return
					}
					break
				}
				if !yield(data[:k]) {
					return
				}
				data = data[k+1:]
			}
		}
	}
}
