package loki

import (
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tailrace/tailrace/internal/backend"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	at  = time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	web = map[string]string{"service": "web", "level": "warning", "stream": "stderr"}
	db  = map[string]string{"service_name": "db"}
)

func (s *server) options(o Options) Options {
	o.URL, o.Query = s.URL+"/", `{project="shop"}`
	o.now = func() time.Time { return at.Add(time.Minute) }
	o.retryAfter = time.Millisecond
	return o
}

// read reads a source to its end, or until a line.
func read(t *testing.T, ctx context.Context, o Options, each func(item backend.Item) bool) error {
	t.Helper()
	s, err := Open(o)
	if err != nil {
		return err
	}
	defer s.Close()
loop:
	for items := range s.Batches(ctx) {
		for _, item := range items {
			if !each(item) {
				break loop
			}
		}
	}
	return s.Err()
}

func lines(t *testing.T, o Options) (got []string, err error) {
	t.Helper()
	err = read(t, t.Context(), o, func(item backend.Item) bool {
		if item.Notice != nil {
			got = append(got, fmt.Sprintf("dropped %d", item.Notice.Dropped))
		} else {
			got = append(got, string(item.Record.Line))
		}
		return true
	})
	return got, err
}

func TestSelector(t *testing.T) {
	for _, tt := range []struct {
		project  string
		services []string
		want     string
	}{
		{"shop", nil, `{project="shop"}`},
		{"shop", []string{"web"}, `{project="shop",service="web"}`},
		{"", []string{"a.b", "c"}, `{service=~"^(a\\.b|c)$"}`},
		{"a\"b\\c\n", nil, `{project="a\"b\\c\n"}`},
		{"shop", []string{`a"}`, "b|c"}, `{project="shop",service=~"^(a\"\\}|b\\|c)$"}`},
	} {
		if got := Selector(tt.project, tt.services); got != tt.want {
			t.Errorf("got %s, want %s", got, tt.want)
		}
	}
}

func TestSnapshot_Record(t *testing.T) {
	s := newServer(t)
	s.push(sample{at.UnixNano() + 7, web, `{"msg":"slow","port":80}`})
	s.push(sample{at.UnixNano() + 8, db, "x"})
	var got []backend.Item
	err := read(t, t.Context(), s.options(Options{Lines: 10}), func(item backend.Item) bool { got = append(got, item); return true })
	if err != nil || len(got) != 2 {
		t.Fatalf("%d items, %v", len(got), err)
	}
	if r := got[0].Record; r.Service != "web" || r.Level != "warn" || r.Stream != "stderr" || !r.Nanos || r.Time.UnixNano() != at.UnixNano()+7 || r.Labels["level"] != "warning" {
		t.Errorf("%+v", r)
	}
	if r := got[1].Record; r.Service != "db" || r.Level != "" {
		t.Errorf("%+v", r)
	}
}

// Pages go beyond what the server gives at once, streams are merged by time, and many lines
// with one time are neither lost nor repeated.
func TestSnapshot_Pages(t *testing.T) {
	s := newServer(t)
	var want []string
	var stored []sample
	for i := range 1000 {
		// Seven lines at each time, of two streams.
		line := fmt.Sprint("line ", i)
		labels := web
		if i%7 >= 3 {
			labels = db
		}
		stored = append(stored, sample{at.UnixNano() + int64(i/7), labels, line})
		want = append(want, line)
	}
	s.push(stored...)
	for _, tt := range []struct {
		name      string
		max, page int
		o         Options
		want      []string
	}{
		{"one page", 5000, 5000, Options{Lines: 2000}, want},
		{"many pages", 5000, 10, Options{Lines: 2000}, want},
		{"the last", 5000, 10, Options{Lines: 33}, want[1000-33:]},
		{"the last one", 5000, 10, Options{Lines: 1}, want[999:]},
		{"none", 5000, 10, Options{Lines: 0}, nil},
		{"all, forward", 5000, 10, Options{Lines: -1, Since: at.Add(-time.Hour)}, want},
		{"a smaller server", 8, 1000, Options{Lines: 2000}, want},
		{"pages smaller than a time", 5000, 2, Options{Lines: 2000}, want},
		{"the same, forward", 5000, 3, Options{Lines: -1, Since: at}, want},
		{"times, both included", 5000, 10, Options{Lines: -1, Since: at.Add(2), Until: at.Add(4)}, want[14:35]},
		{"times and lines", 5000, 10, Options{Lines: 5, Since: at.Add(2), Until: at.Add(4)}, want[30:35]},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s.mu.Lock()
			s.max = tt.max
			s.mu.Unlock()
			o := s.options(tt.o)
			o.page = tt.page
			got, err := lines(t, o)
			if err != nil || len(got) != len(tt.want) {
				t.Fatalf("%d lines, want %d, %v", len(got), len(tt.want), err)
			}
			// Of lines with the same time, those of one stream keep their order.
			number := func(line string) (n int) { _, _ = fmt.Sscanf(line, "line %d", &n); return n }
			slices.SortStableFunc(got, func(a, b string) int {
				if number(a)/7 == number(b)/7 && (number(a)%7 >= 3) != (number(b)%7 >= 3) {
					return number(a) - number(b)
				}
				return 0
			})
			for i := range got {
				if number(got[i])/7 != number(tt.want[i])/7 {
					t.Fatalf("line %d is %q, want %q", i, got[i], tt.want[i])
				}
			}
			slices.Sort(got)
			wanted := slices.Clone(tt.want)
			slices.Sort(wanted)
			if len(slices.Compact(got)) != len(wanted) {
				t.Error("lines come twice")
			}
		})
	}
	// More lines with one time than the server can give are said to be missing.
	s.mu.Lock()
	s.max = 3
	s.mu.Unlock()
	o := s.options(Options{Lines: -1, Since: at})
	got, err := lines(t, o)
	if err != nil || !slices.Contains(got, "dropped 1") || !slices.Contains(got, "line 0") || !slices.Contains(got, "line 999") && !slices.Contains(got, "line 996") {
		t.Errorf("%d lines, %v", len(got), err)
	}
}

