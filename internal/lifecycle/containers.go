package lifecycle

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tailrace/tailrace/internal/project"
)

// A Container is one container of a service.
type Container struct {
	ID         string  `json:"id"`
	State      string  `json:"state"`
	Status     string  `json:"status"`
	Name       string  `json:"name"`
	Ports      string  `json:"ports"`
	WorkingDir *string `json:"working_dir"`
}

// A Service is the containers of one service.
type Service struct {
	Service    string      `json:"service"`
	Containers []Container `json:"containers"`
}

// A Runtime is what there is of one compose project.
type Runtime struct {
	Project    string    `json:"project"`
	WorkingDir *string   `json:"working_dir"`
	Services   []Service `json:"services"`
}

// Running counts the containers that run.
func (r *Runtime) Running() int {
	n := 0
	for _, s := range r.Services {
		for _, c := range s.Containers {
			if c.State == "running" {
				n++
			}
		}
	}
	return n
}

// psFormat asks for one JSON object a line. The labels are asked for by name: in the list
// of all of them a comma in a value cannot be told from the one between two.
const psFormat = `{"id":{{json .ID}},"state":{{json .State}},"status":{{json .Status}},"name":{{json .Names}},"ports":{{json .Ports}},` +
	`"project":{{json (.Label "com.docker.compose.project")}},"service":{{json (.Label "com.docker.compose.service")}},` +
	`"oneoff":{{json (.Label "com.docker.compose.oneoff")}},"dir":{{json (.Label "com.docker.compose.project.working_dir")}}}`

// Runtimes returns what there is of each compose project, sorted by name. Containers of
// one-off runs do not count.
func (d *Docker) Runtimes(ctx context.Context) ([]*Runtime, error) {
	out, code, err := d.output(ctx, "", []string{"ps", "--all", "--filter", "label=com.docker.compose.project", "--format", psFormat})
	if err != nil {
		return nil, err
	}
	if code != 0 {
		return nil, ErrNoEngine
	}
	rows, err := objects(out)
	if err != nil {
		return nil, err
	}
	byName := map[string]*Runtime{}
	for _, row := range rows {
		var c struct {
			Container
			Project, Service, Oneoff, Dir string
		}
		if json.Unmarshal(row, &c) != nil {
			return nil, ErrOutput
		}
		if c.Project == "" || c.Service == "" || strings.EqualFold(c.Oneoff, "true") {
			continue
		}
		if c.Dir != "" {
			c.WorkingDir = &c.Dir
		}
		r := byName[c.Project]
		if r == nil {
			r = &Runtime{Project: c.Project, WorkingDir: c.WorkingDir}
			byName[c.Project] = r
		}
		i := slices.IndexFunc(r.Services, func(s Service) bool { return s.Service == c.Service })
		if i < 0 {
			i = len(r.Services)
			r.Services = append(r.Services, Service{Service: c.Service})
		}
		r.Services[i].Containers = append(r.Services[i].Containers, c.Container)
	}
	all := make([]*Runtime, 0, len(byName))
	for _, r := range byName {
		slices.SortFunc(r.Services, func(a, b Service) int { return strings.Compare(a.Service, b.Service) })
		for _, s := range r.Services {
			slices.SortFunc(s.Containers, func(a, b Container) int { return strings.Compare(a.Name, b.Name) })
		}
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b *Runtime) int { return strings.Compare(a.Project, b.Project) })
	return all, nil
}

// isGlobal says whether a compose project belongs to the global infrastructure: its folder
// lies in the home of the registry.
func (r *Runtime) isGlobal(c project.Context) bool {
	if r.WorkingDir == nil {
		return false
	}
	rel, err := filepath.Rel(c.Home, *r.WorkingDir)
	return err == nil && filepath.IsLocal(rel)
}
