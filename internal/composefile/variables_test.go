package composefile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// canary is in each value of the project below, and must be in nothing that is returned.
const canary = "hunter2canary"

const composeText = `name: shop
services:
  web:
    image: ${IMAGE:-web}
    environment:
      LITERAL: hunter2canary
      PASSED:
      GONE:
      FILLED: x-${BASE}-hunter2canary
      NEEDS: ${REQUIRED:?hunter2canary}
    env_file: [web.env, {path: missing.env, required: false}]
    labels:
      caddy: web.${HOST:-shop.test}, other.test
  db:
    extends: {file: other.yml, service: base}
    environment:
      - DB_PASSWORD=hunter2canary
      - BASE
      - "hunter2canary not a name"
secrets:
  one: {environment: SIGNING}
`

func composeProject(t *testing.T) Set {
	t.Helper()
	s, err := Find(write(t, map[string]string{
		".hack/docker-compose.yml": composeText,
		".hack/other.yml":          "services: {base: {image: db, environment: {FROM_BASE: hunter2canary}}}\n",
		".hack/.env":               "BASE=hunter2canary\nPASSED=hunter2canary\nSIGNING=hunter2canary\nOVER=hunter2canary\n",
		".hack/.env.prod":          "OVER=hunter2canary\n",
		".hack/web.env":            "FROM_FILE=hunter2canary\nLITERAL=hunter2canary\n",
	}))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func modelOf(t *testing.T, s Set, overlay string, everywhere bool) *Model {
	t.Helper()
	env, err := s.Env([]string{"PASSED=hunter2canary", "UNRELATED=hunter2canary"}, overlay)
	if err != nil {
		t.Fatal(err)
	}
	m, err := s.Model(t.Context(), env, everywhere)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestVariable(t *testing.T) {
	const file = ".hack/docker-compose.yml:services."
	m := modelOf(t, composeProject(t), "prod", true)
	for _, c := range []struct {
		key, scope string
		want       Variable
	}{
		{"BASE", "", Variable{Available: true, Precedence: []string{".hack/.env"}, Scope: Global, Services: []string{"db"}}},
		{"BASE", "db", Variable{Available: true, Precedence: []string{file + "db.environment"}, From: ".hack/.env", Scope: "db", Services: []string{"db"}}},
		{"PASSED", "web", Variable{Available: true, Precedence: []string{file + "web.environment"}, From: ProcessPlace, Scope: "web", Services: []string{"web"}}},
		{"PASSED", Global, Variable{Available: true, Precedence: []string{ProcessPlace, ".hack/.env"}, Scope: Global, Services: []string{"web"}}},
		{"OVER", "", Variable{Available: true, Precedence: []string{".hack/.env.prod", ".hack/.env"}, Scope: Global}},
		{"LITERAL", "web", Variable{Available: true, Precedence: []string{file + "web.environment", ".hack/web.env"}, Scope: "web", Services: []string{"web"}}},
		{"LITERAL", "", Variable{Available: true, Precedence: []string{file + "web.environment", ".hack/web.env"}, Scope: "web", Services: []string{"web"}}},
		{"FROM_FILE", "web", Variable{Available: true, Precedence: []string{".hack/web.env"}, Scope: "web", Services: []string{"web"}}},
		{"FROM_BASE", "db", Variable{Available: true, Precedence: []string{file + "db.environment"}, Scope: "db", Services: []string{"db"}}},
		{"FILLED", "web", Variable{Available: true, Precedence: []string{file + "web.environment"}, From: ".hack/.env", Scope: "web", Services: []string{"web"}}},
		{"NEEDS", "web", Variable{Precedence: []string{file + "web.environment"}, Scope: "web", Services: []string{"web"}}},
		{"GONE", "web", Variable{Scope: Global, Services: []string{"web"}}},
		{"DB_PASSWORD", "db", Variable{Secret: true, Available: true, Precedence: []string{file + "db.environment"}, Scope: "db", Services: []string{"db"}}},
		{"SIGNING", "", Variable{Secret: true, Available: true, Precedence: []string{".hack/.env"}, Scope: Global}},
		{"REQUIRED", "", Variable{Required: true, Scope: Global}},
		{"UNRELATED", "web", Variable{Scope: Global}},
	} {
		c.want.Key = c.key
		if got := m.Variable(c.key, c.scope); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s in %q:\n got %+v\nwant %+v", c.key, c.scope, got, c.want)
		}
	}
	if got := m.Missing(); len(got) != 1 || got[0] != "REQUIRED" {
		t.Errorf("missing: %q", got)
	}
	if got := m.Host("web"); got != "web.shop.test" {
		t.Errorf("host: %q", got)
	}
}

func TestVariables(t *testing.T) {
	m := modelOf(t, composeProject(t), "", true)
	for scope, want := range map[string]string{
		"":     "BASE DB_PASSWORD FILLED FROM_BASE FROM_FILE GONE HOST IMAGE LITERAL NEEDS OVER PASSED REQUIRED SIGNING",
		Global: "BASE HOST IMAGE OVER PASSED REQUIRED SIGNING",
		"web":  "FILLED FROM_FILE GONE LITERAL NEEDS PASSED",
		"db":   "BASE DB_PASSWORD FROM_BASE",
		"none": "",
	} {
		var got []string
		for _, v := range m.Variables(scope) {
			got = append(got, v.Key)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q: %q, want %q", scope, strings.Join(got, " "), want)
		}
	}
}

// TestS6_ModelHoldsNoValue looks for the canary in all that is returned.
func TestS6_ModelHoldsNoValue(t *testing.T) {
	s := composeProject(t)
	m := modelOf(t, s, "prod", true)
	for _, scope := range []string{"", Global, "web", "db"} {
		if text := fmt.Sprintf("%+v", m.Variables(scope)); strings.Contains(text, canary) {
			t.Errorf("S6: %s", text)
		}
	}
	if text := fmt.Sprint(m.Missing(), m.Services(), m.env.Files()); strings.Contains(text, canary) {
		t.Errorf("S6: %s", text)
	}
	for _, broken := range []string{"services: [hunter2canary", "hunter2canary", "services: {web: {extends: {service: hunter2canary}}}\n", "a: &a [hunter2canary]\nservices: *b\n"} {
		if err := os.WriteFile(s.Files[0], []byte(broken), 0o644); err != nil {
			t.Fatal(err)
		}
		env, err := s.Env(nil, "")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Model(t.Context(), env, true); !errors.Is(err, ErrCompose) || strings.Contains(err.Error(), canary) {
			t.Errorf("S6: %q: %v", broken, err)
		}
	}
}

// Files outside of a project that is not registered are not read.
func TestModelStaysInside(t *testing.T) {
	s := composeProject(t)
	outside := filepath.Join(t.TempDir(), "secret.env")
	if err := os.WriteFile(outside, []byte("OUTSIDE=hunter2canary\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(s.Dir, "link.env")); err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf("services: {web: {env_file: [%q, link.env, web.env]}}\n", outside)
	if err := os.WriteFile(s.Files[0], []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	for everywhere, want := range map[bool]string{false: "FROM_FILE LITERAL", true: "FROM_FILE LITERAL OUTSIDE"} {
		var got []string
		for _, v := range modelOf(t, s, "", everywhere).Variables("web") {
			got = append(got, v.Key)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("everywhere %v: %q", everywhere, got)
		}
	}
}