func TestErrors(t *testing.T) {
	status := func(code int, body string) func(http.ResponseWriter, *http.Request) bool {
		return func(w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path == "/ready" {
				return false
			}
			w.WriteHeader(code)
			_, _ = w.Write([]byte(body))
			return true
		}
	}
	for name, tt := range map[string]struct {
		before func(http.ResponseWriter, *http.Request) bool
		code   backend.Code
		text   string
	}{
		"not ready":       {func(w http.ResponseWriter, r *http.Request) bool { w.WriteHeader(503); return true }, backend.CodeUnreachable, "not ready"},
		"bad query":       {status(400, "parse error at s3cret"), backend.CodeUsage, "check its LogQL"},
		"no rights":       {status(401, "s3cret"), backend.CodeDenied, "refuses the credentials"},
		"another server":  {status(404, "s3cret"), backend.CodeFailed, "no Loki at this URL"},
		"fails":           {status(500, "s3cret"), backend.CodeFailed, "HTTP status 500"},
		"stays busy":      {status(429, "s3cret"), backend.CodeFailed, "HTTP status 429"},
		"redirects":       {status(302, ""), backend.CodeFailed, "redirects"},
		"no JSON":         {status(200, "<html>s3cret"), backend.CodeFailed, "cannot be read"},
		"JSON of another": {status(200, `{"hello":"s3cret"}`), backend.CodeFailed, "cannot be read"},
		"status error":    {status(200, `{"status":"error","error":"s3cret"}`), backend.CodeFailed, "cannot be read"},
		"cut short":       {status(200, `{"status":"success","data":{"resultType":"streams","result":[{"stream":{"a":"s3cret"},"val`), backend.CodeFailed, "cannot be read"},
		"matrix":          {status(200, `{"status":"success","data":{"resultType":"matrix","result":[{"metric":{},"values":[[1,"2"]]}]}}`), backend.CodeUsage, "gives numbers and no lines"},
		"vector":          {status(200, `{"status":"success","data":{"resultType":"vector","result":[]}}`), backend.CodeUsage, "gives numbers and no lines"},
		"never gives any": {status(400, "max entries limit per query exceeded"), backend.CodeFailed, "gives no lines at once"},
		"breaks off": {func(w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path == "/ready" {
				return false
			}
			w.Header().Set("Content-Length", "1000")
			_, _ = w.Write([]byte("{"))
			panic(http.ErrAbortHandler)
		}, backend.CodeUnreachable, "does not answer"},
		"is slow to be ready": {func(w http.ResponseWriter, r *http.Request) bool {
			<-r.Context().Done()
			return true
		}, backend.CodeUnreachable, "did not answer in time"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t)
			s.before = tt.before
			o := s.options(Options{Lines: 10})
			o.ReadyTimeout = 300 * time.Millisecond
			for _, follow := range []bool{false, true} {
				if o.Follow = follow; follow && !strings.HasPrefix(name, "not ready") && !strings.HasPrefix(name, "no rights") {
					continue
				}
				_, err := lines(t, o)
				var known *backend.Error
				if !errors.As(err, &known) || known.Code != tt.code || !strings.Contains(known.Problem, tt.text) || strings.Contains(known.Problem, "s3cret") || strings.Contains(known.Problem, "127.0.0.1") && tt.code != backend.CodeUsage {
					t.Errorf("follow %v: got %v, want %s and %q", follow, err, tt.code, tt.text)
				}
			}
		})
	}
	gone := newServer(t)
	gone.Close()
	var known *backend.Error
	if _, err := lines(t, gone.options(Options{Lines: 1})); !errors.As(err, &known) || known.Code != backend.CodeUnreachable || !strings.Contains(known.Problem, "start it") {
		t.Errorf("nobody there: %v", err)
	}
	for _, u := range []string{"ftp://x", "http://u:p@x", "://", "http://"} {
		if _, err := Open(Options{URL: u}); !errors.As(err, &known) || known.Code != backend.CodeUsage {
			t.Errorf("%s: %v", u, err)
		}
	}
}

