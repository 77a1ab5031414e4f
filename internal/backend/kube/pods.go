package kube

import (
	"context"
	"encoding/json"
	"time"

	"github.com/tailrace/tailrace/internal/backend"
	"github.com/tailrace/tailrace/internal/backend/tool"
)

// maxContainers bounds how many containers are followed: each has a run of kubectl.
const maxContainers = 100

// A container is one of a pod, as the cluster says it is.
type container struct {
	uid, pod, name string
	restarts       int
	// started says that it runs, or has run: that it has a log. running says that it runs.
	started, running bool
	// seen is when the look began that saw this.
	seen time.Time
}

// key is what stays the same over its restarts.
func (c container) key() string { return c.uid + "/" + c.name }

type podList struct {
	Items []struct {
		Metadata struct {
			Name, UID string
		}
		Status struct {
			ContainerStatuses, InitContainerStatuses, EphemeralContainerStatuses []struct {
				Name         string
				RestartCount int
				State        struct{ Running, Terminated *struct{} }
				LastState    struct{ Terminated *struct{} }
			}
		}
	}
}

// pods asks for the pods and returns their containers.
func (o *Options) pods(ctx context.Context) ([]container, error) {
	args := append([]string{"get", "pods", "--output=json"}, o.where()...)
	if o.Selector != "" {
		args = append(args, "--selector="+o.Selector)
	} else {
		args = append(args, "--field-selector=metadata.name="+o.Pod)
	}
	var text []byte
	result, err := tool.Run(ctx, tool.Command{Name: "kubectl", Args: args, Env: o.Env, Missing: missing}, func(line []byte) bool {
		text = append(append(text, line...), '\n')
		return len(text) < maxHeld
	}, func() bool { return true })
	if err != nil {
		return nil, err
	}
	if err := problem(result, false); err != nil || ctx.Err() != nil {
		return nil, err
	}
	var list podList
	if json.Unmarshal(text, &list) != nil {
		return nil, &backend.Error{Code: backend.CodeFailed, Problem: "the answer of kubectl cannot be read: check that it is the usual one"}
	}
	var all []container
	for _, p := range list.Items {
		for _, statuses := range [...]int{0, 1, 2} {
			some := p.Status.InitContainerStatuses
			switch statuses {
			case 1:
				some = p.Status.ContainerStatuses
			case 2:
				some = p.Status.EphemeralContainerStatuses
			}
			for _, c := range some {
				if o.Container != "" && c.Name != o.Container {
					continue
				}
				all = append(all, container{
					uid: p.Metadata.UID, pod: p.Metadata.Name, name: c.Name, restarts: c.RestartCount,
					running: c.State.Running != nil,
					started: c.State.Running != nil || c.State.Terminated != nil || c.LastState.Terminated != nil,
				})
			}
		}
	}
	if len(all) > maxContainers {
		return nil, &backend.Error{Code: backend.CodeUsage, Problem: "more than 100 containers match: make the selector narrower, or name a container"}
	}
	return all, nil
}
