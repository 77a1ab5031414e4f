package mcp

import (
	"errors"
	"net"
	"strconv"
)

// The errors of [Listen].
var (
	// ErrListenAddress says that the address is none.
	ErrListenAddress = errors.New("the address to listen on must be ADDRESS:PORT with an IP address or localhost, such as 127.0.0.1:8931; port 0 picks a free one")
	// ErrListenOpen says that the address can be reached from other machines, and that
	// the token would cross the network in clear text.
	ErrListenOpen = errors.New("the address can be reached from other machines: listen on 127.0.0.1, give a certificate with --tls-cert and --tls-key, or allow it with --insecure-listen")
	// ErrListen says that the system refused.
	ErrListen = errors.New("the address cannot be listened on: the port may be in use, need rights, or the address may not be of this machine")
)

// Listen listens on a TCP address for [ServeHTTP]. One that other machines can reach is
// refused with [ErrListenOpen] unless open says that it is meant, as with TLS.
func Listen(address string, open bool) (net.Listener, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, ErrListenAddress
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || strconv.FormatUint(n, 10) != port {
		return nil, ErrListenAddress
	}
	ip := net.ParseIP(host)
	switch {
	case host == "localhost":
		ip = net.IPv4(127, 0, 0, 1) // A resolver may say otherwise.
	case host == "":
		ip = net.IPv6unspecified
	case ip == nil:
		return nil, ErrListenAddress
	}
	if !ip.IsLoopback() && !open {
		return nil, ErrListenOpen
	}
	ln, err := net.Listen("tcp", net.JoinHostPort(ip.String(), port))
	if err != nil {
		return nil, ErrListen
	}
	return ln, nil
}
