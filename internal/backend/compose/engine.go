package compose

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/api/types/events"
	"github.com/moby/moby/client"

	"github.com/tailrace/tailrace/internal/backend"
	"github.com/tailrace/tailrace/internal/lazyregexp"
)

// The labels that Compose gives the containers of a project.
const (
	labelProject = "com.docker.compose.project"
	labelService = "com.docker.compose.service"
	labelNumber  = "com.docker.compose.container-number"
	labelOneoff  = "com.docker.compose.oneoff"
)

// errNoEngine is the problem of an engine that cannot be asked.
var errNoEngine = &backend.Error{
	Code:    backend.CodeNoDocker,
	Problem: "the Docker engine does not answer: start it, or check DOCKER_HOST and `docker context ls`",
}

// An engine is a Docker engine. It may be used by several goroutines.
type engine struct{ api *client.Client }

// dial returns the engine that an environment means. Nothing is connected yet.
func dial(env []string) (*engine, error) {
	a, err := addressOf(env)
	if err != nil {
		return nil, err
	}
	options := []client.Opt{client.WithUserAgent("tailrace")}
	if a.ca != "" || a.cert != "" {
		options = append(options, client.WithTLSClientConfig(a.ca, a.cert, a.key))
	}
	if a.host != "" {
		options = append(options, client.WithHost(a.host))
	}
	api, err := client.New(options...)
	if err != nil {
		return nil, errAddress
	}
	return &engine{api}, nil
}

func (e *engine) close() { _ = e.api.Close() }

// A container is one container of a service.
type container struct {
	id, service, instance string
	// terminal says that its log is one of plain lines; known that this was asked for.
	terminal, known bool
	// from is how far its streams were read.
	from [2]position
	// floor is the time of the first record that was read, zero where all of the log was:
	// records of a stream that are older, and of which none was read, are not asked for.
	floor time.Time
	// unreadable says that it was told that its log cannot be read.
	unreadable bool
}

// newContainer returns the container that labels tell of, nil where it is none of a
// service: those of one-off runs do not count.
func newContainer(id string, labels map[string]string) *container {
	if labels[labelService] == "" || strings.EqualFold(labels[labelOneoff], "true") {
		return nil
	}
	return &container{id: id, service: labels[labelService], instance: labels[labelNumber]}
}

// containers returns the containers of a project, those that do not run included, in the
// order of their services and instances.
func (e *engine) containers(ctx context.Context, project string) ([]*container, error) {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	list, err := e.api.ContainerList(ctx, client.ContainerListOptions{All: true, Filters: ofProject(project)})
	if err != nil {
		return nil, problem(err)
	}
	var all []*container
	for _, item := range list.Items {
		if c := newContainer(item.ID, item.Labels); c != nil {
			all = append(all, c)
		}
	}
	slices.SortStableFunc(all, func(a, b *container) int {
		if n := strings.Compare(a.service, b.service); n != 0 {
			return n
		}
		return number(a.instance) - number(b.instance)
	})
	return all, nil
}

func number(instance string) int {
	n, _ := strconv.Atoi(instance) // what is none comes first
	return n
}

func ofProject(project string) client.Filters {
	return client.Filters{}.Add("label", labelProject+"="+project)
}

// events returns what happens to the containers of a project from now on: the engine has
// taken the request when it returns.
func (e *engine) events(ctx context.Context, project string) client.EventsResult {
	return e.api.Events(ctx, client.EventsListOptions{Filters: ofProject(project).
		Add("type", string(events.ContainerEventType)).Add("event", string(events.ActionStart), string(events.ActionDestroy))})
}

// alive says whether the engine answers.
func (e *engine) alive(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	_, err := e.api.Ping(ctx, client.PingOptions{})
	return err == nil
}

// A query says what is read of a log.
type query struct {
	follow       bool
	last         int // so many of the last records; a negative number means all
	since, until time.Time
}

// logs opens the log of a container.
func (e *engine) logs(ctx context.Context, c *container, q query) (io.ReadCloser, error) {
	if !c.known {
		asked, cancel := context.WithTimeout(ctx, answerTime)
		defer cancel()
		found, err := e.api.ContainerInspect(asked, c.id, client.ContainerInspectOptions{})
		if err != nil {
			return nil, err
		}
		c.known, c.terminal = true, found.Container.Config != nil && found.Container.Config.Tty
	}
	o := client.ContainerLogsOptions{ShowStdout: true, ShowStderr: true, Timestamps: true, Follow: q.follow, Tail: "all"}
	if q.last >= 0 {
		o.Tail = strconv.Itoa(q.last)
	}
	if !q.since.IsZero() {
		o.Since = q.since.UTC().Format(time.RFC3339Nano)
	}
	if !q.until.IsZero() {
		o.Until = q.until.UTC().Format(time.RFC3339Nano)
	}
	return e.api.ContainerLogs(ctx, c.id, o)
}

// gone says whether an error means that a container is not there any more.
func gone(err error) bool {
	return errdefs.IsNotFound(err) || errdefs.IsConflict(err) // it is being removed
}

// unreadable says whether an error means that a log driver keeps nothing to be read.
func unreadable(err error) bool {
	return errdefs.IsNotImplemented(err) || strings.Contains(err.Error(), "does not support reading")
}

// problem says what is wrong with an engine.
func problem(err error) error {
	var known *backend.Error
	switch {
	case errors.As(err, &known):
		return err
	case errors.Is(err, os.ErrPermission), strings.Contains(err.Error(), "permission denied"), errdefs.IsPermissionDenied(err), errdefs.IsUnauthorized(err):
		return &backend.Error{Code: backend.CodeDenied, Problem: "the Docker engine refuses: run as a user that may use it, or check its certificates"}
	case client.IsErrConnectionFailed(err), errors.Is(err, context.DeadlineExceeded), errdefs.IsUnavailable(err):
		return errNoEngine
	case errors.Is(err, errFrame):
		return &backend.Error{Code: backend.CodeFailed, Problem: "the Docker engine answered what is no log: try `docker compose logs`"}
	}
	return &backend.Error{Code: backend.CodeFailed, Problem: "the Docker engine failed: try `docker compose logs`, and see the engine's own log"}
}

// serviceName is what the name of a service is made of. Another one is not repeated.
var serviceName = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,252}$`)

// notRead tells of a container whose log cannot be read.
func (c *container) notRead() backend.Item {
	name := "a service"
	if serviceName.MatchString(c.service) {
		name = "service " + c.service
	}
	return backend.Item{Notice: &backend.Notice{Message: "the log of " + name + " cannot be read: its log driver keeps none; use json-file, local or journald"}}
}
