package mcp

import (
	"encoding/json"
	"strings"

	"github.com/tailrace/tailrace/internal/lazyregexp"
	"github.com/tailrace/tailrace/internal/project"
)

// A projection is built member by member from what a command reports. Only what its type
// names can be in it, and each text has the form of what it is: nothing that a value of
// a variable is made of beyond that.

// A form is what a text of a projection looks like. A text of another form is null.
type form func(string) bool

var (
	wordRE  = lazyregexp.New(`^[A-Za-z0-9_][A-Za-z0-9_./-]{0,252}$`)
	placeRE = lazyregexp.New(`^[A-Za-z0-9_.~/][A-Za-z0-9_.~/: ()-]{0,252}$`)
)

// isWord: the name of a scope, a service, an environment, a format.
func isWord(s string) bool { return wordRE.MatchString(s) }

// isPlace: where a variable is from. An address is none, since it can hold a password.
func isPlace(s string) bool { return placeRE.MatchString(s) && !strings.Contains(s, "//") }

func isKey(s string) bool { return len(s) <= maxName && keyRE.MatchString(s) }

// isPlain: a text of what runs, such as a folder. There are no variables in the
// inventory, so it is bounded and otherwise as it is.
func isPlain(s string) bool { return s != "" && len(s) <= maxPath }

// members is a JSON object, member by member. A nil one has none.
type members map[string]json.RawMessage

// membersOf reads an object. Of an envelope it reads the data: one that tells of an error
// has none, and there is nothing to project.
func membersOf(raw json.RawMessage) members {
	var m members
	if json.Unmarshal(raw, &m) != nil {
		return nil
	}
	if inner := m["data"]; m["ok"] != nil && len(inner) > 0 && inner[0] == '{' {
		return m.object("data")
	}
	if ok := m.flag("ok"); ok != nil && !*ok {
		return nil
	}
	return m
}

func (m members) text(name string, is form) *string {
	var s string
	if raw := m[name]; len(raw) == 0 || raw[0] != '"' || json.Unmarshal(raw, &s) != nil || !is(s) {
		return nil
	}
	return &s
}

func (m members) flag(name string) *bool {
	var b bool
	switch string(m[name]) {
	case "true":
		b = true
	case "false":
	default:
		return nil
	}
	return &b
}

// texts returns a list of texts, or nil where there is none. An element of another form
// is left out.
func (m members) texts(name string, is form) []string {
	var list []json.RawMessage
	if raw := m[name]; len(raw) == 0 || raw[0] != '[' || json.Unmarshal(raw, &list) != nil {
		return nil
	}
	out := make([]string, 0, len(list))
	for _, item := range list {
		if s := (members{"": item}).text("", is); s != nil {
			out = append(out, *s)
		}
	}
	return out
}

func (m members) list(name string) []members {
	var list []json.RawMessage
	if raw := m[name]; len(raw) == 0 || raw[0] != '[' || json.Unmarshal(raw, &list) != nil {
		return nil
	}
	var out []members
	for _, item := range list {
		var v members
		if json.Unmarshal(item, &v) == nil && v != nil {
			out = append(out, v)
		}
	}
	return out
}

func (m members) object(name string) members {
	var v members
	if json.Unmarshal(m[name], &v) != nil {
		return nil
	}
	return v
}

// An envExplain is the data of env.explain.
type envExplain struct {
	Key            *string  `json:"key"`
	Available      *bool    `json:"available"`
	Secret         *bool    `json:"secret"`
	Format         *string  `json:"format"`
	Environment    *string  `json:"environment"`
	RequestedScope *string  `json:"requested_scope"`
	EffectiveScope *string  `json:"effective_scope"`
	Target         *string  `json:"target"`
	DeliveredTo    []string `json:"delivered_to"`
	Source         *string  `json:"source"`
	Precedence     []string `json:"precedence"`
}

func projectExplain(raw json.RawMessage) *envExplain {
	m := membersOf(raw)
	if m == nil {
		return nil
	}
	return &envExplain{
		Key: m.text("key", isKey), Available: m.flag("available"), Secret: m.flag("secret"), Format: m.text("format", isWord),
		Environment: m.text("environment", isWord), RequestedScope: m.text("requested_scope", isWord), EffectiveScope: m.text("effective_scope", isWord),
		Target: m.text("target", isWord), DeliveredTo: m.texts("delivered_to", isWord), Source: m.text("source", isPlace), Precedence: m.texts("precedence", isPlace),
	}
}

