package compose

import (
	"time"
)

// A position is how far one stream of a container was read: the latest time of a record, and
// how many records came since, with the first of that time. Records are what the log driver
// keeps: a long line is several.
//
// It is no time alone, since lines can have the same one, and since times go back where the
// clock does. The zero value is that of a stream of which nothing was read.
type position struct {
	latest time.Time
	count  int
}

// add moves the position over so many records of one time.
func (p *position) add(t time.Time, records int) {
	if p.latest.IsZero() || t.After(p.latest) {
		p.latest, p.count = t, 0
	}
	p.count += records
}

// A resume leaves out what was read before of a stream that is read again, from a time
// before that of its position.
type resume struct {
	from  position
	at    bool // the record of the position has come
	count int  // how many came since, with it
	over  bool // what comes is new
}

// known says whether records of one time were read before. It is asked for each line, in
// their order.
func (r *resume) known(t time.Time, records int) bool {
	switch {
	case r.over, r.from.latest.IsZero():
		return false
	case r.at:
	case t.Before(r.from.latest):
		return true
	case t.After(r.from.latest), r.from.count == 0:
		// It is gone, where there was one: its file was rotated away.
		r.over = true
		return false
	default:
		r.at = true
	}
	r.count += records
	r.over = r.count >= r.from.count
	return true
}
