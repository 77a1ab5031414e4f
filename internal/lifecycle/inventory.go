package lifecycle

import (
	"context"
	"strings"
	"time"

	"github.com/tailrace/tailrace/internal/composefile"
	"github.com/tailrace/tailrace/internal/project"
)

// An InventoryOptions says what is listed. The zero value lists all registered projects.
type InventoryOptions struct {
	// Filter is the name of a project, in any spelling; "" is none.
	Filter string
	// Global includes the projects of the global infrastructure, and Unregistered the
	// compose projects that nobody has registered.
	Global, Unregistered bool
}

// An Inventory is the projects of a user. Where Docker does not answer, what runs is not
// known: RuntimeOK is false and RuntimeError says why.
type Inventory struct {
	GeneratedAt         string  `json:"generated_at"`
	Filter              *string `json:"filter"`
	IncludeGlobal       bool    `json:"include_global"`
	IncludeUnregistered bool    `json:"include_unregistered"`
	RuntimeOK           bool    `json:"runtime_ok"`
	RuntimeError        *string `json:"runtime_error"`
	RuntimeCheckedAt    string  `json:"runtime_checked_at"`
	RuntimeLastOKAt     *string `json:"runtime_last_ok_at"`
	// RuntimeResetAt and RuntimeResetCount are of the reference's daemon; there is none.
	RuntimeResetAt    *string  `json:"runtime_reset_at"`
	RuntimeResetCount int      `json:"runtime_reset_count"`
	Projects          []Listed `json:"projects"`
}

// A Listed is one project of an inventory.
type Listed struct {
	ProjectID  *string `json:"project_id"`
	Name       string  `json:"name"`
	DevHost    *string `json:"dev_host"`
	RepoRoot   *string `json:"repo_root"`
	ProjectDir *string `json:"project_dir"`
	// DefinedServices are the services of the compose files, null where they cannot be read.
	DefinedServices   []string        `json:"defined_services"`
	ExtensionsEnabled bool            `json:"extensions_enabled"`
	Features          []string        `json:"features"`
	RuntimeConfigured bool            `json:"runtime_configured"`
	RuntimeStatus     string          `json:"runtime_status"`
	Runtime           *Runtime        `json:"runtime"`
	BranchRuntime     []BranchRuntime `json:"branch_runtime"`
	// Kind is registered or unregistered; Status is running, stopped, missing, unregistered
	// or unknown.
	Kind   string `json:"kind"`
	Status string `json:"status"`
}

// A BranchRuntime is what there is of the instance of a branch.
type BranchRuntime struct {
	Branch  string   `json:"branch"`
	Runtime *Runtime `json:"runtime"`
}

// Running counts the containers of a project that run, those of branches included.
func (l *Listed) Running() int {
	n := 0
	if l.Runtime != nil {
		n = l.Runtime.Running()
	}
	for _, b := range l.BranchRuntime {
		n += b.Runtime.Running()
	}
	return n
}

// List returns the inventory at the time now.
func List(ctx context.Context, c project.Context, o InventoryOptions, now time.Time) *Inventory {
	stamp := now.UTC().Format("2006-01-02T15:04:05.000Z")
	inv := &Inventory{
		GeneratedAt: stamp, IncludeGlobal: o.Global, IncludeUnregistered: o.Unregistered,
		RuntimeCheckedAt: stamp, Projects: []Listed{},
	}
	if o.Filter != "" {
		inv.Filter = &o.Filter
	}
	runtimes, err := runtimesOf(ctx, c)
	if err != nil {
		text := err.Error()
		inv.RuntimeError = &text
	} else {
		inv.RuntimeOK, inv.RuntimeLastOKAt = true, &stamp
	}
	taken, claimed := map[string]bool{}, map[string]bool{}
	entries := c.List()
	bases := make([]string, len(entries))
	for i, e := range entries {
		bases[i] = baseName(c, e.Project)
		taken[bases[i]] = true
	}
	for i, e := range entries {
		l := listed(ctx, c, e)
		l.attach(bases[i], runtimes, taken)
		for _, b := range l.BranchRuntime {
			claimed[b.Runtime.Project] = true
		}
		l.status(inv.RuntimeOK, e.Live)
		if o.Filter == "" || project.SameName(o.Filter, l.Name) {
			inv.Projects = append(inv.Projects, l)
		}
	}
	for _, r := range runtimes {
		global := r.isGlobal(c)
		if taken[r.Project] || claimed[r.Project] || !(global && o.Global || !global && o.Unregistered) || o.Filter != "" && !project.SameName(o.Filter, r.Project) {
			continue
		}
		inv.Projects = append(inv.Projects, Listed{
			Name: r.Project, Features: []string{}, RuntimeConfigured: true, RuntimeStatus: runState(r), Runtime: r,
			BranchRuntime: []BranchRuntime{}, Kind: "unregistered", Status: "unregistered",
		})
	}
	return inv
}

func runtimesOf(ctx context.Context, c project.Context) ([]*Runtime, error) {
	d, err := NewDocker(c)
	if err != nil {
		return nil, err
	}
	return d.Runtimes(ctx)
}

// baseName is the compose project of a registered project, "" where that is not known.
func baseName(c project.Context, p project.Project) string {
	set, err := composefile.Find(p)
	if err != nil {
		return ""
	}
	env, err := set.Env(c.Env, "")
	if err != nil {
		return ""
	}
	name, err := set.Name(env, "")
	if err != nil {
		return ""
	}
	return name
}

// listed is what the registry and the disk say of a project.
func listed(ctx context.Context, c project.Context, e project.Entry) Listed {
	l := Listed{
		ProjectID: &e.ID, Name: e.Project.Name, RepoRoot: &e.Project.Root, ProjectDir: &e.Project.Dir,
		Features: []string{}, BranchRuntime: []BranchRuntime{}, Kind: "registered",
	}
	set, err := composefile.Find(e.Project)
	if host := set.Config().DevHost; err == nil && host != "" {
		e.DevHost = host
	}
	if e.DevHost != "" {
		l.DevHost = &e.DevHost
	}
	if err != nil {
		return l
	}
	l.RuntimeConfigured = true
	if env, err := set.Env(c.Env, ""); err == nil {
		if m, err := set.Model(ctx, env, true); err == nil {
			l.DefinedServices = m.Services()
		}
	}
	return l
}

// attach finds what there is of the project and of its branches. Names that are the base of
// another project are that one's.
func (l *Listed) attach(base string, runtimes []*Runtime, taken map[string]bool) {
	if base == "" {
		return
	}
	for _, r := range runtimes {
		if r.Project == base {
			l.Runtime = r
			continue
		}
		if branch, ok := strings.CutPrefix(r.Project, base+"--"); ok && branch != "" && !taken[r.Project] {
			l.BranchRuntime = append(l.BranchRuntime, BranchRuntime{Branch: branch, Runtime: r})
		}
	}
}

func (l *Listed) status(known, live bool) {
	l.RuntimeStatus = "unknown"
	if known {
		l.RuntimeStatus = runState(l.Runtime)
	}
	switch {
	case !live:
		l.Status = "missing"
	case !known:
		l.Status = "unknown"
	case l.Running() > 0:
		l.Status = "running"
	default:
		l.Status = "stopped"
	}
}

func runState(r *Runtime) string {
	if r != nil && r.Running() > 0 {
		return "running"
	}
	return "stopped"
}
