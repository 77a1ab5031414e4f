package main

import (
	"strings"
	"sync"
	"time"

	"github.com/tailrace/tailrace/internal/logline"
	"github.com/tailrace/tailrace/internal/pretty"
)

// idleBlock is how long the lines of a JSON text wait for the next one, at least, before
// they are shown without it.
const idleBlock = 250 * time.Millisecond

// A prettyLogs writes records for people. All sources of a run share it, so that days and
// columns are those of the whole output.
type prettyLogs struct {
	run *logsRun

	mu     sync.Mutex
	format *pretty.Formatter
	blocks pretty.Blocks
	out    []byte
	timer  *time.Timer // set while lines are held in a run that goes on
	closed bool
}

// newPrettyLogs returns a writer for people. Colours are for terminals, unless the user has
// set NO_COLOR or the terminal has none.
func newPrettyLogs(r *logsRun, env []string) *prettyLogs {
	o := pretty.Options{Color: r.terminal && mayColor(env), Now: r.frame.now}
	if r.labelled {
		for _, s := range r.plan.sources {
			o.Services = append(o.Services, s.Name)
		}
	}
	return &prettyLogs{run: r, format: pretty.New(o)}
}

// mayColor says whether the environment allows colours. A later entry for a variable
// counts more than an earlier one.
func mayColor(env []string) bool {
	noColor, term := "", ""
	for _, entry := range env {
		if value, ok := strings.CutPrefix(entry, "NO_COLOR="); ok {
			noColor = value
		}
		if value, ok := strings.CutPrefix(entry, "TERM="); ok {
			term = value
		}
	}
	return noColor == "" && term != "dumb"
}

// add takes a record. Its line is not kept.
func (p *prettyLogs) add(from *origin, r logline.Record) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.show(p.blocks.Add(pretty.Key{Source: from.source.Name, Service: r.Service, Instance: r.Instance, Stream: r.Stream}, r))
	if p.blocks.Holding() && p.timer == nil && p.run.o.follow && !p.closed {
		p.timer = time.AfterFunc(idleBlock, p.expire)
	}
}

func (p *prettyLogs) show(blocks []*pretty.Block) {
	for _, b := range blocks {
		p.out = p.format.AppendBlock(p.out, b.First, b.Lines)
	}
	if len(p.out) >= flushBytes {
		p.write()
	}
}

// expire shows lines that have waited for long enough.
func (p *prettyLogs) expire() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.timer == nil || p.closed {
		return
	}
	p.timer = nil
	p.show(p.blocks.Idle())
	p.write()
	if p.blocks.Holding() {
		p.timer = time.AfterFunc(idleBlock, p.expire)
	}
}

// end shows what is held of a source that has ended, or of all for nil.
func (p *prettyLogs) end(from *origin) {
	p.mu.Lock()
	defer p.mu.Unlock()
	source := ""
	if from != nil {
		source = from.source.Name
	}
	p.show(p.blocks.End(source))
}

func (p *prettyLogs) flush() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.write()
}

func (p *prettyLogs) write() {
	p.run.write(p.out)
	if p.out = p.out[:0]; cap(p.out) > 4*flushBytes {
		p.out = nil // a long line made it large
	}
}

// close shows what is left, and ends the timer.
func (p *prettyLogs) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.show(p.blocks.End(""))
	p.write()
	p.closed = true
	if p.timer != nil {
		p.timer.Stop()
	}
}

// forPeople says whether lines are shown for people: where that was asked for, and on a
// terminal unless it was asked not to.
func (o *logsOptions) forPeople(terminal bool) bool {
	switch {
	case o.json:
		return false
	case o.prettyGiven:
		return o.pretty
	}
	return terminal
}
