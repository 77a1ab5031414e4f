package main

import (
	"errors"
	"testing"
	"time"
)

func TestRun_SizesAreExact(t *testing.T) {
	for text, want := range map[string]int64{
		"1": 1, "1B": 1, "64KiB": 64 << 10, "8MiB": 8 << 20, "1GiB": 1 << 30, "5KB": 5000, "5kB": 5000, "2MB": 2e6, "1GB": 1e9,
		"1.5KiB": 1536, " 3 KiB ": 3072,
	} {
		var n int64
		if err := (&byteSize{&n}).Set(text); err != nil || n != want {
			t.Errorf("%q: got %d, %v; want %d", text, n, err, want)
		}
	}
	for _, text := range []string{"", "0", "-1", "0B", "B", "MiB", "1.5B", "1.0001KB1", "8XB", "8 M", "2GiB", "1073741825", "NaN", "Inf", "1e400", "8MiBMiB"} {
		n := int64(7)
		if err := (&byteSize{&n}).Set(text); !errors.Is(err, errSize) || n != 7 {
			t.Errorf("%q: got %d, %v", text, n, err)
		}
	}
}

func TestRun_SizesAreReadAsWritten(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0B", 1: "1B", 1023: "1023B", 1024: "1KiB", 1025: "1025B", 20000: "19.5KiB", 8 << 20: "8MiB", 8<<20 + 1: "8192.0KiB", 20e6: "19.1MiB", 1 << 30: "1GiB",
	} {
		if got := sizeText(n); got != want {
			t.Errorf("%d: got %s, want %s", n, got, want)
		}
	}
}

func TestRun_CountsAndTimes(t *testing.T) {
	n := 7
	for _, text := range []string{"", "0", "-3", "1.5", "3 events", "99999999999", "0x10"} {
		if err := (&count{&n}).Set(text); !errors.Is(err, errCount) || n != 7 {
			t.Errorf("%q: got %d, %v", text, n, err)
		}
	}
	if err := (&count{&n}).Set("200"); err != nil || n != 200 {
		t.Errorf("got %d, %v", n, err)
	}
	d := time.Hour
	for _, text := range []string{"", "5", "0s", "-1s", "999us", "1 minute", "99999999h"} {
		if err := (&span{&d}).Set(text); !errors.Is(err, errSpan) || d != time.Hour {
			t.Errorf("%q: got %s, %v", text, d, err)
		}
	}
	if err := (&span{&d}).Set("1.0015s"); err != nil || d != 1001*time.Millisecond {
		t.Errorf("got %s, %v", d, err)
	}
}
