package compose

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tailrace/tailrace/pipeline"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A record is one record of a fake container's log.
type record struct {
	stream pipeline.Stream
	at     time.Time
	text   string // with LF, unless the line goes on
}

// A fakeContainer is one container of a fake engine, which guards it.
type fakeContainer struct {
	id, service, number string
	oneoff, tty         bool
	running             bool
	unreadable          bool
	short               bool // a stream that is followed ends without the last records
	records             []record
	sent                int // how many were there when a stream that is followed had sent all
}

// A fakeEngine answers as a Docker engine does, over TCP on loopback.
type fakeEngine struct {
	t   *testing.T
	env []string
	srv *httptest.Server
	// sinceEach looks at the time of each record, as engines before 23 do.
	sinceEach bool
	// cut, if it returns n >= 0 for a stream of a log, ends its connection after n bytes.
	cut func() int

	mu         sync.Mutex
	changed    chan struct{} // closed and replaced with each change
	containers []*fakeContainer
	events     []map[string]any
	asked      []string // the queries for logs
	refusing   bool
}

func newFakeEngine(t *testing.T) *fakeEngine {
	e := &fakeEngine{t: t, changed: make(chan struct{}), cut: func() int { return -1 }}
	e.srv = httptest.NewServer(e)
	e.srv.Config.ErrorLog = nil
	t.Cleanup(e.srv.Close)
	e.env = []string{"DOCKER_HOST=tcp://" + strings.TrimPrefix(e.srv.URL, "http://"), "HOME=" + t.TempDir()}
	return e
}

// change changes something and wakes those who wait for it.
func (e *fakeEngine) change(f func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	f()
	close(e.changed)
	e.changed = make(chan struct{})
}

// add adds a container, which runs.
func (e *fakeEngine) add(c *fakeContainer) *fakeContainer {
	e.change(func() {
		c.running = true
		e.containers = append(e.containers, c)
		e.event("start", c)
	})
	return c
}

func (e *fakeEngine) event(action string, c *fakeContainer) {
	e.events = append(e.events, map[string]any{"Type": "container", "Action": action, "Actor": map[string]any{"ID": c.id, "Attributes": c.labels()}})
}

func (e *fakeEngine) write(c *fakeContainer, records ...record) {
	e.change(func() { c.records = append(c.records, records...) })
}

func (e *fakeEngine) stop(c *fakeContainer) { e.change(func() { c.running = false }) }

func (e *fakeEngine) start(c *fakeContainer) {
	e.change(func() {
		c.running = true
		e.event("start", c)
	})
}

func (e *fakeEngine) remove(c *fakeContainer) {
	e.change(func() {
		c.running = false
		for i := range e.containers {
			if e.containers[i] == c {
				e.containers = append(e.containers[:i:i], e.containers[i+1:]...)
				break
			}
		}
		e.event("destroy", c)
	})
}

func (c *fakeContainer) labels() map[string]string {
	oneoff := "False"
	if c.oneoff {
		oneoff = "True"
	}
	return map[string]string{labelProject: "shop", labelService: c.service, labelNumber: c.number, labelOneoff: oneoff}
}

func (e *fakeEngine) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.refusing {
		panic(http.ErrAbortHandler)
	}
	w.Header().Set("Api-Version", "1.41")
	path := r.URL.Path
	if strings.HasPrefix(path, "/v1.") {
		path = path[strings.Index(path[1:], "/")+1:]
	}
	switch {
	case path == "/_ping":
		fmt.Fprint(w, "OK")
	case path == "/containers/json":
		e.list(w, r)
	case path == "/events":
		e.serveEvents(w, r)
	case strings.HasPrefix(path, "/containers/"):
		id, what, _ := strings.Cut(strings.TrimPrefix(path, "/containers/"), "/")
		for _, c := range e.containers {
			if c.id != id {
				continue
			}
			if what == "json" {
				_ = json.NewEncoder(w).Encode(map[string]any{"Id": id, "Config": map[string]any{"Tty": c.tty}})
			} else {
				e.logs(w, r, c)
			}
			return
		}
		http.Error(w, `{"message":"No such container"}`, http.StatusNotFound)
	default:
		http.Error(w, `{"message":"page not found"}`, http.StatusNotFound)
	}
}

