package loki

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/tailrace/tailrace/internal/backend"
)

const (
	// DefaultURL is where Loki is looked for.
	DefaultURL = "http://127.0.0.1:3100"
	// readyTimeout bounds the question whether Loki is ready, and requestTimeout one
	// request with its whole answer.
	readyTimeout   = 800 * time.Millisecond
	requestTimeout = 30 * time.Second
	// maxAnswer bounds an answer, in bytes.
	maxAnswer = 64 << 20
	// retries is how often a request is made again that a busy server turned away.
	retries = 2
)

// A client speaks to one server.
type client struct {
	base   *url.URL
	header http.Header
	http   *http.Client
	// retryAfter is the first wait before a request is made again.
	retryAfter time.Duration
}

func newClient(o *Options) (*client, error) {
	text := strings.TrimRight(strings.TrimSpace(o.URL), "/")
	if text == "" {
		text = DefaultURL
	}
	base, err := url.Parse(text)
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" || base.User != nil {
		return nil, &backend.Error{Code: backend.CodeUsage, Problem: "the URL of Loki cannot be read: give one such as " + DefaultURL + ", without a user"}
	}
	c := &client{base: base, header: http.Header{}, retryAfter: o.retryAfter}
	if o.Tenant != "" {
		c.header.Set("X-Scope-OrgID", o.Tenant)
	}
	switch {
	case o.Token != "":
		c.header.Set("Authorization", "Bearer "+o.Token)
	case o.Username != "":
		r := http.Request{Header: http.Header{}}
		r.SetBasicAuth(o.Username, o.Password)
		c.header.Set("Authorization", r.Header.Get("Authorization"))
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	if o.CA != "" {
		pem, err := os.ReadFile(o.CA)
		pool := x509.NewCertPool()
		if err != nil || !pool.AppendCertsFromPEM(pem) {
			return nil, &backend.Error{Code: backend.CodeUsage, Problem: "the file of certificates cannot be read: give one in PEM"}
		}
		transport.TLSClientConfig.RootCAs = pool
	}
	c.http = &http.Client{
		Transport: transport,
		// The headers are for this server, and for no other that it may name.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return c, nil
}

func (c *client) close() { c.http.CloseIdleConnections() }

func (c *client) url(path string, query url.Values) *url.URL {
	u := c.base.JoinPath(path)
	u.RawQuery = query.Encode()
	return u
}

// ready asks whether Loki is there.
func (c *client) ready(ctx context.Context, timeout time.Duration) error {
	if timeout <= 0 {
		timeout = readyTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	status, _, err := c.get(ctx, "/ready", nil, 4096)
	switch {
	case err != nil:
		return err
	// A gateway in front of Loki may keep this path to itself.
	case status/100 == 2, status == http.StatusNotFound, status == http.StatusMethodNotAllowed, status == http.StatusUnauthorized, status == http.StatusForbidden:
		return nil
	}
	return &backend.Error{Code: backend.CodeUnreachable, Problem: "Loki is there and not ready: wait, or see its own log"}
}

// get makes one request and returns the status and the body, up to a bound.
func (c *client) get(ctx context.Context, path string, query url.Values, limit int64) (int, []byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.url(path, query).String(), nil)
	if err != nil {
		return 0, nil, &backend.Error{Code: backend.CodeUsage, Problem: "the URL of Loki cannot be used"}
	}
	req.Header = c.header.Clone()
	resp, err := c.http.Do(req)
	if err != nil {
		return 0, nil, unreachable(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, limit+1))
	switch {
	case err != nil:
		return 0, nil, unreachable(err)
	case int64(len(body)) > limit && path != "/ready":
		return 0, nil, &backend.Error{Code: backend.CodeFailed, Problem: "the answer of Loki is larger than 64 MiB: ask for fewer lines, or for a shorter time"}
	}
	return resp.StatusCode, body, nil
}

// unreachable says why there was no answer. The errors of package net hold the address.
func unreachable(err error) error {
	problem := "Loki does not answer: start it, or give its address by url in tailrace.yaml or by HACK_LOKI_URL"
	var unknown x509.UnknownAuthorityError
	var name x509.HostnameError
	var invalid x509.CertificateInvalidError
	var timeout net.Error
	switch {
	case errors.As(err, &unknown), errors.As(err, &name), errors.As(err, &invalid):
		problem = "the certificate of Loki is not trusted: name the file of its authority by ca"
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		problem = "Loki did not answer in time: try again, or ask for a shorter time"
	}
	return &backend.Error{Code: backend.CodeUnreachable, Problem: problem}
}

// errTooMany: the server gives fewer lines at once than were asked for.
var errTooMany = errors.New("the server gives fewer lines at once")

// query makes one range query. It makes it again where the server is too busy.
func (c *client) query(ctx context.Context, query url.Values) ([]entry, error) {
	wait := c.retryAfter
	for try := 0; ; try++ {
		one, cancel := context.WithTimeout(ctx, requestTimeout)
		status, body, err := c.get(one, "/loki/api/v1/query_range", query, maxAnswer)
		cancel()
		if err != nil {
			return nil, err
		}
		if (status == http.StatusTooManyRequests || status == 502 || status == 503 || status == 504) && try < retries {
			select {
			case <-time.After(wait):
			case <-ctx.Done():
				return nil, ctx.Err()
			}
			wait *= 2
			continue
		}
		if status/100 != 2 {
			return nil, refused(status, body)
		}
		return answer(body)
	}
}

// refused says what a status means.
func refused(status int, body []byte) error {
	e := &backend.Error{Code: backend.CodeFailed, Problem: "Loki answers with HTTP status " + strconv.Itoa(status) + ": see its own log"}
	switch {
	case status == http.StatusBadRequest && strings.Contains(string(body), "max entries limit"):
		return errTooMany
	case status == http.StatusBadRequest:
		e.Code, e.Problem = backend.CodeUsage, "Loki refuses the query: check its LogQL, and the times"
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		e.Code, e.Problem = backend.CodeDenied, "Loki refuses the credentials: check token_env, or username and password_env, and tenant"
	case status == http.StatusNotFound:
		e.Problem = "there is no Loki at this URL: check its path"
	case status/100 == 3:
		e.Problem = "the server redirects: give the URL that it leads to"
	}
	return e
}

// answer reads the answer to a range query.
func answer(body []byte) ([]entry, error) {
	var a struct {
		Status string
		Data   struct {
			ResultType string
			Result     json.RawMessage
		}
	}
	if json.Unmarshal(body, &a) != nil || a.Status != "success" {
		return nil, &backend.Error{Code: backend.CodeFailed, Problem: "the answer of Loki cannot be read: check that the URL is that of Loki"}
	}
	if a.Data.ResultType != "" && a.Data.ResultType != "streams" {
		return nil, &backend.Error{Code: backend.CodeUsage, Problem: "the query gives numbers and no lines: give a log query, such as {service=\"web\"}, without rate, count_over_time and the like"}
	}
	var streams []stream
	if len(a.Data.Result) > 0 && json.Unmarshal(a.Data.Result, &streams) != nil {
		return nil, &backend.Error{Code: backend.CodeFailed, Problem: "the answer of Loki cannot be read: check that the URL is that of Loki"}
	}
	return entries(streams), nil
}
