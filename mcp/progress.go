package mcp

import (
	"encoding/json"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/tailrace/tailrace/internal/jsonstr"
	"github.com/tailrace/tailrace/pipeline"
	"github.com/tailrace/tailrace/stages"
)

// progressEvery is the time between two progress notifications. Clients wait 60 s by
// default, and longer only where they hear of progress.
const progressEvery = 2 * time.Second

// A meter counts what a call has collected. It is safe for concurrent use.
type meter struct {
	bytes, events atomic.Int64
}

// options returns the hooks that feed the meter.
func (m *meter) options() stages.CollectOptions {
	return stages.CollectOptions{
		OnChunk: func(c pipeline.Chunk) { m.bytes.Add(int64(len(c.Data))) },
		OnEvent: func(stages.Event) { m.events.Add(1) },
	}
}

// watch calls report with the time since its own start, again and again and with ever
// more milliseconds, on one goroutine, until stop is called. Stop returns when the last
// report has; none follows.
func watch(every time.Duration, report func(elapsed time.Duration)) (stop func()) {
	started := time.Now()
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(every)
		defer tick.Stop()
		last := time.Duration(-1)
		for {
			select {
			case <-quit:
				return
			case <-tick.C:
				// A late tick can come right before the next one.
				if elapsed := time.Since(started).Truncate(time.Millisecond); elapsed > last {
					last = elapsed
					report(elapsed)
				}
			}
		}
	}()
	return func() {
		close(quit)
		<-done
	}
}

// progressFrame returns the frame of a progress notification: value and total are
// milliseconds. Token is written as the client wrote it.
func progressFrame(token json.RawMessage, elapsed, total time.Duration, m *meter) []byte {
	text := fmt.Sprintf("%d events, %d bytes", m.events.Load(), m.bytes.Load())
	frame := make([]byte, 0, len(token)+192)
	frame = append(frame, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":`...)
	frame = append(frame, token...)
	frame = append(frame, `,"progress":`...)
	frame = strconv.AppendInt(frame, elapsed.Milliseconds(), 10)
	frame = append(frame, `,"total":`...)
	frame = strconv.AppendInt(frame, total.Milliseconds(), 10)
	frame = append(frame, `,"message":"`...)
	frame = jsonstr.Append(frame, []byte(text))
	return append(frame, "\"}}\n"...)
}
