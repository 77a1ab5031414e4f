package main

import (
	"fmt"
	"os"
	"slices"
	"time"

	"golang.org/x/term"
)

// progressEvery is the time between two looks of the progress line.
const progressEvery = 100 * time.Millisecond

// A progressLine is one line at the bottom of a terminal. Its methods run under the
// screen's lock; erasing a nil line does nothing.
type progressLine struct {
	w     *os.File
	drawn bool
}

func (p *progressLine) erase() {
	if p != nil && p.drawn {
		fmt.Fprint(p.w, "\r\x1b[K")
		p.drawn = false
	}
}

func (p *progressLine) draw(text string) {
	width, _, err := term.GetSize(int(p.w.Fd()))
	if err != nil || width < 2 {
		width = 80
	}
	fmt.Fprintf(p.w, "\r\x1b[K%.*s", width-1, text)
	p.drawn = true
}

// startProgress shows the progress line on a terminal until the returned stop is called.
func (w *runOutput) startProgress() (stop func()) {
	if !w.terminal[1] || w.o.quiet || slices.Contains(w.a.Env, "TERM=dumb") {
		return func() {}
	}
	w.progress = &progressLine{w: w.a.Stderr.(*os.File)}
	quit, done := make(chan struct{}), make(chan struct{})
	began := time.Now()
	go func() {
		defer close(done)
		tick := time.NewTicker(progressEvery)
		defer tick.Stop()
		for {
			select {
			case <-quit:
				return
			case <-tick.C:
				w.screen.Lock()
				// A line that is not finished would be overwritten, and one that is not
				// flushed would be written behind the progress.
				if !w.inside && w.stdout.Buffered() == 0 {
					w.progress.draw(w.progressText(time.Since(began)))
				}
				w.screen.Unlock()
			}
		}
	}()
	return func() {
		close(quit)
		<-done
		w.screen.Lock()
		w.progress.erase()
		w.screen.Unlock()
	}
}

// progressText is bytes, events, rate and the time that is left.
func (w *runOutput) progressText(elapsed time.Duration) string {
	bytes := w.bytes.Load()
	text := fmt.Sprintf("%s  %s  %s/s  %ds", sizeText(bytes), plural(w.events.Load(), "event"),
		sizeText(int64(float64(bytes)/max(elapsed.Seconds(), 0.001))), int(elapsed.Seconds()))
	if left := w.o.bounds.MaxTime - elapsed; w.o.bounds.MaxTime > 0 && left > 0 {
		text += fmt.Sprintf("  %ds left", int(left.Seconds()+0.999))
	}
	return text
}
