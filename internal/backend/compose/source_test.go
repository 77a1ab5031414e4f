package compose

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tailrace/tailrace/internal/backend"
)

// read reads a source to its end, as texts: service, instance, stream, line. A notice begins
// with a !.
func read(t *testing.T, o Options) (lines []string, err error) {
	t.Helper()
	o.Project = "shop"
	s, err := Open(o)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	for items := range s.Batches(t.Context()) {
		lines = append(lines, texts(items)...)
	}
	return lines, s.Err()
}

func texts(items []backend.Item) (lines []string) {
	for _, i := range items {
		if n := i.Notice; n != nil {
			lines = append(lines, fmt.Sprintf("!%d %s", n.Dropped, n.Message))
			continue
		}
		r := i.Record
		lines = append(lines, fmt.Sprintf("%s-%s %s %s", r.Service, r.Instance, r.Stream, r.Line))
	}
	return lines
}

func shop(t *testing.T) *fakeEngine {
	e := newFakeEngine(t)
	e.add(&fakeContainer{id: "w2", service: "web", number: "2", records: []record{out(2, "b\n"), out(6, "f\n")}})
	e.add(&fakeContainer{id: "w1", service: "web", number: "1", records: []record{out(1, "a\n"), errs(5, "e\n"), out(3, "late\n"), out(7, "g\n")}})
	e.add(&fakeContainer{id: "d", service: "db", number: "1", records: []record{out(5, "d\n"), out(5, "e\n")}})
	e.add(&fakeContainer{id: "once", service: "web", number: "1", oneoff: true, records: []record{out(4, "s3cret\n")}})
	return e
}

// A snapshot has the lines of all containers in the order of time; those of one stay in
// theirs.
func TestSnapshot(t *testing.T) {
	e := shop(t)
	for _, tt := range []struct {
		name string
		o    Options
		want string
	}{
		{"all", Options{Lines: -1}, "web-1 stdout a, web-2 stdout b, db-1 stdout d, db-1 stdout e, web-1 stderr e, web-1 stdout late, web-2 stdout f, web-1 stdout g"},
		{"a service", Options{Lines: -1, Services: []string{"web"}}, "web-1 stdout a, web-2 stdout b, web-1 stderr e, web-1 stdout late, web-2 stdout f, web-1 stdout g"},
		{"the last of each", Options{Lines: 1}, "db-1 stdout e, web-2 stdout f, web-1 stdout g"},
		{"none", Options{Lines: 0}, ""},
		{"from a time on", Options{Lines: -1, Since: at(6)}, "web-2 stdout f, web-1 stdout g"},
		{"up to a time", Options{Lines: 1, Until: at(5)}, "web-2 stdout b, web-1 stdout late, db-1 stdout e"},
		{"no such service", Options{Lines: -1, Services: []string{"other"}}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.o.Env = e.env
			got, err := read(t, tt.o)
			if strings.Join(got, ", ") != tt.want || err != nil {
				t.Errorf("got %q, %v, want %q", got, err, tt.want)
			}
		})
	}
}

// The last lines are lines, however many records one has, and none of them lacks its begin.
func TestSnapshot_LastOfLong(t *testing.T) {
	e := newFakeEngine(t)
	c := e.add(&fakeContainer{id: "w", service: "web", number: "1"})
	part := strings.Repeat("x", recordBytes)
	for line := range 5 {
		for range 150 {
			c.records = append(c.records, out(line, part))
		}
		c.records = append(c.records, out(line, fmt.Sprintln(line)))
	}
	for _, tty := range []bool{false, true} {
		c.tty = tty
		for n := 1; n <= 6; n++ {
			got, err := read(t, Options{Env: e.env, Lines: n})
			if err != nil || len(got) != min(n, 5) {
				t.Fatalf("terminal %v: %d lines, %v, want %d", tty, len(got), err, min(n, 5))
			}
			for i, line := range got {
				want := "web-1 stdout " + strings.Repeat(part, 150) + fmt.Sprint(5-len(got)+i)
				if line != want {
					t.Errorf("terminal %v, last %d: line %d has %d bytes and ends with %.5s, want %d", tty, n, i, len(line), line[len(line)-5:], len(want))
				}
			}
		}
	}
}

