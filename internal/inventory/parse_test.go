package inventory

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

func TestEnvNames(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string
		whole      bool
	}{
		{"nothing", "", nil, true},
		{"comments and blanks", "# A=1\n\n \t\nB=2", []string{"B"}, true},
		{"CR LF and a BOM", "\ufeffA=1\r\nB=2\r\n", []string{"A", "B"}, true},
		{"export", "export A=1\nexport\tB=2\n", []string{"A"}, false},
		{"spaces", "  A = 1 \n", []string{"A"}, true},
		{"double quotes over lines", "A=\"x\nB=2\n\\\"C=3\"\nD=4\n", []string{"A", "D"}, true},
		{"single quotes escape nothing", "A='x\\'\nB=2\n", []string{"A", "B"}, true},
		{"backticks", "A=`x\nB=1`\nC=2\n", []string{"A", "C"}, true},
		{"a quote that does not end", "A=\"x\nB=2\nC=3\n", []string{"A"}, false},
		{"a key over lines without quotes", "K=-----BEGIN KEY-----\nMIIEowIBAAKCAQEA\nabc=\n-----END KEY-----\nB=2\n", []string{"K"}, false},
		{"JSON over lines without quotes", "K={\n\"a\": \"b=c\"\n}\n", []string{"K"}, false},
		{"base64", "dGhpcyBpcyBhIHNlY3JldA==\nB=2\n", nil, false},
		{"a bare word", "s3cr3t\nB=2\n", nil, false},
		{"YAML", "A: 1\nB=2\n", nil, false},
		{"no name", "=1\nB=2\n", nil, false},
		{"quoted name", "\"A\"=1\n", nil, false},
		{"equals in the value", "A=b=c\n", []string{"A"}, true},
		{"text behind the quote", "A='x' # B=2\nC=3\n", []string{"A", "C"}, true},
	} {
		names, whole := envNames(c.text)
		if !slices.Equal(names, c.want) || whole != c.whole {
			t.Errorf("%s: got %q %v, want %q %v", c.name, names, whole, c.want, c.whole)
		}
	}
}

func TestPort(t *testing.T) {
	for written, want := range map[string]string{
		"80": "80", "8080:80": "8080:80", "127.0.0.1:8080:80/tcp": "8080:80", "[::1]:8080:80": "8080:80", "${P:-1}:80": "80", "3000-3005:3000-3005": "3000-3005:3000-3005",
		"": "", "x": "", "80:": "", "80:x": "", "123456": "", "80/udp": "80", "1.5": "", "-80": "",
	} {
		got, ok := port(written)
		if got != want || ok != (want != "") {
			t.Errorf("%q: got %q %v", written, got, ok)
		}
	}
}

func services(t testing.TB, text string) ([]Service, error) {
	t.Helper()
	r := &reader{limits: DefaultLimits(), out: &Inventory{}}
	return r.services([]byte(text))
}

func TestServices_AnchorsAndMerges(t *testing.T) {
	got, err := services(t, `
x-env: &env
  A: 1
  B: 2
x-base: &base
  image: base:1
  environment: *env
services:
  web:
    <<: *base
    image: web:1
    ports: &ports [80]
  api:
    <<: [*base, {profiles: [dev]}]
    ports: *ports
    environment:
      <<: *env
      C: &c 3
  none: *nowhere
  empty:
`)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	want := `[{"name":"web","image":"web:1","ports":["80"],"env":["A","B"]},{"name":"api","image":"base:1","ports":["80"],"env":["C","A","B"],"profiles":["dev"]},{"name":"none"},{"name":"empty"}]`
	if string(text) != want {
		t.Errorf("got  %s\nwant %s", text, want)
	}
}

// hostile are files that would cost a trusting reader very much.
func hostile() map[string]string {
	bomb := "a0: &a0 {X: 1}\n"
	for i := 1; i < 40; i++ {
		prev, next := "a"+strings.Repeat("i", i-1)+"0", "a"+strings.Repeat("i", i)+"0"
		bomb += next + ": &" + next + "\n  <<: [*" + prev + ", *" + prev + ", *" + prev + "]\n"
	}
	var nested strings.Builder
	for i := 0; nested.Len() < 60<<10; i++ {
		nested.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	return map[string]string{
		"merge bomb":   bomb + "services: *a" + strings.Repeat("i", 39) + "0\n",
		"alias bomb":   "a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nservices:\n  web:\n    ports: *b\n",
		"own alias":    "services: &a\n  web: *a\n",
		"own merge":    "services: &a\n  <<: *a\n  web: {<<: *a}\n",
		"nested":       nested.String(),
		"brackets":     "services: " + strings.Repeat("[", 1000) + strings.Repeat("]", 1000),
		"many":         "services: " + strings.Repeat("[", 5000),
		"long line":    "services: {web: {image: " + strings.Repeat("x", 5000) + "}}\n",
		"many keys":    "services:\n" + strings.Repeat("  w:\n", 12<<10),
		"many anchors": "services:\n" + strings.Repeat("  w: &a\n", 8<<10),
		"quotes":       strings.Repeat("\"\n", 30<<10),
		"tabs":         "services:\n\tweb: 1\n",
		"two":          "services: {a: {}}\n---\nservices: {b: {}}\n",
		"NUL":          "services: {a: {}}\x00",
		"not UTF-8":    "services: {\xff: {}}\n",
		"text":         "hello",
		"list":         "- services\n",
		"empty":        "",
	}
}

func TestServices_Hostile(t *testing.T) {
	for name, text := range hostile() {
		got, err := services(t, text)
		if len(got) > maxServices || err != nil && got != nil {
			t.Errorf("%s: %d services, %v", name, len(got), err)
		}
		for _, s := range got {
			if len(s.Ports)+len(s.Env)+len(s.Profiles) > 3*maxNames {
				t.Errorf("%s: %+v", name, s)
			}
		}
	}
}

// FuzzServices: no text breaks the reader, and what it returns has the form.
func FuzzServices(f *testing.F) {
	for _, text := range hostile() {
		if len(text) < 4<<10 {
			f.Add([]byte(text))
		}
	}
	f.Add([]byte("services:\n  web: {image: a, ports: ['80:80', {target: 1}], environment: {A: b}, profiles: [x]}\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) > 8<<10 {
			return
		}
		r := &reader{limits: DefaultLimits(), out: &Inventory{}}
		got, _ := r.services(text)
		for _, s := range got {
			if !nameRE.MatchString(s.Name) || s.Image != "" && !imageRE.MatchString(s.Image) {
				t.Fatalf("%+v", s)
			}
			for _, list := range [][]string{s.Ports, s.Env, s.Profiles} {
				for _, v := range list {
					if !portsRE.MatchString(v) && !composeEnvRE.MatchString(v) && !nameRE.MatchString(v) {
						t.Fatalf("%q", v)
					}
				}
			}
		}
		if r.texts > r.limits.MaxTextBytes {
			t.Fatalf("%d bytes of text", r.texts)
		}
	})
}

// FuzzEnvNames: what is returned stands before an equals sign, outside of quotes that end.
func FuzzEnvNames(f *testing.F) {
	f.Add("A=1\nexport B='x\ny'\nC=\"\\\"\"\n")
	f.Fuzz(func(t *testing.T, text string) {
		names, _ := envNames(text)
		for _, n := range names {
			if !composeEnvRE.MatchString(n) || !strings.Contains(text, n) {
				t.Fatalf("%q", n)
			}
		}
	})
}
