package main

import (
	"slices"
	"testing"
	"time"

	"github.com/tailrace/tailrace/internal/logline"
)

func TestTimeWindow(t *testing.T) {
	at := func(h int) time.Time { return time.Date(2026, 3, 1, h, 0, 0, 0, time.UTC) }
	lines := []string{
		"before any time",
		"2026-03-01T09:00:00Z one",
		"\tat one",
		`{"time":"2026-03-01T10:00:00Z","msg":"two"}`,
		"  two goes on",
		"ts=2026-03-01T11:00:00.5Z msg=three",
		"",
		"2026-03-01T13:00:00+01:00 four",
		"2026-03-01T09:30:00Z five is late",
	}
	for _, tt := range []struct {
		name         string
		since, until time.Time
		want         []int
	}{
		{"no window", time.Time{}, time.Time{}, []int{0, 1, 2, 3, 4, 5, 6, 7, 8}},
		{"since, inclusive", at(10), time.Time{}, []int{0, 3, 4, 5, 6, 7}},
		{"until, inclusive", time.Time{}, at(10), []int{0, 1, 2, 3, 4, 8}},
		{"both", at(10), at(11), []int{0, 3, 4}},
		{"nothing", at(20), at(21), []int{0}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := timeWindow{since: tt.since, until: tt.until}
			var got []int
			for i, line := range lines {
				if w.holds(logline.Record{Line: []byte(line)}) {
					got = append(got, i)
				}
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("got lines %v, want %v", got, tt.want)
			}
			if w.blind() {
				t.Error("blind to lines with a time")
			}
		})
	}
}

func TestTimeWindow_StreamsAndBlindness(t *testing.T) {
	w := timeWindow{since: time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)}
	if w.blind() {
		t.Error("blind without a line")
	}
	w.holds(logline.Record{Line: []byte("no time"), Stream: "stdout"})
	if !w.blind() {
		t.Error("not blind to lines without a time")
	}
	w.holds(logline.Record{Line: []byte("2026-03-01T09:00:00Z old"), Stream: "stderr"})
	if !w.holds(logline.Record{Line: []byte("goes on"), Stream: "stdout"}) || w.holds(logline.Record{Line: []byte("goes on"), Stream: "stderr"}) {
		t.Error("a line follows a line of the other stream")
	}
}

func TestLineTime(t *testing.T) {
	local := time.Date(2026, 3, 1, 10, 0, 1, 0, time.Local)
	for in, want := range map[string]time.Time{
		"2026-03-01 10:00:01 status installed": local,
		"2026-03-01 10:00:01":                  local,
		"2026-03-01 10:00:01,250 INFO x":       local.Add(250 * time.Millisecond),
		"2026-03-01 10:00:01.000000001 x":      local.Add(1),
		"2026-03-01 10:00:01. x":               local,
		"2026-03-01T10:00:01Z x":               time.Date(2026, 3, 1, 10, 0, 1, 0, time.UTC),
	} {
		if got, ok := lineTime([]byte(in)); !ok || !got.Equal(want) {
			t.Errorf("%q: got %v %v, want %v", in, got, ok, want)
		}
	}
	for _, in := range []string{"", "x", "2026-03-01", "2026-13-01 10:00:00", "at 2026-03-01 10:00:01"} {
		if got, ok := lineTime([]byte(in)); ok {
			t.Errorf("%q: got %v", in, got)
		}
	}
}