// What takes more memory than there is for it is told.
func TestLastLines_TooMuch(t *testing.T) {
	var held atomic.Int64
	k, c := lastLines{n: 10, all: &held}, &container{}
	text := make([]byte, maxHeld/4)
	for i := range 8 {
		k.add(c, line{at: at(i), text: text, records: 1})
	}
	got := k.last()
	if len(got) != 5 || got[0].Notice == nil || got[0].Notice.Dropped != 4 || !got[4].Record.Time.Equal(at(7)) {
		t.Errorf("%d items, the first %+v", len(got), got[0].Notice)
	}
	if k.clear(); held.Load() != 0 {
		t.Errorf("%d bytes are held of nothing", held.Load())
	}
}

// A log that cannot be read is told of, and hides no other.
func TestSnapshot_Unreadable(t *testing.T) {
	e := shop(t)
	e.change(func() { e.containers[2].unreadable = true })
	e.change(func() { e.containers[1].service, e.containers[1].unreadable = "-s3cret\n", true })
	got, err := read(t, Options{Env: e.env, Lines: -1})
	all := strings.Join(got, ", ")
	if err != nil || len(got) != 4 || !strings.Contains(all, "!0 the log of service db cannot be read") || !strings.Contains(all, "the log of a service cannot be read") || strings.Contains(all, "s3cret") {
		t.Errorf("got %q, %v", got, err)
	}
}

// A connection that breaks off is a failure, not the end of a log.
func TestSnapshot_Broken(t *testing.T) {
	e := shop(t)
	e.cut = func() int { return 50 }
	_, err := read(t, Options{Env: e.env, Lines: -1})
	var known *backend.Error
	if !errors.As(err, &known) || known.Code != backend.CodeFailed {
		t.Errorf("got %v", err)
	}
}

func TestSnapshot_TooMany(t *testing.T) {
	e := newFakeEngine(t)
	for i := range maxContainers + 1 {
		e.add(&fakeContainer{id: fmt.Sprint("c", i), service: "web", number: fmt.Sprint(i)})
	}
	_, err := read(t, Options{Env: e.env})
	var known *backend.Error
	if !errors.As(err, &known) || known.Code != backend.CodeUsage {
		t.Errorf("got %v", err)
	}
}

// What is wrong with the engine has a code, and says nothing of where it is.
func TestErrors(t *testing.T) {
	refusing := newFakeEngine(t)
	refusing.refusing = true
	for _, tt := range []struct {
		name string
		env  []string
		code backend.Code
	}{
		{"no engine", []string{"DOCKER_HOST=tcp://" + closedPort(t)}, backend.CodeNoDocker},
		{"no socket", []string{"DOCKER_HOST=unix://" + t.TempDir() + "/s3cret.sock"}, backend.CodeNoDocker},
		{"an engine that hangs up", refusing.env, backend.CodeNoDocker},
		{"no address", []string{"DOCKER_HOST=s3cret"}, backend.CodeUsage},
		{"no such certificates", []string{"DOCKER_HOST=tcp://127.0.0.1:1", "DOCKER_TLS_VERIFY=1", "DOCKER_CERT_PATH=/s3cret"}, backend.CodeUsage},
		{"ssh", []string{"DOCKER_HOST=ssh://s3cret"}, backend.CodeUsage},
		{"no such context", []string{"DOCKER_CONTEXT=s3cret", "HOME=" + t.TempDir()}, backend.CodeUsage},
	} {
		for _, follow := range []bool{false, true} {
			t.Run(fmt.Sprint(tt.name, follow), func(t *testing.T) {
				_, err := read(t, Options{Env: tt.env, Follow: follow})
				var known *backend.Error
				if !errors.As(err, &known) || known.Code != tt.code || strings.Contains(err.Error(), "s3cret") {
					t.Errorf("got %v, want %s", err, tt.code)
				}
			})
		}
	}
}

