package install

import (
	"path/filepath"
)

// A Scope says for whom a server is installed.
type Scope int

// The scopes.
const (
	// User is the configuration of the user, for all projects.
	User Scope = iota
	// Project is a configuration in the folder of a project, for all who work on it.
	Project
)

// A Client is an MCP client whose configuration is known. The zero value is none.
type Client struct {
	// ID is the name in a command line, Title the one for people.
	ID, Title string
	// After says what the user does for the client to notice.
	After string

	user    func(Surroundings) string
	project []string // path below the root of a project; nil where there is none
	form    form
}

// A form edits the text of a configuration.
type form interface {
	install(file []byte, s Server) ([]Edit, error)
	uninstall(file []byte, name string) (edits []Edit, gone bool, err error)
	servers(file []byte) ([]Found, error)
}

// Clients returns the clients that are known.
func Clients() []Client {
	return []Client{claudeCode(), claudeDesktop(), cursor(), vsCode(), codex()}
}

// ByID returns the client of an ID.
func ByID(id string) (Client, bool) {
	for _, c := range Clients() {
		if c.ID == id {
			return c, true
		}
	}
	return Client{}, false
}

// HasProject says whether the client has a configuration of a project.
func (c Client) HasProject() bool { return c.project != nil }

// Path returns the path of the configuration, before links are followed.
func (c Client) Path(s Surroundings, scope Scope) (string, error) {
	if scope == Project {
		if !c.HasProject() {
			return "", ErrScope
		}
		return filepath.Join(append([]string{s.Root}, c.project...)...), nil
	}
	if s.Home == "" {
		return "", ErrNoHome
	}
	return c.user(s), nil
}

// Install returns the change that writes the entry of a server, or brings it up to date.
// Nothing is written yet.
func (c Client) Install(s Surroundings, scope Scope, server Server) (*Change, error) {
	if err := server.check(); err != nil {
		return nil, err
	}
	ch, err := c.open(s, scope)
	if err != nil {
		return ch, err
	}
	ch.Edits, err = c.form.install(ch.before, server)
	return ch, err
}

// Uninstall returns the change that removes the entry of that name. Nothing is written yet.
func (c Client) Uninstall(s Surroundings, scope Scope, name string) (*Change, error) {
	if err := (Server{Name: name, Command: "x"}).check(); err != nil {
		return nil, err
	}
	ch, err := c.open(s, scope)
	if err != nil || ch.before == nil {
		return ch, err
	}
	ch.Edits, ch.gone, err = c.form.uninstall(ch.before, name)
	return ch, err
}

// A Found is a server in a configuration that is started like ours.
type Found struct {
	// Name and Command are those of its entry.
	Name, Command string
}

// Servers returns the path of a configuration and the entries in it that start tailrace.
// There are none where there is no file.
func (c Client) Servers(s Surroundings, scope Scope) (path string, found []Found, err error) {
	ch, err := c.open(s, scope)
	if ch == nil {
		return "", nil, err
	}
	if err != nil || ch.before == nil {
		return ch.Path, nil, err
	}
	found, err = c.form.servers(ch.before)
	return ch.Path, found, err
}
