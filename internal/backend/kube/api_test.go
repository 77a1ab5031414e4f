//go:build linux && tools

package kube

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// An api answers what kubectl asks a cluster for pods and their logs.
type api struct {
	*httptest.Server
	mu     sync.Mutex
	pods   []*apiPod
	closed chan struct{}
	denied bool
}

type apiPod struct {
	name       string
	labels     map[string]string
	containers []*apiContainer
}

type apiContainer struct {
	name     string
	restarts int
	log      []string // lines with their times
	previous []string
	changed  chan struct{} // closed when there is more
	ended    chan struct{} // closed when this instance ends
}

func newAPI(t *testing.T) *api {
	a := &api{closed: make(chan struct{})}
	a.Server = httptest.NewServer(a)
	t.Cleanup(func() { close(a.closed); a.Close() })
	return a
}

// env is an environment in which kubectl uses this cluster.
func (a *api) env(t *testing.T) []string {
	t.Helper()
	dir := t.TempDir()
	config := filepath.Join(dir, "config")
	text := "apiVersion: v1\nkind: Config\ncurrent-context: test\nclusters: [{name: c, cluster: {server: '" + a.URL + "'}}]\n" +
		"users: [{name: u, user: {}}]\ncontexts: [{name: test, context: {cluster: c, user: u}}]\n"
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "KUBECONFIG=" + config}
}

func (a *api) add(p *apiPod) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, c := range p.containers {
		c.changed, c.ended = make(chan struct{}), make(chan struct{})
	}
	a.pods = append(a.pods, p)
}

// say adds a line to a log.
func (a *api) say(c *apiContainer, line string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	c.log = append(c.log, line)
	close(c.changed)
	c.changed = make(chan struct{})
}

// restart ends an instance of a container, whose last lines are not sent to who follows it.
func (a *api) restart(c *apiContainer, last ...string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	c.previous, c.log = append(c.log, last...), nil
	c.restarts++
	close(c.ended)
	c.ended, c.changed = make(chan struct{}), make(chan struct{})
}

func (p *apiPod) object() map[string]any {
	var spec, status []any
	for _, c := range p.containers {
		spec = append(spec, map[string]any{"name": c.name, "image": "i"})
		status = append(status, map[string]any{"name": c.name, "restartCount": c.restarts, "image": "i", "imageID": "", "ready": true, "state": map[string]any{"running": map[string]any{}}})
	}
	return map[string]any{
		"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": p.name, "namespace": "default", "uid": "uid-" + p.name, "labels": p.labels},
		"spec": map[string]any{"containers": spec}, "status": map[string]any{"phase": "Running", "containerStatuses": status},
	}
}

func (a *api) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	answer := func(code int, v any) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		_ = json.NewEncoder(w).Encode(v)
	}
	fail := func(code int, reason string) {
		answer(code, map[string]any{"apiVersion": "v1", "kind": "Status", "status": "Failure", "reason": reason, "code": code, "message": "pods: " + reason, "details": map[string]any{"kind": "pods"}})
	}
	const pods = "/api/v1/namespaces/default/pods"
	switch {
	case r.URL.Path == "/api":
		answer(200, map[string]any{"kind": "APIVersions", "versions": []string{"v1"}})
	case r.URL.Path == "/apis":
		answer(200, map[string]any{"kind": "APIGroupList", "apiVersion": "v1", "groups": []any{}})
	case r.URL.Path == "/api/v1":
		answer(200, map[string]any{"kind": "APIResourceList", "groupVersion": "v1", "resources": []any{
			map[string]any{"name": "pods", "singularName": "pod", "namespaced": true, "kind": "Pod", "verbs": []string{"get", "list"}, "shortNames": []string{"po"}},
			map[string]any{"name": "pods/log", "namespaced": true, "kind": "Pod", "verbs": []string{"get"}},
		}})
	case a.denied:
		fail(403, "Forbidden")
	case r.URL.Path == pods:
		a.mu.Lock()
		items := []any{}
		for _, p := range a.pods {
			key, value, _ := strings.Cut(r.URL.Query().Get("labelSelector"), "=")
			name, byName := strings.CutPrefix(r.URL.Query().Get("fieldSelector"), "metadata.name=")
			if byName && p.name == name || !byName && p.labels[key] == value {
				items = append(items, p.object())
			}
		}
		a.mu.Unlock()
		answer(200, map[string]any{"apiVersion": "v1", "kind": "PodList", "metadata": map[string]any{}, "items": items})
	case strings.HasPrefix(r.URL.Path, pods+"/"):
		name, log, isLog := strings.Cut(strings.TrimPrefix(r.URL.Path, pods+"/"), "/")
		a.mu.Lock()
		defer a.mu.Unlock()
		for _, p := range a.pods {
			if p.name != name {
				continue
			}
			if !isLog {
				answer(200, p.object())
				return
			}
			for _, c := range p.containers {
				if log == "log" && (c.name == r.URL.Query().Get("container") || r.URL.Query().Get("container") == "") {
					a.stream(w, r, c)
					return
				}
			}
		}
		fail(404, "NotFound")
	default:
		http.NotFound(w, r)
	}
}

// stream sends a log as the kubelet does. It is called with the lock.
func (a *api) stream(w http.ResponseWriter, r *http.Request, c *apiContainer) {
	q := r.URL.Query()
	lines := c.log
	if q.Get("previous") == "true" {
		lines = c.previous
	}
	sent := len(lines)
	if since, err := time.Parse(time.RFC3339, q.Get("sinceTime")); err == nil {
		for len(lines) > 0 {
			if at, _ := time.Parse(time.RFC3339Nano, strings.Fields(lines[0])[0]); !at.Before(since) {
				break
			}
			lines = lines[1:]
		}
	}
	if n, err := strconv.Atoi(q.Get("tailLines")); err == nil && n < len(lines) {
		lines = lines[len(lines)-n:]
	}
	w.Header().Set("Content-Type", "text/plain")
	for {
		for _, line := range lines {
			fmt.Fprintln(w, line)
		}
		if f, ok := w.(http.Flusher); ok {
			f.Flush()
		}
		if q.Get("follow") != "true" || q.Get("previous") == "true" {
			return
		}
		changed, ended := c.changed, c.ended
		a.mu.Unlock()
		stop := false
		select {
		case <-changed:
		case <-ended:
			stop = true
		case <-r.Context().Done():
			stop = true
		case <-a.closed:
			stop = true
		}
		a.mu.Lock()
		if stop {
			return
		}
		lines, sent = c.log[sent:], len(c.log)
	}
}