// The engine is that of the docker command's context.
func TestAddress(t *testing.T) {
	home := t.TempDir()
	// The folder of a context has the SHA-256 of its name.
	id := idOf("far")
	writeFile(t, home+"/.docker/config.json", `{"currentContext":"far"}`)
	writeFile(t, home+"/.docker/contexts/meta/"+id+"/meta.json", `{"Name":"far","Endpoints":{"docker":{"Host":"tcp://far:2376"}}}`)
	tls := home + "/.docker/contexts/tls/" + id + "/docker/"
	writeFile(t, tls+"ca.pem", "")
	writeFile(t, tls+"cert.pem", "")
	writeFile(t, tls+"key.pem", "")
	for _, tt := range []struct {
		name string
		env  []string
		want address
	}{
		{"nothing", nil, address{}},
		{"the host", []string{"DOCKER_HOST=tcp://near:1", "HOME=" + home}, address{host: "tcp://near:1"}},
		{"the last one", []string{"DOCKER_HOST=tcp://a:1", "DOCKER_HOST=tcp://b:1"}, address{host: "tcp://b:1"}},
		{"certificates", []string{"DOCKER_HOST=tcp://near:1", "DOCKER_TLS_VERIFY=1", "HOME=/h"}, address{"tcp://near:1", "/h/.docker/ca.pem", "/h/.docker/cert.pem", "/h/.docker/key.pem"}},
		{"certificates elsewhere", []string{"DOCKER_HOST=tcp://near:1", "DOCKER_TLS_VERIFY=1", "DOCKER_CERT_PATH=/c"}, address{"tcp://near:1", "/c/ca.pem", "/c/cert.pem", "/c/key.pem"}},
		{"the context", []string{"HOME=" + home}, address{"tcp://far:2376", tls + "ca.pem", tls + "cert.pem", tls + "key.pem"}},
		{"its own configuration", []string{"DOCKER_CONFIG=" + home + "/.docker"}, address{"tcp://far:2376", tls + "ca.pem", tls + "cert.pem", tls + "key.pem"}},
		{"the default context", []string{"HOME=" + home, "DOCKER_CONTEXT=default"}, address{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := addressOf(tt.env)
			if got != tt.want || err != nil {
				t.Errorf("got %+v, %v, want %+v", got, err, tt.want)
			}
		})
	}
}

// A position is known by its records, not by their times alone.
func TestResume(t *testing.T) {
	for _, tt := range []struct {
		name  string
		read  []int // the times of the records that were read
		again []int // those that come
		want  int   // how many of these are known
	}{
		{"nothing was read", nil, []int{1, 2}, 0},
		{"the same", []int{1, 2, 3}, []int{1, 2, 3, 4}, 3},
		{"from the position on", []int{1, 2, 3}, []int{3, 4}, 1},
		{"of one time", []int{1, 1, 1}, []int{1, 1, 1, 1}, 3},
		{"a clock that went back before it", []int{5, 1, 2}, []int{5, 1, 2, 3}, 3},
		{"a clock that goes back after it", []int{1, 5}, []int{1, 5, 2, 3}, 2},
		{"its file is gone", []int{1, 5}, []int{6, 7}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var p position
			for _, ms := range tt.read {
				p.add(at(ms), 1)
			}
			r, known := resume{from: p}, 0
			for i, ms := range tt.again {
				if r.known(at(ms), 1) {
					known++
					if known != i+1 {
						t.Errorf("record %d is known, one before it is not", i)
					}
				}
			}
			if known != tt.want {
				t.Errorf("%d are known, want %d", known, tt.want)
			}
		})
	}
}
