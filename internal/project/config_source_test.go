package project_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/tailrace/tailrace/internal/project"
)

func TestParseConfig_Kinds(t *testing.T) {
	got, err := project.ParseConfig([]byte(`version: 1
sources:
  app: {files: ["logs/*.log", /var/log/app.log.gz]}
  sys: {journal: {}}
  unit: {journal: {unit: nginx.service, units: [a@1.service, "b*"], identifier: my app, priority: err, directory: j, user: true}}
  exported: {journal: {file: x.journal}}
  pods: {kubernetes: {selector: "app in (web, api),tier!=cache", namespace: shop, context: kind@local, container: web, previous: true}}
  pod: {kubernetes: {pod: web-0}}
  loki: {loki: {}}
  far: {loki: {url: "https://loki.example.org/base", query: '{a="b"}', tenant: t1, username: u, password_env: P, ca: ca.pem}}
  token: {loki: {token_env: TOKEN}}
  all: {compose: {}}
  some: {compose: {project: shop--fix, services: [web, db]}}
`), "/p")
	if err != nil {
		t.Fatal(err)
	}
	want := []project.Source{
		{Name: "app", Files: []string{"/p/logs/*.log", "/var/log/app.log.gz"}},
		{Name: "sys", Journal: &project.Journal{}},
		{Name: "unit", Journal: &project.Journal{Units: []string{"nginx.service", "a@1.service", "b*"}, Identifier: "my app", Priority: "err", Directory: "/p/j", User: true}},
		{Name: "exported", Journal: &project.Journal{File: "/p/x.journal"}},
		{Name: "pods", Kubernetes: &project.Kubernetes{Selector: "app in (web, api),tier!=cache", Namespace: "shop", Context: "kind@local", Container: "web", Previous: true}},
		{Name: "pod", Kubernetes: &project.Kubernetes{Pod: "web-0"}},
		{Name: "loki", Loki: &project.Loki{}},
		{Name: "far", Loki: &project.Loki{URL: "https://loki.example.org/base", Query: `{a="b"}`, Tenant: "t1", Username: "u", PasswordEnv: "P", CA: "/p/ca.pem"}},
		{Name: "token", Loki: &project.Loki{TokenEnv: "TOKEN"}},
		{Name: "all", Compose: &project.Compose{}},
		{Name: "some", Compose: &project.Compose{Project: "shop--fix", Services: []string{"web", "db"}}},
	}
	if !reflect.DeepEqual(got.Sources, want) {
		t.Errorf("got  %+v\nwant %+v", got.Sources, want)
	}
	for i, kind := range []string{"file", "journal", "journal", "journal", "kubernetes", "kubernetes", "loki", "loki", "loki", "compose", "compose"} {
		if got.Sources[i].Kind() != kind {
			t.Errorf("source %d is of kind %s", i, got.Sources[i].Kind())
		}
	}
}

// S5: no value can become a flag, and no value is repeated.
func TestParseConfig_KindRefusals(t *testing.T) {
	for _, tt := range []struct{ in, at, problem string }{
		{"{}", "3:6", "a source is a mapping with one of the keys"},
		{"{file: s3cret, journal: {}}", "3:6", "of one kind"},
		{"{s3cret: x}", "3:7", "unknown key"},
		{"{journal: {}, env: {A: s3cret}}", "3:20", "belong to a command"},
		{"{files: s3cret}", "3:14", "files is a list"},
		{"{files: []}", "3:14", "at least 1"},
		{"{files: ['s3cret[']}", "3:15", "close its brackets"},
		{"{files: [[s3cret]]}", "3:15", "files is a list"},
		{"{compose: s3cret}", "3:16", "compose is a mapping"},
		{"{compose: {s3cret: x}}", "3:17", "unknown key"},
		{"{compose: {project: S3cret}}", "3:26", "small letters"},
		{"{compose: {services: [--s3cret]}}", "3:28", "a service is"},
		{"{journal: s3cret}", "3:16", "journal is a mapping"},
		{"{journal: {s3cret: x}}", "3:17", "unknown key"},
		{"{journal: {unit: -s3cret}}", "3:23", "a unit is"},
		{"{journal: {units: [ok, --s3cret]}}", "3:29", "a unit is"},
		{"{journal: {units: s3cret}}", "3:24", "this is a list"},
		{"{journal: {identifier: -s3cret}}", "3:29", "begins with no dash"},
		{"{journal: {identifier: ''}}", "3:29", "begins with no dash"},
		{"{journal: {priority: s3cret}}", "3:27", "a priority is one of"},
		{"{journal: {priority: 3}}", "3:27", "a priority is one of"},
		{"{journal: {user: s3cret}}", "3:23", "true or false"},
		{"{journal: {file: s3cret, directory: x}}", "3:16", "not both"},
		{"{kubernetes: {}}", "3:19", "needs a selector or a pod"},
		{"{kubernetes: {pod: s3cret, selector: a=b}}", "3:19", "needs a selector or a pod"},
		{"{kubernetes: {pod: -s3cret}}", "3:25", "a name in a cluster"},
		{"{kubernetes: {pod: s3cret/x}}", "3:25", "a name in a cluster"},
		{"{kubernetes: {selector: -s3cret}}", "3:30", "a selector is one"},
		{"{kubernetes: {selector: 's3cret;x'}}", "3:30", "a selector is one"},
		{"{kubernetes: {selector: a=b, container: S3CRET}}", "3:46", "a name in a cluster"},
		{"{kubernetes: {selector: a=b, namespace: -s3cret}}", "3:46", "a name in a cluster"},
		{"{kubernetes: {selector: a=b, context: --s3cret}}", "3:44", "begins with no dash"},
		{"{loki: {url: 'ftp://s3cret'}}", "3:19", "url is one such"},
		{"{loki: {url: 'http://u:s3cret@host'}}", "3:19", "without a user"},
		{"{loki: {url: 'http://host?s3cret=1'}}", "3:19", "without a user"},
		{"{loki: {url: 'http:///s3cret'}}", "3:19", "url is one such"},
		{"{loki: {query: ' '}}", "3:21", "query is a log query"},
		{"{loki: {token: s3cret}}", "3:14", "a secret does not belong"},
		{"{loki: {password: s3cret}}", "3:14", "a secret does not belong"},
		{"{loki: {token_env: 'not a name'}}", "3:25", "the name of an environment variable"},
		{"{loki: {username: s3cret}}", "3:13", "belong together"},
		{"{loki: {username: s3cret, password_env: A, token_env: B}}", "3:13", "exclude each other"},
		{"{loki: {tenant: \"s3cret\\r\\nx: y\"}}", "3:22", "begins with no dash"},
	} {
		_, err := project.ParseConfig([]byte("version: 1\nsources:\n  x: "+tt.in+"\n"), "/p")
		var refused *project.ConfigError
		if !errors.As(err, &refused) {
			t.Errorf("%s: got error %v", tt.in, err)
			continue
		}
		if text := err.Error(); !strings.HasPrefix(text, "tailrace.yaml:"+tt.at+": ") || !strings.Contains(text, tt.problem) || strings.Contains(strings.ToLower(text), "s3cret") {
			t.Errorf("%s: got %q, want %q at %s", tt.in, text, tt.problem, tt.at)
		}
	}
}
