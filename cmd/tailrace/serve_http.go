package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/tailrace/tailrace/mcp"
)

// httpFlags are the flags of the server over HTTP. They hold with --http only.
type httpFlags struct {
	address, tokenFile string
	certFile, keyFile  string
	insecure           bool
	hosts, origins     []string
	maxSessions        int
	idle               time.Duration
}

// httpOnly are the names of the flags that need --http.
var httpOnly = []string{"token-file", "tls-cert", "tls-key", "insecure-listen", "allow-host", "allow-origin", "max-sessions", "session-idle"}

// bind adds the flags to a command.
func (f *httpFlags) bind(cmd *cobra.Command) {
	flags := cmd.Flags()
	f.maxSessions = mcp.DefaultMaxSessions
	flags.StringVar(&f.address, "http", "", "serve over HTTP on `ADDRESS:PORT`, such as 127.0.0.1:8931, instead of stdin and stdout")
	flags.StringVar(&f.tokenFile, "token-file", "", "read the bearer token from `FILE`; without it one is made and printed to stderr")
	flags.StringVar(&f.certFile, "tls-cert", "", "serve HTTPS with the certificate chain in `FILE` (PEM)")
	flags.StringVar(&f.keyFile, "tls-key", "", "the key of the certificate, in `FILE` (PEM)")
	flags.BoolVar(&f.insecure, "insecure-listen", false, "allow an address that other machines reach, without TLS: the token crosses the network in clear text")
	flags.StringSliceVar(&f.hosts, "allow-host", nil, "also accept requests to these host `NAMES`, for a proxy in front")
	flags.StringSliceVar(&f.origins, "allow-origin", nil, "also accept requests of pages of these `ORIGINS`, as https://name:port")
	flags.Var(&count{&f.maxSessions}, "max-sessions", "at most `N` sessions at once")
	flags.DurationVar(&f.idle, "session-idle", mcp.DefaultSessionIdle, "end a session that has sent nothing for this `TIME`")
}

// check returns a [usageError] where the flags do not fit each other.
func (f *httpFlags) check(cmd *cobra.Command) error {
	if f.address == "" {
		if cmd.Flags().Changed("http") {
			return &usageError{"--http takes ADDRESS:PORT, such as 127.0.0.1:8931"}
		}
		for _, name := range httpOnly {
			if cmd.Flags().Changed(name) {
				return &usageError{"--" + name + " goes with --http"}
			}
		}
	}
	switch {
	case (f.certFile == "") != (f.keyFile == ""):
		return &usageError{"--tls-cert and --tls-key go together"}
	case f.maxSessions < 1 || f.maxSessions > mcp.MaxMaxSessions:
		return &usageError{"--max-sessions takes 1 to 1024"}
	case f.idle < time.Second:
		return &usageError{"--session-idle takes a time of at least 1s"}
	}
	return nil
}

// serveHTTP serves until a signal ends it.
func (f *httpFlags) serveHTTP(a *app, o mcp.HTTPOptions) error {
	scheme := "http"
	if f.certFile != "" {
		pair, err := tls.LoadX509KeyPair(f.certFile, f.keyFile)
		if err != nil {
			// The error of the library names the files.
			return &usageError{"--tls-cert and --tls-key: the files must hold a certificate and its key as PEM, readable for this user"}
		}
		scheme, o.TLS = "https", &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	}
	token := ""
	if f.tokenFile != "" {
		var err error
		if o.Token, err = mcp.ReadToken(f.tokenFile); err != nil {
			return &usageError{"--token-file: " + err.Error()}
		}
	} else {
		token = mcp.NewToken()
		o.Token = token
	}
	o.Hosts, o.Origins, o.MaxSessions, o.SessionIdle = f.hosts, f.origins, f.maxSessions, f.idle

	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt, syscall.SIGHUP)
	defer stop()
	defer brokenPipes()()
	ln, err := mcp.Listen(f.address, f.insecure || o.TLS != nil)
	if err != nil {
		return &usageError{"--http: " + err.Error()}
	}
	fmt.Fprintf(a.Stderr, "tailrace: serving MCP at %s://%s%s\n", scheme, ln.Addr(), mcp.HTTPPath)
	if token != "" {
		fmt.Fprintf(a.Stderr, "tailrace: token, for Authorization: Bearer, until this server ends: %s\n", token)
	}
	return mcp.ServeHTTP(ctx, ln, o)
}