// envKeys is the data of env.keys.
type envKeys struct {
	Format          *string  `json:"format"`
	Environment     *string  `json:"environment"`
	SelectedScope   *string  `json:"selected_scope"`
	Scopes          []string `json:"scopes"`
	Keys            []envKey `json:"keys"`
	MissingRequired []string `json:"missing_required"`
}

type envKey struct {
	Key          string   `json:"key"`
	Secret       bool     `json:"secret"`
	Required     *bool    `json:"required"`
	Source       *string  `json:"source"`
	ResolvedFrom *string  `json:"resolved_from"`
	Services     []string `json:"services"`
}

// projectKeys reads the list of a command, in its present and its older form.
func projectKeys(raw json.RawMessage) *envKeys {
	m := membersOf(raw)
	if m == nil {
		return nil
	}
	k := &envKeys{
		Format: m.text("format", isWord), Environment: m.text("environment", isWord), SelectedScope: m.text("selected_scope", isWord),
		Scopes: m.texts("scopes", isWord), Keys: []envKey{}, MissingRequired: m.texts("missing_required", isKey),
	}
	if k.Environment == nil {
		k.Environment = m.object("env_selection").text("effective", isWord)
	}
	if k.MissingRequired == nil {
		k.MissingRequired = []string{} // required by its type, unlike the other lists
	}
	vars := m.list("vars")
	if vars == nil {
		vars = m.list("keys")
	}
	for _, v := range vars {
		key := v.text("key", isKey)
		if key == nil {
			continue
		}
		one := envKey{Key: *key, Required: v.flag("required"), Source: v.text("source", isPlace), ResolvedFrom: v.text("resolved_from", isPlace), Services: v.texts("services", isWord)}
		stored := v.object("storage").text("kind", isWord)
		secret := v.flag("secret")
		one.Secret = secret != nil && *secret || stored != nil && *stored == "secret" || one.Source != nil && *one.Source == "keychain"
		k.Keys = append(k.Keys, one)
	}
	return k
}

// instances is the data of instances.
type instances struct {
	Project   string     `json:"project"`
	Found     bool       `json:"found"`
	RuntimeOK *bool      `json:"runtime_ok"`
	Instances []instance `json:"instances"`
}

type instance struct {
	Branch         *string           `json:"branch"`
	ComposeProject *string           `json:"compose_project"`
	WorkingDir     *string           `json:"working_dir"`
	Services       []instanceService `json:"services"`
}

type instanceService struct {
	Service    string `json:"service"`
	Containers int    `json:"containers"`
	Running    int    `json:"running"`
}

// projectInstances reads the entry of a project in the inventory.
func projectInstances(raw json.RawMessage, name string) *instances {
	m := membersOf(raw)
	if m == nil {
		return nil
	}
	out := &instances{Project: name, RuntimeOK: m.flag("runtime_ok"), Instances: []instance{}}
	for _, p := range m.list("projects") {
		// A command that knows no filter lists the others, too.
		if n := p.text("name", isPlain); n == nil || !project.SameName(*n, name) {
			continue
		}
		out.Found = true
		if base := p.object("runtime"); base != nil {
			out.Instances = append(out.Instances, instanceOf(base, nil))
		}
		for _, b := range p.list("branch_runtime") {
			if r := b.object("runtime"); r != nil {
				out.Instances = append(out.Instances, instanceOf(r, b.text("branch", isPlain)))
			}
		}
	}
	return out
}

func instanceOf(runtime members, branch *string) instance {
	in := instance{Branch: branch, ComposeProject: runtime.text("project", isPlain), WorkingDir: runtime.text("working_dir", isPlain), Services: []instanceService{}}
	for _, s := range runtime.list("services") {
		name := s.text("service", isPlain)
		if name == nil {
			continue
		}
		one := instanceService{Service: *name}
		for _, c := range s.list("containers") {
			one.Containers++
			if state := c.text("state", isPlain); state != nil && *state == "running" {
				one.Running++
			}
		}
		in.Services = append(in.Services, one)
	}
	return in
}
