package main

import (
	"context"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/tailrace/tailrace/pipeline"
	"github.com/tailrace/tailrace/pipeline/source"
)

// killedPatience is how long a run has to end once its command was killed. It needs
// longer only where it writes to somebody who has stopped reading.
const killedPatience = 2 * time.Second

// endSignals are the signals that end a command of ours. One that was ignored from the
// start, as nohup does with SIGHUP, is left ignored; SIGINT is not, since shells ignore
// it for whatever runs behind a script.
func endSignals() []os.Signal {
	list := []os.Signal{syscall.SIGINT, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		list = append(list, syscall.SIGHUP)
	}
	return list
}

// A caughtSignals turns the first signal into a stop, the second into a kill.
type caughtSignals struct {
	first   atomic.Pointer[syscall.Signal]
	child   atomic.Pointer[source.Child] // nil before it is started
	signals chan os.Signal
	done    chan struct{}
}

// catchSignals catches the signals of a run, from before its command is started. exit ends the program with a code where the
// run does not end by itself after a kill; the guard then ends what is left.
func catchSignals(cancel context.CancelCauseFunc, exit func(int)) *caughtSignals {
	c := &caughtSignals{signals: make(chan os.Signal, 2), done: make(chan struct{})}
	signal.Notify(c.signals, endSignals()...)
	go func() {
		defer close(c.done)
		var last *time.Timer
		for s := range c.signals {
			if sig, ok := s.(syscall.Signal); ok && c.first.CompareAndSwap(nil, &sig) {
				cancel(pipeline.ErrInterrupted)
				continue
			}
			if child := c.child.Load(); child != nil {
				child.Shorten(0)
			}
			if last == nil {
				last = time.AfterFunc(killedPatience, func() { exit(c.code()) })
				defer last.Stop()
			}
		}
	}()
	return c
}

// code is the exit code of a program that the first signal ended; 0 without one.
func (c *caughtSignals) code() int {
	if sig := c.first.Load(); sig != nil {
		return 128 + int(*sig)
	}
	return 0
}

func (c *caughtSignals) release() {
	signal.Stop(c.signals)
	close(c.signals)
	<-c.done
}
