package inventory

import (
	"context"
	"errors"
	"time"
)

// ErrFolder says that the folder cannot be read.
var ErrFolder = errors.New("the folder cannot be read: check that it is there, and its rights")

// Limits bound a reading. A zero member means its default, which [DefaultLimits] names.
type Limits struct {
	// MaxDepth is how many folders below the root are looked into.
	MaxDepth int
	// MaxEntries is how many entries of folders are looked at.
	MaxEntries int
	// MaxFiles is how many files are opened, MaxBytes how many bytes of them are read,
	// and MaxFileBytes the largest file that is.
	MaxFiles, MaxBytes, MaxFileBytes int
	// MaxTextBytes bounds the inventory as indented JSON, but for some hundred bytes that
	// are always there.
	MaxTextBytes int
	// MaxTime bounds the whole reading. One file is read to its end.
	MaxTime time.Duration
}

// DefaultLimits returns the defaults. They are small because the time of the YAML parser
// grows with the square of a file's size; within them it stays far below a second.
func DefaultLimits() Limits {
	return Limits{
		MaxDepth: 3, MaxEntries: 5_000,
		MaxFiles: 64, MaxBytes: 1 << 20, MaxFileBytes: 64 << 10,
		MaxTextBytes: 32 << 10, MaxTime: 2 * time.Second,
	}
}

func (l Limits) orDefault() Limits {
	d := DefaultLimits()
	for _, m := range []struct{ value, standard *int }{
		{&l.MaxDepth, &d.MaxDepth}, {&l.MaxEntries, &d.MaxEntries}, {&l.MaxFiles, &d.MaxFiles},
		{&l.MaxBytes, &d.MaxBytes}, {&l.MaxFileBytes, &d.MaxFileBytes}, {&l.MaxTextBytes, &d.MaxTextBytes},
	} {
		if *m.value == 0 {
			*m.value = *m.standard
		}
	}
	if l.MaxTime == 0 {
		l.MaxTime = d.MaxTime
	}
	return l
}

// An Inventory is what was found. Paths are relative to the folder, with slashes. Lists
// are in the order of the reading, shallow folders first, and are never null in JSON.
type Inventory struct {
	// Definition is the folder of the project's definition: .hack or .dev; "" for none.
	Definition string `json:"definition"`
	// PackageManagers are the package managers whose files are there.
	PackageManagers []Manager `json:"package_managers"`
	// Workspaces are the files that join several packages into one repository.
	Workspaces []string `json:"workspaces"`
	// ComposeFiles are the compose files with their services.
	ComposeFiles []ComposeFile `json:"compose_files"`
	// Dockerfiles are the Dockerfiles with the ports that they expose.
	Dockerfiles []Dockerfile `json:"dockerfiles"`
	// EnvFiles are the files of environment variables, with the names in them.
	EnvFiles []EnvFile `json:"env_files"`
	// NotRead are files that could not be read or understood, or are too large.
	NotRead []string `json:"not_read"`
	// LeftOut counts names that were left out for their form.
	LeftOut int `json:"left_out"`
	// CutBy names the bounds that the reading met: depth, entries, files, bytes, text,
	// time. It is empty for a complete inventory.
	CutBy []string `json:"cut_by"`
}

// A Manager is a package manager and its files.
type Manager struct {
	Name  string   `json:"name"`
	Files []string `json:"files"`
}

// A ComposeFile is one compose file.
type ComposeFile struct {
	Path     string    `json:"path"`
	Services []Service `json:"services"`
}

// A Service is one service of a compose file.
type Service struct {
	Name string `json:"name"`
	// Image is the image as it is written; "" for none, or one with variables in it.
	Image string `json:"image,omitempty"`
	// Build says that the service is built from the repository.
	Build bool `json:"build,omitempty"`
	// Ports are "published:target" or "target", in digits.
	Ports []string `json:"ports,omitempty"`
	// Env are the names of its variables.
	Env []string `json:"env,omitempty"`
	// Profiles are the profiles that include it; none for always.
	Profiles []string `json:"profiles,omitempty"`
}

// A Dockerfile is one Dockerfile.
type Dockerfile struct {
	Path  string   `json:"path"`
	Ports []string `json:"ports,omitempty"`
}

// An EnvFile is one file of variables.
type EnvFile struct {
	Path  string   `json:"path"`
	Names []string `json:"names"`
	// Partial says that the file was read up to a line that is no assignment.
	Partial bool `json:"partial,omitempty"`
}

// Read lists the folder dir. Of what goes wrong below it, the inventory tells; the error
// is [ErrFolder], or that of ctx. Several goroutines may read at once.
func Read(ctx context.Context, dir string, limits Limits) (*Inventory, error) {
	r := &reader{
		limits: limits.orDefault(),
		out: &Inventory{
			PackageManagers: []Manager{}, Workspaces: []string{}, ComposeFiles: []ComposeFile{}, Dockerfiles: []Dockerfile{},
			EnvFiles: []EnvFile{}, NotRead: []string{}, CutBy: []string{},
		},
		managers: map[string]int{},
	}
	if err := r.open(dir); err != nil {
		return nil, err
	}
	defer r.root.Close()
	timed, cancel := context.WithTimeout(ctx, r.limits.MaxTime)
	defer cancel()
	if err := r.walk(timed); err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if timed.Err() != nil {
		r.cut("time")
	}
	return r.out, nil
}
