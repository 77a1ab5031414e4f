package source

import (
	"slices"
	"testing"
)

func TestBatchNames(t *testing.T) {
	for name, want := range map[string]bool{
		`C:\x\run.bat`: true, "RUN.CMD": true, "run.cmd. .": true, "run.bat ": true,
		"run.exe": false, "bat": false, "cmd": false, "run.cmd.exe": false, "": false,
	} {
		if batchName(name) != want {
			t.Errorf("%q: %v", name, !want)
		}
	}
}

func TestLastOfEach(t *testing.T) {
	for _, c := range []struct{ in, want []string }{
		{[]string{"A=1", "B=2"}, []string{"A=1", "B=2"}},
		{[]string{"A=1", "B=2", "A=3"}, []string{"B=2", "A=3"}},
		{[]string{"A=1", "AB=2", "A="}, []string{"AB=2", "A="}},
		{[]string{"", "odd", "A=1", "A=2", ""}, []string{"", "odd", "A=2", ""}},
		{nil, nil},
	} {
		if got := lastOfEach(c.in); !slices.Equal(got, c.want) {
			t.Errorf("%q: %q", c.in, got)
		}
	}
}