// A server that is busy for a moment is asked again, and odd values are left out.
func TestSnapshot_BusyAndOdd(t *testing.T) {
	s := newServer(t)
	busy := 0
	s.before = func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/loki/api/v1/query_range" {
			return false
		}
		if busy++; busy < 3 {
			w.WriteHeader(http.StatusTooManyRequests)
			return true
		}
		_, _ = w.Write([]byte(`{"status":"success","data":{"resultType":"streams","result":[{"stream":{"a":1,"service":"s"},
			"values":[["1","one",{"meta":"data"}],["x","no time"],["2"],["3",4],["4","four"],[5,"five"]]},{"stream":null,"values":null}]}}`))
		return true
	}
	got, err := lines(t, s.options(Options{Lines: 2, Since: time.Unix(0, 0)}))
	if err != nil || !slices.Equal(got, []string{"one", "four"}) {
		t.Errorf("got %q, %v", got, err)
	}
}

// A server that answers with the same lines whatever it is asked for is not asked for ever.
func TestSnapshot_SameAnswer(t *testing.T) {
	s := newServer(t)
	s.before = func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/loki/api/v1/query_range" {
			return false
		}
		_, _ = w.Write([]byte(`{"status":"success","data":{"resultType":"streams","result":[{"stream":{},"values":[["1","one"],["2","two"],["3","three"]]}]}}`))
		return true
	}
	for n := range 5 {
		got, err := lines(t, s.options(Options{Lines: n - 1, Since: time.Unix(0, 1), Until: time.Unix(0, 2)}))
		want := []string{"one", "two"}
		if n > 0 {
			want = want[max(0, 3-n):]
		}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%d lines: got %q, %v", n-1, got, err)
		}
	}
}

// Credentials and the tenant go to the server itself, and to no other.
func TestHeaders(t *testing.T) {
	other := newServer(t)
	other.before = func(w http.ResponseWriter, r *http.Request) bool { t.Error("a request to another server"); return true }
	for want, o := range map[string]Options{
		"Bearer t0ken":         {Token: "t0ken", Tenant: "t1", Lines: 1},
		"Basic dTpwYXNz":       {Username: "u", Password: "pass", Tenant: "t1", Lines: 1},
		"Bearer t0ken, follow": {Token: "t0ken", Tenant: "t1", Follow: true},
	} {
		s := newServer(t)
		asked := make(chan struct{}, 10)
		s.before = func(w http.ResponseWriter, r *http.Request) bool {
			if r.Header.Get("Authorization") != strings.TrimSuffix(want, ", follow") || r.Header.Get("X-Scope-OrgID") != "t1" {
				t.Errorf("%s: %v", r.URL.Path, r.Header)
			}
			if r.URL.Path == "/ready" {
				return false
			}
			asked <- struct{}{}
			http.Redirect(w, r, other.URL+r.URL.Path, http.StatusTemporaryRedirect)
			return true
		}
		_, err := lines(t, s.options(o))
		if err == nil || strings.Contains(err.Error(), "t0ken") || len(asked) == 0 {
			t.Errorf("%s: %v after %d requests", want, err, len(asked))
		}
	}
}

func TestTLS(t *testing.T) {
	s := newServer(t)
	secure := httptest.NewTLSServer(s)
	defer secure.Close()
	s.push(sample{at.UnixNano(), web, "secret"})
	o := s.options(Options{Lines: 1})
	o.URL = secure.URL
	var known *backend.Error
	if _, err := lines(t, o); !errors.As(err, &known) || !strings.Contains(known.Problem, "certificate of Loki is not trusted") {
		t.Errorf("an unknown authority: %v", err)
	}
	o.CA = filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(o.CA, []byte("junk"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := lines(t, o); !errors.As(err, &known) || known.Code != backend.CodeUsage {
		t.Errorf("no certificates: %v", err)
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw})
	if err := os.WriteFile(o.CA, text, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, follow := range []bool{false, true} {
		o.Follow = follow
		got := ""
		err := read(t, t.Context(), o, func(item backend.Item) bool { got = string(item.Record.Line); return false })
		if err != nil || got != "secret" {
			t.Errorf("follow %v: got %q, %v", follow, got, err)
		}
	}
}

// FuzzAnswer: whatever a server answers, it is entries or an error that repeats nothing.
func FuzzAnswer(f *testing.F) {
	f.Add([]byte(`{"status":"success","data":{"resultType":"streams","result":[{"stream":{"a":"b"},"values":[["1","x"],[],[null,null],["2"]]}]}}`))
	f.Add([]byte(`{"status":"success","data":{"resultType":"matrix","result":[]}}`))
	f.Add([]byte(`{"status":"success","data":{"result":{}}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		all, err := answer(body)
		var known *backend.Error
		if err != nil && (!errors.As(err, &known) || all != nil) {
			t.Fatalf("%v with %d entries", err, len(all))
		}
		byTime(all, false)
		for i, item := range items(all) {
			if item.Record.Time.UnixNano() != all[i].ns {
				t.Fatal("another time")
			}
		}
	})
}
