package lifecycle

import (
	"context"

	"github.com/tailrace/tailrace/internal/composefile"
	"github.com/tailrace/tailrace/internal/lazyregexp"
)

// keyRE is the name of a variable.
var keyRE = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_.-]{0,252}$`)

// The errors of the env commands.
var (
	ErrKey   = &Error{Code: CodeUsage, Text: "a variable is a name: a letter or underscore, then letters, digits, underscores, dots or dashes"}
	ErrScope = &Error{Code: CodeNoService, Text: "--service takes the name of a service of the compose file, or global"}
	ErrView  = &Error{Code: CodeUsage, Text: "--target takes host or compose"}
)

// envFormat names where variables are kept: the files of Compose.
const envFormat = "compose"

// An EnvList is the variables of a project: their names and sources, and no value.
type EnvList struct {
	Project      string       `json:"project"`
	EnvSelection EnvSelection `json:"env_selection"`
	Format       string       `json:"format"`
	Files        []string     `json:"files"`
	Scopes       []string     `json:"scopes"`
	// SelectedScope is the scope that was asked for, null for all.
	SelectedScope   *string  `json:"selected_scope"`
	Vars            []EnvVar `json:"vars"`
	MissingRequired []string `json:"missing_required"`
}

// An EnvSelection says which environment was asked for, and which one is.
type EnvSelection struct {
	Requested     *string `json:"requested"`
	Default       string  `json:"default"`
	Effective     string  `json:"effective"`
	OverlayPath   *string `json:"overlay_path"`
	OverlayExists bool    `json:"overlay_exists"`
}

// An EnvVar is one variable of a list.
type EnvVar struct {
	Key      string `json:"key"`
	Required bool   `json:"required"`
	Secret   bool   `json:"secret"`
	// Set says that the variable has a value.
	Set bool `json:"set"`
	// Source is the place that counts, null where it is set nowhere.
	Source *string `json:"source"`
	// ResolvedFrom is the place that the source takes its value from, null where the value
	// is written in the source.
	ResolvedFrom *string  `json:"resolved_from"`
	Services     []string `json:"services"`
}

// An EnvExplanation says where one variable comes from and where it goes.
type EnvExplanation struct {
	Key            string   `json:"key"`
	Available      bool     `json:"available"`
	Secret         bool     `json:"secret"`
	Required       bool     `json:"required"`
	Format         string   `json:"format"`
	Environment    string   `json:"environment"`
	RequestedScope *string  `json:"requested_scope"`
	EffectiveScope *string  `json:"effective_scope"`
	Target         string   `json:"target"`
	DeliveredTo    []string `json:"delivered_to"`
	Source         *string  `json:"source"`
	ResolvedFrom   *string  `json:"resolved_from"`
	Precedence     []string `json:"precedence"`
}

// model reads the compose files, and checks a scope.
func (t *Target) model(ctx context.Context, scope string) (*composefile.Model, error) {
	m, err := t.set.Model(ctx, t.env, t.Registered)
	if err != nil {
		return nil, problem(err)
	}
	if scope == "" || scope == composefile.Global {
		return m, nil
	}
	for _, name := range m.Services() {
		if name == scope {
			return m, nil
		}
	}
	return nil, ErrScope
}

// environment is the name of the environment that counts.
func (t *Target) environment() string {
	if name := t.env.Overlay(); name != "" {
		return name
	}
	return "base"
}

// ListEnv lists the variables of a scope: a service, [composefile.Global], or "" for all.
// requested is the environment as it was asked for.
func ListEnv(ctx context.Context, t *Target, scope, requested string) (*EnvList, error) {
	m, err := t.model(ctx, scope)
	if err != nil {
		return nil, err
	}
	out := &EnvList{
		Project: t.Name, Format: envFormat, Files: t.env.Files(), SelectedScope: orNull(scope),
		EnvSelection: EnvSelection{Requested: orNull(requested), Default: "base", Effective: t.environment()},
		Scopes:       append([]string{composefile.Global}, m.Services()...),
		Vars:         []EnvVar{}, MissingRequired: m.Missing(),
	}
	if files := t.env.Files(); t.env.Overlay() != "" {
		// The overlay is there, or the target would not be.
		out.EnvSelection.OverlayPath, out.EnvSelection.OverlayExists = &files[len(files)-1], true
	}
	for _, v := range m.Variables(scope) {
		out.Vars = append(out.Vars, EnvVar{
			Key: v.Key, Required: v.Required, Secret: v.Secret, Set: v.Available,
			Source: first(v.Precedence), ResolvedFrom: orNull(v.From), Services: v.Services,
		})
	}
	return out, nil
}

// ExplainEnv explains one variable. target is host, for what the files are interpolated
// with, or compose, for what the containers of the services get.
func ExplainEnv(ctx context.Context, t *Target, key, scope, target string) (*EnvExplanation, error) {
	if !keyRE.MatchString(key) {
		return nil, ErrKey
	}
	if target != "host" && target != "compose" {
		return nil, ErrView
	}
	m, err := t.model(ctx, scope)
	if err != nil {
		return nil, err
	}
	view := scope
	switch {
	case target == "host" && (scope == "" || scope == composefile.Global):
		view = composefile.Global
	case target == "compose" && scope == "":
		// The first service that gets it speaks for all of them.
		if services := m.Variable(key, "").Services; len(services) > 0 {
			view = services[0]
		}
	}
	v := m.Variable(key, view)
	out := &EnvExplanation{
		Key: v.Key, Available: v.Available, Secret: v.Secret, Required: v.Required, Format: envFormat, Environment: t.environment(),
		RequestedScope: orNull(scope), Target: target, DeliveredTo: []string{},
		Source: first(v.Precedence), ResolvedFrom: orNull(v.From), Precedence: append([]string{}, v.Precedence...),
	}
	if v.Available {
		out.EffectiveScope = &v.Scope
	}
	out.DeliveredTo = append(out.DeliveredTo, v.Services...)
	return out, nil
}

func orNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

func first(list []string) *string {
	if len(list) == 0 {
		return nil
	}
	return &list[0]
}
