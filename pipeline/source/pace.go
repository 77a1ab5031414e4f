package source

import "time"

const (
	// gatherTime is how long the reader of a stream that trickles waits for more.
	gatherTime = 4 * time.Millisecond
	// trickleRate is the rate below which a stream trickles, in bytes per microsecond. What
	// comes in at it while a reader waits is a fraction of what a pipe holds, so that the
	// writer does not wait.
	trickleRate = 4
)

// A pace makes few reads of many small writes. To wake for each line of a stream that
// writes one a millisecond costs more than all else that is done with it. The first write
// after a silence is never held back, and later ones for gatherTime at most. The zero
// value is ready.
type pace struct {
	last  time.Time
	timer *time.Timer
}

// trickles says whether more is to be waited for after a read of n bytes.
func (p *pace) trickles(n int, now time.Time) bool {
	gap := now.Sub(p.last)
	p.last = now
	return gap < 2*gatherTime && int64(n) < gap.Microseconds()*trickleRate
}

// wait waits for gatherTime, or until stop is closed.
func (p *pace) wait(stop <-chan struct{}) {
	if p.timer == nil {
		p.timer = time.NewTimer(gatherTime)
	} else {
		p.timer.Reset(gatherTime)
	}
	select {
	case <-p.timer.C:
	case <-stop:
	}
}
