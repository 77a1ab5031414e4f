package mcp

import (
	"encoding/json"
	"regexp"
)

// A projection is built member by member from what a command reports. Only what its type
// names can be in it, and only texts of the form of names and places: nothing that a
// value of a variable is made of beyond that.

// placeRE is the form of names, scopes, branches and places in a projection.
var placeRE = regexp.MustCompile(`^[A-Za-z0-9_./@:+ -]{1,512}$`)

// members is a JSON object, member by member. A nil one has none.
type members map[string]json.RawMessage

// membersOf reads an object; of an envelope with ok and data it reads the data.
func membersOf(raw json.RawMessage) members {
	var m members
	if json.Unmarshal(raw, &m) != nil {
		return nil
	}
	if inner := m["data"]; m["ok"] != nil && len(inner) > 0 && inner[0] == '{' {
		var d members
		if json.Unmarshal(inner, &d) == nil {
			return d
		}
	}
	return m
}

func (m members) text(name string) *string {
	var s string
	if raw := m[name]; len(raw) == 0 || raw[0] != '"' || json.Unmarshal(raw, &s) != nil || !placeRE.MatchString(s) {
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
func (m members) texts(name string) []string {
	var list []json.RawMessage
	if raw := m[name]; len(raw) == 0 || raw[0] != '[' || json.Unmarshal(raw, &list) != nil {
		return nil
	}
	out := make([]string, 0, len(list))
	for _, item := range list {
		if s := (members{"": item}).text(""); s != nil {
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
	e := &envExplain{
		Available: m.flag("available"), Secret: m.flag("secret"), Format: m.text("format"),
		Environment: m.text("environment"), RequestedScope: m.text("requested_scope"), EffectiveScope: m.text("effective_scope"),
		Target: m.text("target"), DeliveredTo: m.texts("delivered_to"), Source: m.text("source"), Precedence: m.texts("precedence"),
	}
	if k := m.text("key"); k != nil && keyRE.MatchString(*k) {
		e.Key = k
	}
	return e
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
		Format: m.text("format"), Environment: m.text("environment"), SelectedScope: m.text("selected_scope"),
		Scopes: m.texts("scopes"), Keys: []envKey{}, MissingRequired: []string{},
	}
	if k.Environment == nil {
		k.Environment = m.object("env_selection").text("effective")
	}
	for _, name := range m.texts("missing_required") {
		if keyRE.MatchString(name) {
			k.MissingRequired = append(k.MissingRequired, name)
		}
	}
	vars := m.list("vars")
	if vars == nil {
		vars = m.list("keys")
	}
	for _, v := range vars {
		key := v.text("key")
		if key == nil || !keyRE.MatchString(*key) {
			continue
		}
		one := envKey{Key: *key, Required: v.flag("required"), Source: v.text("source"), ResolvedFrom: v.text("resolved_from"), Services: v.texts("services")}
		stored := v.object("storage").text("kind")
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
		if n := p.text("name"); n == nil || *n != name {
			continue
		}
		out.Found = true
		if base := p.object("runtime"); base != nil {
			out.Instances = append(out.Instances, instanceOf(base, nil))
		}
		for _, b := range p.list("branch_runtime") {
			if r := b.object("runtime"); r != nil {
				out.Instances = append(out.Instances, instanceOf(r, b.text("branch")))
			}
		}
	}
	return out
}

func instanceOf(runtime members, branch *string) instance {
	in := instance{Branch: branch, ComposeProject: runtime.text("project"), WorkingDir: runtime.text("working_dir"), Services: []instanceService{}}
	for _, s := range runtime.list("services") {
		name := s.text("service")
		if name == nil {
			continue
		}
		one := instanceService{Service: *name}
		for _, c := range s.list("containers") {
			one.Containers++
			if state := c.text("state"); state != nil && *state == "running" {
				one.Running++
			}
		}
		in.Services = append(in.Services, one)
	}
	return in
}
