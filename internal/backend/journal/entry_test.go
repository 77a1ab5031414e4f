package journal

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tailrace/tailrace/internal/project"
)

func TestRecord(t *testing.T) {
	for _, tt := range []struct{ in, service, level, text string }{
		{`"MESSAGE":"x","PRIORITY":"3","_SYSTEMD_UNIT":"web.service"`, "web.service", "error", "x"},
		{`"MESSAGE":"x","PRIORITY":"4","_SYSTEMD_UNIT":"user@1.service","_SYSTEMD_USER_UNIT":"app.service"`, "app.service", "warn", "x"},
		{`"MESSAGE":"Started","PRIORITY":"6","_SYSTEMD_UNIT":"init.scope","UNIT":"web.service"`, "web.service", "info", "Started"},
		{`"MESSAGE":"Started","PRIORITY":"5","_SYSTEMD_USER_UNIT":"init.scope","USER_UNIT":"app.service"`, "app.service", "info", "Started"},
		{`"MESSAGE":"I am another","_SYSTEMD_UNIT":"web.service","UNIT":"sshd.service"`, "web.service", "", "I am another"},
		{`"MESSAGE":"x","PRIORITY":"7","SYSLOG_IDENTIFIER":"kernel"`, "kernel", "debug", "x"},
		{`"MESSAGE":[97,255,10,0,98],"PRIORITY":"9"`, "", "", "a\xff\n\x00b"},
		{`"MESSAGE":["one",[255],null]`, "", "", "one\n\xff\n"},
		{`"MESSAGE":[]`, "", "", ""},
		{`"MESSAGE":null,"PRIORITY":"0","_SYSTEMD_UNIT":"a"`, "-", "", ""},
		{`"MESSAGE":"🚀 日"`, "", "", "🚀 日"},
		{`"MESSAGE":{"a":1},"_SYSTEMD_UNIT":["a","b"]`, "a\nb", "", ""},
	} {
		r, cursor, ok := record([]byte(`{"__CURSOR":"s=1","__REALTIME_TIMESTAMP":"1772355600000001",` + tt.in + `}`))
		if tt.service == "-" {
			if ok {
				t.Errorf("%s: an entry without a message", tt.in)
			}
			continue
		}
		if !ok || cursor != "s=1" || string(r.Line) != tt.text || r.Service != tt.service || r.Level != tt.level {
			t.Errorf("%s: %q %v %+v", tt.in, r.Line, ok, r)
		}
		if want := time.Date(2026, 3, 1, 9, 0, 0, 1000, time.UTC); !r.Time.Equal(want) {
			t.Errorf("%s: at %v", tt.in, r.Time)
		}
	}
	for _, in := range []string{"", "-- No entries --", "[]", "{", `{"__CURSOR":1}`} {
		if _, _, ok := record([]byte(in)); ok {
			t.Errorf("%q is an entry", in)
		}
	}
}

func FuzzRecord(f *testing.F) {
	f.Add([]byte(`{"MESSAGE":[1,2],"PRIORITY":["1"]}`))
	f.Add([]byte(`{"MESSAGE":[[[[1]]],"a"]}`))
	f.Fuzz(func(t *testing.T, line []byte) { record(line) })
}

// S5: a value is one argument together with its flag.
func TestS5_Args(t *testing.T) {
	at := time.Date(2026, 3, 1, 9, 0, 0, 250_000_000, time.UTC)
	o := Options{
		Journal: project.Journal{Units: []string{"a.service", "-b"}, Identifier: "--x", Priority: "err", File: "/f"},
		Lines:   -1, Since: at, Until: at.Add(time.Second), Follow: true,
	}
	want := "--output=json --all --no-pager --output-fields=" + fields + " --unit=a.service --unit=-b --identifier=--x --priority=err --file=/f --until=@1772355601.250000 --follow"
	for cursor, rest := range map[string]string{"": " --since=@1772355600.250000 --lines=all", "s=1;i=2": " --after-cursor=s=1;i=2 --lines=all"} {
		if got := strings.Join(o.args(cursor), " "); got != want+rest {
			t.Errorf("got  %s\nwant %s", got, want+rest)
		}
	}
	if got := fmt.Sprint((&Options{Lines: 3, Since: at, Follow: true}).args("")); strings.Contains(got, "--since") {
		t.Errorf("the first entries would come in place of the last ones: %s", got)
	}
	user := Options{Journal: project.Journal{User: true}, Lines: 3}
	if got := user.args(""); !slices.Contains(got, "--user") || !slices.Contains(got, "--lines=3") {
		t.Errorf("got %v", got)
	}
	user.Units = []string{"a"}
	if got := fmt.Sprint(user.args("")); !strings.Contains(got, "--user-unit=a") || strings.Contains(got, "--user ") {
		t.Errorf("got %v", got)
	}
}
