package mcp_test

import (
	"context"
	"log"
	"os"
	"os/signal"
	"syscall"

	"github.com/tailrace/tailrace/mcp"
)

// A program of your own that serves the log tools on its standard streams.
func Example() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt, syscall.SIGHUP)
	defer stop()
	// A client that went away becomes a write error. Ignoring the signal instead would
	// be inherited by the commands.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)

	if err := mcp.Serve(ctx, mcp.Options{Version: "1.0.0", Stdin: os.Stdin, Stdout: os.Stdout}); err != nil {
		log.Fatal(err)
	}
}
