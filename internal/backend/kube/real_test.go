//go:build linux && tools

package kube

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tailrace/tailrace/internal/backend"
	"github.com/tailrace/tailrace/internal/project"
)

// TestRealKubectl reads the logs of pods by the real kubectl from an API server of its own.
func TestRealKubectl(t *testing.T) {
	a := newAPI(t)
	web := map[string]string{"app": "web"}
	a.add(&apiPod{"web-1", web, []*apiContainer{
		{name: "app", log: []string{"2026-03-01T10:00:01Z one", "2026-03-01T10:00:04.5Z four", `2026-03-01T10:00:05Z {"msg":"five"}`}},
		{name: "side", log: []string{"2026-03-01T10:00:02Z two"}},
	}})
	a.add(&apiPod{"web-2", web, []*apiContainer{{name: "app", log: []string{"2026-03-01T10:00:03Z three", "2026-03-01T10:00:06Z six"}, previous: []string{"2026-03-01T09:00:00Z before"}}}})
	a.add(&apiPod{"db-1", map[string]string{"app": "db"}, []*apiContainer{{name: "app", log: []string{"2026-03-01T10:00:00Z db"}}}})
	all := []string{"web-1/app one", "web-1/side two", "web-2/app three", "web-1/app four", `web-1/app {"msg":"five"}`, "web-2/app six"}
	env := a.env(t)
	for name, tt := range map[string]struct {
		o    Options
		want []string
	}{
		"a selector":  {Options{Lines: -1, Kubernetes: project.Kubernetes{Selector: "app=web"}}, all},
		"the last":    {Options{Lines: 2, Kubernetes: project.Kubernetes{Selector: "app=web"}}, all[4:]},
		"a container": {Options{Lines: -1, Kubernetes: project.Kubernetes{Selector: "app=web", Container: "app"}}, slices.Delete(slices.Clone(all), 1, 2)},
		"a pod":       {Options{Lines: -1, Kubernetes: project.Kubernetes{Pod: "web-1"}}, []string{all[0], all[1], all[3], all[4]}},
		"since":       {Options{Lines: -1, Since: time.Date(2026, 3, 1, 10, 0, 4, 0, time.UTC), Kubernetes: project.Kubernetes{Selector: "app=web"}}, all[3:]},
		"previous":    {Options{Lines: -1, Kubernetes: project.Kubernetes{Pod: "web-2", Container: "app", Previous: true, Namespace: "default", Context: "test"}}, []string{"web-2/app before"}},
	} {
		var got []string
		tt.o.Env = env
		err := read(t.Context(), tt.o, func(i backend.Item) bool { got = append(got, text(i)); return true })
		if err != nil || !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %q, %v", name, got, err)
		}
	}
	gone := newAPI(t)
	gone.Close()
	denied := newAPI(t)
	denied.denied = true
	for name, tt := range map[string]struct {
		o    Options
		want backend.Code
	}{
		"no pod matches":    {Options{Env: env, Lines: 5, Kubernetes: project.Kubernetes{Selector: "app=none"}}, backend.CodeNotFound},
		"no such pod":       {Options{Env: env, Kubernetes: project.Kubernetes{Pod: "none"}}, backend.CodeNotFound},
		"no such container": {Options{Env: env, Kubernetes: project.Kubernetes{Pod: "web-1", Container: "none"}}, backend.CodeNotFound},
		"no such context":   {Options{Env: env, Kubernetes: project.Kubernetes{Pod: "web-1", Context: "none"}}, backend.CodeUsage},
		"no cluster":        {Options{Env: gone.env(t), Kubernetes: project.Kubernetes{Pod: "web-1"}}, backend.CodeUnreachable},
		"no rights":         {Options{Env: denied.env(t), Kubernetes: project.Kubernetes{Selector: "app=web"}}, backend.CodeDenied},
	} {
		err := read(t.Context(), tt.o, func(backend.Item) bool { return true })
		var known *backend.Error
		if !errors.As(err, &known) || known.Code != tt.want || strings.Contains(err.Error(), "none") {
			t.Errorf("%s: got %v, want %s", name, err, tt.want)
		}
	}
}

// TestRealKubectl_Follow follows pods over a restart whose last lines the stream did not
// have, and a pod that comes later.
func TestRealKubectl_Follow(t *testing.T) {
	a := newAPI(t)
	web := map[string]string{"app": "web"}
	app := &apiContainer{name: "app", log: []string{"2026-03-01T10:00:01Z one", "2026-03-01T10:00:02Z two"}}
	a.add(&apiPod{"web-1", web, []*apiContainer{app}})
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	steps := []struct {
		want string
		then func()
	}{
		{"web-1/app two", func() { a.say(app, "2026-03-01T10:00:03Z three") }},
		{"web-1/app three", func() {
			a.restart(app, "2026-03-01T10:00:03Z three too", "2026-03-01T10:00:04Z four")
			a.say(app, "2026-03-01T10:00:05Z five")
		}},
		{"web-1/app three too", func() {}},
		{"web-1/app four", func() {}},
		{"web-1/app five", func() {
			a.add(&apiPod{"web-2", web, []*apiContainer{{name: "app", log: []string{"2026-03-01T09:00:00Z old"}}}})
		}},
		{"web-2/app old", func() { a.say(app, "2026-03-01T10:00:06Z six") }},
		{"web-1/app six", cancel},
	}
	o := Options{Env: a.env(t), Follow: true, Lines: 1, lookEvery: 200 * time.Millisecond, Kubernetes: project.Kubernetes{Selector: "app=web"}}
	err := read(ctx, o, func(i backend.Item) bool {
		if len(steps) == 0 || text(i) != steps[0].want {
			t.Errorf("got %q with %d steps to go", text(i), len(steps))
			return false
		}
		then := steps[0].then
		steps = steps[1:]
		then()
		return true
	})
	if err != nil || len(steps) != 0 {
		t.Errorf("%d steps are missing, %v", len(steps), err)
	}
}
