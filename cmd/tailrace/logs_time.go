package main

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"time"
)

// errTime says that a time of --since or --until cannot be read.
var errTime = errors.New("is no time: give a duration such as 15m (s, m, h, d, w), now, or a time such as 2026-03-01T10:00:00Z")

// timeLayouts are the absolute forms. The first three carry their zone; a date alone
// is UTC, and a time without a zone is local, as JavaScript reads them.
var timeLayouts = []struct {
	layout string
	utc    bool
}{
	{time.RFC3339Nano, true},
	{"2006-01-02T15:04Z07:00", true},
	{"2006-01-02", true},
	{"2006-01-02T15:04:05", false},
	{"2006-01-02T15:04", false},
	{"2006-01-02 15:04:05", false},
	{"2006-01-02 15:04", false},
}

// parseTime reads a time of --since or --until: a duration before now, the word now, or
// an absolute time. Blank means not given, the zero time.
func parseTime(text string, now time.Time) (time.Time, error) {
	text = strings.TrimSpace(text)
	switch {
	case text == "":
		return time.Time{}, nil
	case strings.EqualFold(text, "now"):
		return now, nil
	}
	if d, ok := parseAge(text); ok {
		return now.Add(-d), nil
	}
	for _, l := range timeLayouts {
		zone := time.Local
		if l.utc {
			zone = time.UTC
		}
		if t, err := time.ParseInLocation(l.layout, text, zone); err == nil {
			return t, nil
		}
	}
	return time.Time{}, errTime
}

// parseAge reads digits, spaces and one unit. The number is positive and whole.
func parseAge(text string) (time.Duration, bool) {
	digits := 0
	for digits < len(text) && text[digits] >= '0' && text[digits] <= '9' {
		digits++
	}
	n, err := strconv.ParseInt(text[:digits], 10, 64)
	if err != nil || n <= 0 {
		return 0, false
	}
	var unit time.Duration
	switch strings.ToLower(strings.TrimLeft(text[digits:], " ")) {
	case "s":
		unit = time.Second
	case "m":
		unit = time.Minute
	case "h":
		unit = time.Hour
	case "d":
		unit = 24 * time.Hour
	case "w":
		unit = 7 * 24 * time.Hour
	default:
		return 0, false
	}
	if n > math.MaxInt64/int64(unit) {
		return 0, false
	}
	return time.Duration(n) * unit, true
}
