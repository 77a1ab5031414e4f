package main

import (
	"errors"
	"testing"
	"time"
)

func TestParseTime(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	local := func(h, m, s int) time.Time { return time.Date(2026, 2, 1, h, m, s, 0, time.Local) }
	for _, tt := range []struct {
		in   string
		want time.Time
	}{
		{"", time.Time{}},
		{"  ", time.Time{}},
		{"now", now},
		{" NOW ", now},
		{"1s", now.Add(-time.Second)},
		{"15m", now.Add(-15 * time.Minute)},
		{"2 H", now.Add(-2 * time.Hour)},
		{"3d", now.Add(-72 * time.Hour)},
		{"1  w", now.Add(-168 * time.Hour)},
		{"2026-02-01T10:00:00Z", time.Date(2026, 2, 1, 10, 0, 0, 0, time.UTC)},
		{"2026-02-01T10:00:00.000000001+02:00", time.Date(2026, 2, 1, 8, 0, 0, 1, time.UTC)},
		{"2026-02-01T10:00Z", time.Date(2026, 2, 1, 10, 0, 0, 0, time.UTC)},
		{"2026-02-01", time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)},
		{"2026-02-01T10:01:02", local(10, 1, 2)},
		{"2026-02-01 10:01", local(10, 1, 0)},
	} {
		got, err := parseTime(tt.in, now)
		if err != nil || !got.Equal(tt.want) {
			t.Errorf("%q: got %v, %v, want %v", tt.in, got, err, tt.want)
		}
	}
	for _, in := range []string{
		"0m", "-5m", "1.5h", "5", "m", "5ms", "1h30m", "yesterday", "99999999999999999999s", "9223372036854775807w",
		"300000000000000d", "2026-13-01", "--until=1h",
	} {
		if got, err := parseTime(in, now); !errors.Is(err, errTime) {
			t.Errorf("%q: got %v, %v, want errTime", in, got, err)
		}
	}
}
