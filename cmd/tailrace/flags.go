package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/tailrace/tailrace/pipeline"
)

// A valueError says what a flag takes, in a text that follows its name.
type valueError struct{ takes string }

func (e *valueError) Error() string { return "takes " + e.takes }

// What the flags of this file take.
var (
	errSize  = &valueError{"a size from 1B to 1GiB: a number and B, KB, KiB, MB, MiB, GB or GiB"}
	errCount = &valueError{"a positive number"}
	errSpan  = &valueError{"a time of 1ms or more, with its unit: 500ms, 5s, 2m"}
)

// units are the units of sizes, longest first.
var units = []struct {
	name  string
	bytes float64
}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"GB", 1e9}, {"MB", 1e6}, {"KB", 1e3}, {"kB", 1e3}, {"B", 1}, {"", 1}}

// A byteSize is a flag that takes a number of bytes with a unit.
type byteSize struct{ n *int64 }

func (s *byteSize) Type() string   { return "size" }
func (s *byteSize) String() string { return sizeText(*s.n) }

func (s *byteSize) Set(text string) error {
	for _, u := range units {
		number, ok := strings.CutSuffix(strings.TrimSpace(text), u.name)
		if !ok {
			continue
		}
		v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		n := v * u.bytes
		if err != nil || math.IsNaN(n) || n != math.Trunc(n) || n < 1 || n > pipeline.MaxCaptureBytes {
			return errSize
		}
		*s.n = int64(n)
		return nil
	}
	return errSize
}

// A count is a flag that takes a positive number.
type count struct{ n *int }

func (c *count) Type() string { return "count" }
func (c *count) String() string {
	if *c.n == 0 {
		return "none"
	}
	return strconv.Itoa(*c.n)
}

func (c *count) Set(text string) error {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > 1<<30 {
		return errCount
	}
	*c.n = n
	return nil
}

// A span is a flag that takes a time of at least a millisecond.
type span struct{ d *time.Duration }

func (s *span) Type() string { return "time" }
func (s *span) String() string {
	if *s.d == 0 {
		return "none"
	}
	return s.d.String()
}

func (s *span) Set(text string) error {
	d, err := time.ParseDuration(text)
	if err != nil || d < time.Millisecond {
		return errSpan
	}
	*s.d = d.Truncate(time.Millisecond)
	return nil
}

// sizeText writes a number of bytes for people, exactly where that is short.
func sizeText(n int64) string {
	switch {
	case n >= 1<<30 && n%(1<<30) == 0:
		return strconv.FormatInt(n>>30, 10) + "GiB"
	case n >= 1<<20 && n%(1<<20) == 0:
		return strconv.FormatInt(n>>20, 10) + "MiB"
	case n >= 1<<10 && n < 10<<20 && n%(1<<10) == 0:
		return strconv.FormatInt(n>>10, 10) + "KiB"
	case n >= 10<<20:
		return fmt.Sprintf("%.1fMiB", float64(n)/(1<<20))
	case n >= 10<<10:
		return fmt.Sprintf("%.1fKiB", float64(n)/(1<<10))
	}
	return strconv.FormatInt(n, 10) + "B"
}

// plural writes a number with a noun.
func plural(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.FormatInt(n, 10) + " " + noun + "s"
}
