package compose

import (
	"context"
	"iter"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tailrace/tailrace/internal/backend"
)

const (
	// maxContainers is how many containers are read: each has a connection.
	maxContainers = 256
	// answerTime bounds how long the engine may take to answer a question.
	answerTime = 10 * time.Second
	// awayTime is how long a follow waits for an engine that does not answer any more.
	awayTime = 5 * time.Second
)

// Options say what is read.
type Options struct {
	// Project is the name of the compose project, with its branch.
	Project string
	// Services are the services that are read; none means all.
	Services []string
	// Env is the environment that says which engine is meant, as "KEY=value" strings: that
	// of DOCKER_HOST, or of the context of the docker command.
	Env []string
	// Lines is how many of the last lines of each container are read, or, in a follow, are
	// begun with. A negative number means all.
	Lines int
	// Follow goes on with new lines.
	Follow bool
	// Since and Until bound the times of the lines, both included; zero means no bound. A
	// follow has no end.
	Since, Until time.Time

	awayTime time.Duration // for tests; 0 means the usual
}

// A Source is the log of a compose project as a [backend.Source].
type Source struct {
	o      Options
	engine *engine
	held   atomic.Int64 // the bytes of last lines, of all containers
	err    error
	close  sync.Once
}

// Open returns a source. Whether there is an engine shows when it is read. The error is an
// *[backend.Error]: the environment names an engine that cannot be one.
func Open(o Options) (*Source, error) {
	if o.awayTime == 0 {
		o.awayTime = awayTime
	}
	e, err := dial(o.Env)
	if err != nil {
		return nil, err
	}
	return &Source{o: o, engine: e}, nil
}

// Batches yields the lines.
func (s *Source) Batches(ctx context.Context) iter.Seq[[]backend.Item] {
	return func(yield func([]backend.Item) bool) {
		var err error
		if s.o.Follow {
			err = s.follow(ctx, yield)
		} else {
			err = s.snapshot(ctx, yield)
		}
		if ctx.Err() == nil {
			s.err = err
		}
	}
}

func (s *Source) snapshot(ctx context.Context, yield func([]backend.Item) bool) error {
	containers, err := s.containers(ctx)
	if err != nil {
		return err
	}
	_, err = s.merge(ctx, containers, yield)
	return err
}

// containers are those of the services, in the order of the services and their instances.
func (s *Source) containers(ctx context.Context) ([]*container, error) {
	all, err := s.engine.containers(ctx, s.o.Project)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(c *container) bool { return !s.wants(c.service) })
	if len(all) > maxContainers {
		return nil, &backend.Error{Code: backend.CodeUsage, Problem: "the project has more than 256 containers: name some of its services"}
	}
	return all, nil
}

func (s *Source) wants(service string) bool {
	return len(s.o.Services) == 0 || slices.Contains(s.o.Services, service)
}

// Err says why the log could not be read to its end.
func (s *Source) Err() error { return s.err }

// Close gives the connections to the engine back.
func (s *Source) Close() error {
	s.close.Do(s.engine.close)
	return nil
}
