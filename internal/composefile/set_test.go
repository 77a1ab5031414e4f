package composefile

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"go.uber.org/goleak"

	"github.com/tailrace/tailrace/internal/project"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// write makes the files of a project and returns it as it is found.
func write(t *testing.T, files map[string]string) project.Project {
	t.Helper()
	root := filepath.Join(t.TempDir(), "My_Shop")
	for name, text := range files {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	c, err := project.NewContext(root, []string{"HOME=" + root})
	if err != nil {
		t.Fatal(err)
	}
	p, ok := c.Find(root)
	if !ok {
		t.Fatal("no project")
	}
	return p
}

const yamlProject = "version: 1\n"

func TestFind(t *testing.T) {
	const services = "services: {web: {image: x}}\n"
	for _, c := range []struct {
		name  string
		files map[string]string
		want  []string
	}{
		{"hack", map[string]string{".hack/docker-compose.yml": services, "compose.yaml": services}, []string{".hack/docker-compose.yml"}},
		{"dev", map[string]string{".dev/docker-compose.yml": services}, []string{".dev/docker-compose.yml"}},
		{"root", map[string]string{"tailrace.yaml": yamlProject, "docker-compose.yml": services, "compose.yaml": services}, []string{"compose.yaml"}},
		{"override", map[string]string{"tailrace.yaml": yamlProject, "compose.yml": services, "compose.override.yaml": services}, []string{"compose.yml", "compose.override.yaml"}},
		{"none", map[string]string{"tailrace.yaml": yamlProject, "compose.override.yml": services}, nil},
		{"a folder of that name", map[string]string{"tailrace.yaml": yamlProject, "compose.yaml/x": ""}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := write(t, c.files)
			s, err := Find(p)
			var got []string
			for _, f := range s.Files {
				got = append(got, s.place(f))
			}
			if !slices.Equal(got, c.want) || (err != nil) != (c.want == nil) || err != nil && !errors.Is(err, ErrNoFile) {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
}

func TestName(t *testing.T) {
	for _, c := range []struct {
		name   string
		files  map[string]string
		env    []string
		branch string
		want   string
		err    error
	}{
		{"name of the file", map[string]string{".hack/docker-compose.yml": "name: shop\nservices: {}\n"}, nil, "", "shop", nil},
		{"interpolated", map[string]string{".hack/docker-compose.yml": "name: ${APP:-shop}-x\n"}, []string{"APP=other"}, "", "other-x", nil},
		{"from .env", map[string]string{".hack/docker-compose.yml": "name: ${APP}\n", ".hack/.env": "APP=dot\n"}, nil, "", "dot", nil},
		{"the environment comes first", map[string]string{".hack/docker-compose.yml": "name: ${APP}\n", ".hack/.env": "APP=dot\n"}, []string{"APP=env"}, "", "env", nil},
		{"COMPOSE_PROJECT_NAME", map[string]string{".hack/docker-compose.yml": "name: shop\n", ".hack/.env": "COMPOSE_PROJECT_NAME=set\n"}, nil, "", "set", nil},
		{"config of hack", map[string]string{".hack/docker-compose.yml": "services: {}\n", ".hack/hack.config.json": `{"name":"Web Shop"}`}, nil, "", "web-shop", nil},
		{"folder of the project", map[string]string{".hack/docker-compose.yml": "services: {}\n"}, nil, "", "my-shop", nil},
		{"folder of the file", map[string]string{"tailrace.yaml": yamlProject, "compose.yaml": "services: {}\n"}, nil, "", "my_shop", nil},
		{"last file", map[string]string{"tailrace.yaml": yamlProject, "compose.yaml": "name: a\n", "compose.override.yaml": "name: b\n"}, nil, "", "b", nil},
		{"branch", map[string]string{".hack/docker-compose.yml": "name: shop\n"}, nil, "Fix/the_Cart!", "shop--fix-the-cart", nil},
		{"branch without letters", map[string]string{".hack/docker-compose.yml": "name: shop\n"}, nil, "!!", "shop--branch", nil},
		{"tags elsewhere", map[string]string{".hack/docker-compose.yml": "name: shop\nservices: {web: {ports: !reset []}}\n"}, nil, "", "shop", nil},
		{"upper case", map[string]string{".hack/docker-compose.yml": "name: Shop\n"}, nil, "", "", ErrName},
		{"a flag", map[string]string{".hack/docker-compose.yml": "name: --file\n"}, nil, "", "", ErrName},
		{"required and not set", map[string]string{".hack/docker-compose.yml": "name: ${APP:?}\n"}, nil, "", "", ErrName},
		{"no YAML", map[string]string{".hack/docker-compose.yml": "name: [\n"}, nil, "", "", ErrCompose},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := Find(write(t, c.files))
			if err != nil {
				t.Fatal(err)
			}
			env, err := s.Env(c.env, "")
			if err != nil {
				t.Fatal(err)
			}
			if got, err := s.Name(env, c.branch); got != c.want || !errors.Is(err, c.err) {
				t.Errorf("got %q, %v, want %q", got, err, c.want)
			}
		})
	}
}

func TestEnvRefuses(t *testing.T) {
	s, err := Find(write(t, map[string]string{".hack/docker-compose.yml": "name: shop\n", ".hack/.env": "GOOD=1\ncanary hunter2 = 'x\n"}))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Env(nil, ""); !errors.Is(err, ErrEnvFile) {
		t.Errorf("a .env that is no such file: %v", err)
	}
	if err := os.WriteFile(filepath.Join(s.Dir, ".env"), make([]byte, maxFileBytes+1), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Env(nil, ""); !errors.Is(err, ErrEnvFile) {
		t.Errorf("a .env that is too large: %v", err)
	}
	if err := os.Remove(filepath.Join(s.Dir, ".env")); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Env(nil, "prod"); !errors.Is(err, ErrOverlay) {
		t.Errorf("an environment without a file: %v", err)
	}
	if _, err := s.Env(nil, "base"); err != nil {
		t.Errorf("the base: %v", err)
	}
}
