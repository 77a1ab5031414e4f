package lifecycle

import (
	"context"
	"encoding/json"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/tailrace/tailrace/internal/composefile"
	"github.com/tailrace/tailrace/internal/lazyregexp"
)

// hostRE is what a host name is made of.
var hostRE = lazyregexp.New(`^[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)*$`)

// The errors of [Address].
var (
	ErrTarget    = &Error{Code: CodeUsage, Text: "the target is a service, a subdomain, a host name, or an address that begins with http:// or https://"}
	ErrDevHost   = &Error{Code: CodeConfig, Text: "the host for development is no host name: correct dev_host in hack.config.json, or devHost in projects.json"}
	ErrNoAddress = &Error{Code: CodeNoService, Text: "there is no address: no running container publishes a port, and the project has no host for development; publish a port in the compose file and run `tailrace up --detach`, or give a host with `tailrace init --dev-host`"}
)

// Address returns the address of an instance of a project, or of a target in it. A target
// with http:// or https:// is the address itself. Where the project has a host for
// development, the address lies below it, with the branch before the host: https://HOST,
// https://TARGET.HOST; a target with a dot is a host of its own. Else it is the port that
// the service, or the first service that has one, publishes on this machine.
func Address(ctx context.Context, newDocker func() (*Docker, error), t *Target, target string) (string, error) {
	if strings.HasPrefix(target, "http://") || strings.HasPrefix(target, "https://") {
		u, err := url.Parse(target)
		if err != nil || !hostRE.MatchString(u.Hostname()) || u.User != nil {
			return "", ErrTarget
		}
		return u.String(), nil
	}
	if target != "" && !hostRE.MatchString(target) && !nameRE.MatchString(target) {
		return "", ErrTarget
	}
	host := t.set.Config().DevHost
	if host == "" {
		host = t.Project.DevHost
	}
	if host != "" {
		return routed(host, target, t.Branch)
	}
	d, err := newDocker()
	if err != nil {
		return "", err
	}
	return d.published(ctx, t, target)
}

func routed(host, target, branch string) (string, error) {
	if slug := composefile.BranchSlug(branch); slug != "" {
		host = slug + "." + host
	}
	switch {
	case target == "" || target == "www":
	case strings.Contains(target, "."):
		host = target
	default:
		host = target + "." + host
	}
	if !hostRE.MatchString(host) {
		return "", ErrDevHost
	}
	return "https://" + host, nil
}

// published is the address of a port that a running container publishes.
func (d *Docker) published(ctx context.Context, t *Target, service string) (string, error) {
	status, err := d.Ps(ctx, t)
	if err != nil {
		return "", err
	}
	type publisher struct {
		URL                       string
		TargetPort, PublishedPort int
		Protocol                  string
	}
	type container struct {
		Service, State string
		Publishers     []publisher
	}
	var all []container
	for _, item := range status.Items {
		var c container
		if json.Unmarshal(item, &c) == nil && c.State == "running" && (service == "" || service == "www" || c.Service == service) {
			all = append(all, c)
		}
	}
	slices.SortStableFunc(all, func(a, b container) int { return strings.Compare(a.Service, b.Service) })
	for _, c := range all {
		slices.SortStableFunc(c.Publishers, func(a, b publisher) int { return a.TargetPort - b.TargetPort })
		for _, p := range c.Publishers {
			if p.PublishedPort <= 0 || p.Protocol == "udp" {
				continue
			}
			scheme := "http"
			if p.TargetPort == 443 || p.TargetPort == 8443 {
				scheme = "https"
			}
			return scheme + "://" + net.JoinHostPort(localHost(p.URL), strconv.Itoa(p.PublishedPort)), nil
		}
	}
	return "", ErrNoAddress
}

// localHost is the host that reaches a published port from this machine.
func localHost(address string) string {
	ip := net.ParseIP(address)
	if ip == nil || ip.IsUnspecified() {
		return "localhost"
	}
	return ip.String()
}
