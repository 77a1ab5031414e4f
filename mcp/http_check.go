package mcp

import (
	"crypto/sha256"
	"crypto/subtle"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// What refused requests are told. Each text is fixed and says what to do.
const (
	sayHost     = "forbidden: the Host of the request is not one of this server; see --allow-host"
	sayOrigin   = "forbidden: requests of other origins are refused; see --allow-origin"
	sayToken    = "unauthorized: send the header Authorization: Bearer TOKEN with the token of this server"
	sayPath     = "not found: the paths are /mcp, /metrics and /healthz"
	sayMethod   = "method not allowed"
	sayDraining = "the server is ending"
)

// ServeHTTP checks a request and passes it on.
func (h *httpServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	// Deadlines of an earlier request of the connection are over with this one.
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(writeTime))
	w.Header().Set("X-Content-Type-Options", "nosniff")
	switch {
	case !h.hostAllowed(r):
		h.refuse(w, http.StatusForbidden, sayHost)
		return
	case !h.originAllowed(r):
		h.refuse(w, http.StatusForbidden, sayOrigin)
		return
	}
	if r.URL.Path == "/healthz" {
		h.health(w, r)
		return
	}
	if !h.authorized(r) {
		challenge := `Bearer realm="tailrace"`
		if r.Header.Get("Authorization") != "" {
			challenge += `, error="invalid_token"`
		}
		w.Header().Set("WWW-Authenticate", challenge)
		h.refuse(w, http.StatusUnauthorized, sayToken)
		return
	}
	switch r.URL.Path {
	case HTTPPath:
		h.endpoint(w, r)
	case "/metrics":
		if h.reads(w, r) {
			h.metrics.ServeHTTP(w, r)
		}
	default:
		h.refuse(w, http.StatusNotFound, sayPath)
	}
}

// endpoint serves the MCP endpoint.
func (h *httpServer) endpoint(w http.ResponseWriter, r *http.Request) {
	if h.draining.Load() {
		w.Header().Set("Connection", "close")
		h.refuse(w, http.StatusServiceUnavailable, sayDraining)
		return
	}
	switch r.Method {
	case http.MethodPost:
		h.post(w, r)
	case http.MethodGet:
		h.get(w, r)
	case http.MethodDelete:
		h.delete(w, r)
	default:
		w.Header().Set("Allow", "DELETE, GET, POST")
		h.refuse(w, http.StatusMethodNotAllowed, sayMethod)
	}
}

// reads says whether the method of r only reads, and refuses it where it does not.
func (h *httpServer) reads(w http.ResponseWriter, r *http.Request) bool {
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return true
	}
	w.Header().Set("Allow", "GET, HEAD")
	h.refuse(w, http.StatusMethodNotAllowed, sayMethod)
	return false
}

func (h *httpServer) health(w http.ResponseWriter, r *http.Request) {
	if !h.reads(w, r) {
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	if h.draining.Load() {
		h.refuse(w, http.StatusServiceUnavailable, sayDraining)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = io.WriteString(w, "ok\n")
}

// refuse answers with a status and a fixed text.
func (h *httpServer) refuse(w http.ResponseWriter, status int, text string) {
	h.metrics.refused(status)
	http.Error(w, text, status)
}

// authorized compares the tokens by their digests, so that the time it takes tells
// nothing of the right one, its length included.
func (h *httpServer) authorized(r *http.Request) bool {
	values := r.Header.Values("Authorization")
	if len(values) != 1 {
		return false
	}
	scheme, token, _ := strings.Cut(values[0], " ")
	given := sha256.Sum256([]byte(strings.TrimLeft(token, " ")))
	same := subtle.ConstantTimeCompare(given[:], h.token[:]) == 1
	return same && strings.EqualFold(scheme, "Bearer")
}

// hostAllowed says whether the request names a host of this server. A page whose name was
// rebound to this machine names its own.
func (h *httpServer) hostAllowed(r *http.Request) bool {
	name := strings.ToLower(hostName(r.Host))
	if h.hosts[name] {
		return true
	}
	local := localIP(r)
	if ip := net.ParseIP(name); ip != nil {
		return ip.Equal(local) || ip.IsLoopback() && local.IsLoopback()
	}
	return name == "localhost" && local.IsLoopback()
}

// originAllowed says whether a page that sends the request, if one does, is of this server
// or of an origin that was allowed.
func (h *httpServer) originAllowed(r *http.Request) bool {
	values := r.Header.Values("Origin")
	if len(values) == 0 {
		return true
	}
	if len(values) > 1 {
		return false
	}
	origin := strings.ToLower(values[0])
	if h.origins[origin] {
		return true
	}
	scheme := "http"
	if r.TLS != nil {
		scheme = "https"
	}
	u, err := url.Parse(origin)
	return err == nil && u.Scheme == scheme && u.Host != "" && u.Host == strings.ToLower(r.Host) && origin == u.Scheme+"://"+u.Host
}

// hostName returns host without its port and without the brackets of an IPv6 address.
func hostName(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		return name
	}
	return strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
}

// localIP returns the address that the request came in by; nil if it is not known.
func localIP(r *http.Request) net.IP {
	if a, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr); ok {
		return a.IP
	}
	return nil
}

func setOf(names []string) map[string]bool {
	set := make(map[string]bool, len(names))
	for _, n := range names {
		set[strings.ToLower(n)] = true
	}
	return set
}
