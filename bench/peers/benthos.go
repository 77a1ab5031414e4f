package main

import (
	"context"
	"fmt"
	"io"
	"runtime/debug"
	"sync"

	_ "github.com/redpanda-data/benthos/v4/public/components/io"
	_ "github.com/redpanda-data/benthos/v4/public/components/pure"
	"github.com/redpanda-data/benthos/v4/public/service"

	"github.com/tailrace/tailrace/stages"
)

// benthos reads the file as lines and parses each; the raw lines then go through our own
// budget, which spares it to write JSON.
func benthos() *peer {
	work := func(ctx context.Context, in *input) ([]byte, error) {
		b := service.NewStreamBuilder()
		if err := b.SetLoggerYAML("level: OFF"); err != nil {
			return nil, err
		}
		if err := b.AddInputYAML(fmt.Sprintf("file:\n  paths: [ %q ]\n  scanner:\n    lines:\n      max_buffer_size: 16777216\n", in.file)); err != nil {
			return nil, err
		}
		var mu sync.Mutex
		c := stages.Collection{}
		logs := 0
		err := b.AddConsumerFunc(func(_ context.Context, m *service.Message) error {
			parsed, err := m.AsStructured()
			if err != nil {
				return nil // not an event
			}
			event, ok := parsed.(map[string]any)
			if !ok {
				return nil
			}
			raw, err := m.AsBytes()
			if err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			if event["type"] == "log" {
				logs++
			}
			c.Events.Append(stages.Event{Raw: raw})
			return nil
		})
		if err != nil {
			return nil, err
		}
		stream, err := b.Build()
		if err != nil {
			return nil, err
		}
		if err := stream.Run(ctx); err != nil {
			return nil, err
		}
		result, _ := stages.Budget{}.AppendResult(nil, &stages.Payload{OK: true, Command: "benthos", Log: &stages.LogData{Events: &c.Events}})
		return result, nil
	}
	return &peer{
		name: "Benthos", version: moduleVersion("github.com/redpanda-data/benthos/v4"), against: oursWarm, verify: verifyResult(true), result: work,
		about: "public/service: file input with the lines scanner, each message parsed; our budget; no child process, no stdout",
		timed: func(ctx context.Context, in *input) error {
			return toNull(func(w io.Writer) error {
				result, err := work(ctx, in)
				if err != nil {
					return err
				}
				_, err = w.Write(result)
				return err
			})
		},
	}
}

// moduleVersion is the version of a module in this program.
func moduleVersion(path string) string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, m := range info.Deps {
		if m.Path == path {
			return m.Version
		}
	}
	return ""
}