func (e *fakeEngine) list(w http.ResponseWriter, r *http.Request) {
	if got, want := r.URL.Query().Get("filters"), `{"label":{"com.docker.compose.project=shop":true}}`; got != want || r.URL.Query().Get("all") != "1" {
		e.t.Errorf("the list is asked for with %s", r.URL.RawQuery)
	}
	list := []map[string]any{}
	for _, c := range e.containers {
		list = append(list, map[string]any{"Id": c.id, "Labels": c.labels()})
	}
	_ = json.NewEncoder(w).Encode(list)
}

// streaming waits until so many logs are followed.
func (e *fakeEngine) streaming(n int) {
	e.t.Helper()
	e.until(func() bool {
		follows := 0
		for _, q := range e.asked {
			if strings.Contains(q, "follow=1") {
				follows++
			}
		}
		return follows >= n
	})
}

// until waits until something is so.
func (e *fakeEngine) until(so func() bool) {
	e.t.Helper()
	end := time.After(20 * time.Second)
	for {
		e.mu.Lock()
		done, changed := so(), e.changed
		e.mu.Unlock()
		if done {
			return
		}
		select {
		case <-changed:
		case <-end:
			e.t.Fatal("what is waited for does not come")
		}
	}
}

// wait waits for a change, with the lock given back. It is false once the request is over.
func (e *fakeEngine) wait(r *http.Request) bool {
	changed := e.changed
	e.mu.Unlock()
	defer e.mu.Lock()
	select {
	case <-changed:
		return true
	case <-r.Context().Done():
		return false
	}
}

func (e *fakeEngine) serveEvents(w http.ResponseWriter, r *http.Request) {
	_ = http.NewResponseController(w).Flush()
	for n := len(e.events); ; {
		for ; n < len(e.events); n++ {
			_ = json.NewEncoder(w).Encode(e.events[n])
		}
		_ = http.NewResponseController(w).Flush()
		if !e.wait(r) {
			return
		}
		if e.refusing {
			panic(http.ErrAbortHandler)
		}
	}
}

func (e *fakeEngine) logs(w http.ResponseWriter, r *http.Request, c *fakeContainer) {
	q := r.URL.Query()
	e.asked = append(e.asked, r.URL.RawQuery)
	close(e.changed)
	e.changed = make(chan struct{})
	if c.unreadable {
		http.Error(w, `{"message":"configured logging driver does not support reading"}`, http.StatusNotImplemented)
		return
	}
	since, until := unix(q.Get("since")), unix(q.Get("until"))
	first := 0
	if n, err := strconv.Atoi(q.Get("tail")); err == nil {
		first = max(0, len(c.records)-n)
	}
	room := e.cut()
	put := func(b []byte) {
		if room >= 0 && len(b) > room {
			_, _ = w.Write(b[:room])
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}
		if room >= 0 {
			room -= len(b)
		}
		_, _ = w.Write(b)
	}
	_ = http.NewResponseController(w).Flush()
	for i := first; ; {
		for ; i < len(c.records) && !(c.short && !c.running && q.Get("follow") == "1"); i++ {
			rec := c.records[i]
			if !since.IsZero() && rec.at.Before(since) {
				continue
			}
			if !e.sinceEach {
				since = time.Time{}
			}
			if !until.IsZero() && rec.at.After(until) {
				return
			}
			put(rec.frame(c.tty))
		}
		_ = http.NewResponseController(w).Flush()
		if q.Get("follow") == "1" && c.sent < len(c.records) {
			c.sent = len(c.records)
			close(e.changed)
			e.changed = make(chan struct{})
		}
		if q.Get("follow") != "1" || !c.running || !e.wait(r) {
			return
		}
		if e.refusing {
			panic(http.ErrAbortHandler)
		}
	}
}

// frame is the record as the engine sends it.
func (r record) frame(tty bool) []byte {
	text := r.at.UTC().Format("2006-01-02T15:04:05.000000000Z07:00") + " " + r.text
	if tty {
		return []byte(text)
	}
	head := make([]byte, 8, 8+len(text))
	head[0] = 1
	if r.stream == pipeline.Stderr {
		head[0] = 2
	}
	binary.BigEndian.PutUint32(head[4:], uint32(len(text)))
	return append(head, text...)
}

func unix(text string) time.Time {
	sec, nanos, ok := strings.Cut(text, ".")
	if !ok {
		return time.Time{}
	}
	s, _ := strconv.ParseInt(sec, 10, 64)
	n, _ := strconv.ParseInt(nanos, 10, 64)
	return time.Unix(s, n)
}

// closedPort is an address that nothing listens on.
func closedPort(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
