package logline

import (
	"strings"
	"testing"
	"time"

	"github.com/tailrace/tailrace/internal/jsonscan"
)

func TestAppendRecord(t *testing.T) {
	at := time.Date(2026, 3, 1, 9, 59, 58, 120000001, time.FixedZone("", 3600))
	c := Context{Backend: "b", Source: "s", Project: "p", Now: now}
	for _, tt := range []struct {
		name string
		r    Record
		want string
	}{
		{"time of the backend", Record{Line: []byte("2026-01-02T03:04:05Z x"), Time: at, Stream: "stderr", Service: "web", Instance: "1"},
			`"ts":"2026-03-01T08:59:58.120000001Z","project":"p","backend":"b","entry":{"source":"s","message":"2026-01-02T03:04:05Z x","raw":"2026-01-02T03:04:05Z x",` +
				`"stream":"stderr","project":"p","service":"web","instance":"1","timestamp":"2026-03-01T08:59:58.120000001Z"}`},
		{"labels and nanoseconds", Record{Line: []byte("x\r"), Time: at, Nanos: true, Labels: map[string]string{"b": "\"\xff", "a": "1"}},
			`"ts":"2026-03-01T08:59:58.120Z","project":"p","backend":"b","entry":{"source":"s","message":"x","raw":"x","project":"p",` +
				`"labels":{"a":"1","b":"\"` + "\ufffd" + `"},"timestamp_ns":"1772355598120000001","timestamp":"2026-03-01T08:59:58.120Z"}`},
		{"level of the backend", Record{Line: []byte("x"), Level: "warn"},
			`"ts":"2026-03-01T10:00:00.005Z","project":"p","backend":"b","entry":{"source":"s","message":"x","raw":"x","project":"p","level":"warn"}`},
		{"level of the line", Record{Line: []byte("ERROR x"), Level: "info"},
			`"ts":"2026-03-01T10:00:00.005Z","project":"p","backend":"b","entry":{"source":"s","message":"ERROR x","raw":"ERROR x","project":"p","level":"error"}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got, want := string(AppendRecord(nil, tt.r, c)), `{"type":"log",`+tt.want+"}\n"; got != want {
				t.Errorf("got  %swant %s", got, want)
			}
		})
	}
}

// FuzzAppendRecord: whatever a backend says, the event is one strict JSON object on one line.
func FuzzAppendRecord(f *testing.F) {
	f.Add([]byte("x"), "service", "label", "value", int64(1))
	f.Add([]byte(`{"a":1}`), "\xff\n", "\x00\"", "\u2028\\", int64(-1))
	f.Fuzz(func(t *testing.T, line []byte, service, label, value string, ns int64) {
		if i := strings.IndexByte(string(line), '\n'); i >= 0 {
			line = line[:i]
		}
		r := Record{Line: line, Service: service, Instance: value, Labels: map[string]string{label: value, "z": service}, Time: time.Unix(0, ns), Nanos: ns%2 == 0}
		out := AppendRecord(nil, r, Context{Source: "s", Now: now})
		if n := len(out); out[n-1] != '\n' || strings.IndexByte(string(out[:n-1]), '\n') >= 0 {
			t.Fatalf("not one line: %q", out)
		}
		if info, ok := jsonscan.Object(out[:len(out)-1], 512); !ok || info.Repair {
			t.Fatalf("E5: %q", out)
		}
	})
}

func TestRecord_When(t *testing.T) {
	at := time.Unix(1, 0)
	for _, tt := range []struct {
		r    Record
		want time.Time
		ok   bool
	}{
		{Record{Time: at, Line: []byte("2026-01-02T03:04:05Z x")}, at, true},
		{Record{Line: []byte("1970-01-01T00:00:01Z x")}, at, true},
		{Record{Line: []byte("x")}, time.Time{}, false},
	} {
		if got, ok := tt.r.When(); ok != tt.ok || !got.Equal(tt.want) {
			t.Errorf("got %v %v, want %v", got, ok, tt.want)
		}
	}
}
