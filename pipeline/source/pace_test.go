package source

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p pace
		for _, c := range []struct {
			gap  time.Duration
			n    int
			want bool
		}{
			{time.Hour, 1, false},               // the first
			{time.Millisecond, 100, true},       // one line a millisecond
			{gatherTime, 400, true},             // what came in meanwhile
			{time.Millisecond, 64 << 10, false}, // a burst
			{10 * time.Microsecond, 350, false}, // many small writes a millisecond
			{time.Second, 350, false},           // after a silence
			{2 * time.Millisecond, 350, true},   // and again
		} {
			time.Sleep(c.gap)
			if got := p.trickles(c.n, time.Now()); got != c.want {
				t.Errorf("%d bytes after %v: %v", c.n, c.gap, got)
			}
		}
		began := time.Now()
		p.wait(nil)
		p.wait(nil)
		if took := time.Since(began); took != 2*gatherTime {
			t.Errorf("two waits took %v", took)
		}
		stop := make(chan struct{})
		close(stop)
		p.wait(stop)
		if took := time.Since(began); took != 2*gatherTime {
			t.Errorf("a stop is waited for: %v", took)
		}
	})
}
