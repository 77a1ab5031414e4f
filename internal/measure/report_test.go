package measure

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"
)

// series returns a series of n times about a centre, none twice.
func series(name string, centre float64, n int) Series {
	s := Series{Name: name, Allocs: 7, AllocBytes: 512}
	for i := range n {
		s.Times = append(s.Times, centre+float64((i*7)%n)*centre/1000)
	}
	return s
}

// sample is a report with every member.
func sample(centre float64, n int) *Report {
	in := Input{
		Name: "c1", About: "events", Bytes: 1000, Lines: 10, Events: 9, ResultBytes: 2000,
		Drain: series("drain", 1000, n), Whole: series("tailrace", centre, n), Memory: series("memory", 500, n),
		Stages: []Series{series("decoder", 300, n)},
	}
	return &Report{
		Schema: Schema, Time: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), Version: "v1.2.3",
		Machine: Machine{OS: "linux", Arch: "amd64", CPU: "some", CPUs: 2, Go: "go1.26"}, Child: "cat",
		Inputs: []Input{in}, Scaling: []Input{in},
		Peers: []Peer{{Name: "other", About: "the same", Version: "v9", Input: "c1", Events: 9, Bytes: 2000, Times: series("other", 9000, n), Against: series("tailrace", centre, n)},
			{Name: "gone", About: "the same", Input: "c1", Missing: "not installed"}},
	}
}

// TestReportForm: the form that is written is that of the file, which readers rely on. A
// new member is added to the file; one that changes or goes away needs a new schema.
func TestReportForm(t *testing.T) {
	var b bytes.Buffer
	if err := sample(2000, 2).Write(&b); err != nil {
		t.Fatal(err)
	}
	const file = "testdata/report.json"
	if os.Getenv("TAILRACE_UPDATE") != "" {
		if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(b.Bytes(), want) {
		t.Errorf("the form of a report changed; if members were only added, run with TAILRACE_UPDATE=1. Got\n%s", b.Bytes())
	}
	back, err := Read(bytes.NewReader(want))
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(back, sample(2000, 2)) {
		t.Errorf("read back\n%+v", back)
	}
}

func TestReadRefuses(t *testing.T) {
	for _, text := range []string{"", "no json", "[]", "{}", `{"schema":"tailrace-bench/0"}`} {
		if _, err := Read(strings.NewReader(text)); !errors.Is(err, ErrReport) {
			t.Errorf("%q: %v, want ErrReport", text, err)
		}
	}
	// A member of a later version is no reason to refuse.
	var m map[string]any
	var b bytes.Buffer
	if err := sample(1, 1).Write(&b); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b.Bytes(), &m); err != nil {
		t.Fatal(err)
	}
	m["later"] = 1
	text, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Read(bytes.NewReader(text)); err != nil {
		t.Error(err)
	}
}

func find(c *Comparison, way string) *Change {
	for i := range c.Changes {
		if c.Changes[i].Way == way {
			return &c.Changes[i]
		}
	}
	return &Change{}
}

func TestCompare(t *testing.T) {
	c := Compare(sample(2000, 10), sample(3000, 10))
	if d := find(c, "tailrace"); !d.Significant || d.Delta != "+50.00%" || d.P > 0.001 || d.N1 != 10 || d.N2 != 10 || d.TooFew {
		t.Errorf("half as long again: %+v", d)
	}
	// The two sets are the same, so that chance explains all of it.
	if d := find(c, "drain"); d.Significant || d.Delta != "~" || d.P < 0.9 {
		t.Errorf("no change: %+v", d)
	}
	if math.Abs(c.Geomean-1.5) > 1e-9 || c.Machines || len(c.Apart) != 0 || len(c.Changes) != 4 {
		t.Errorf("%+v", c)
	}
}

// TestMannWhitney holds the p against values of the exact test, from tables.
func TestMannWhitney(t *testing.T) {
	for _, c := range []struct {
		before, after []float64
		p             float64
	}{
		{[]float64{1, 2, 3, 4}, []float64{5, 6, 7, 8}, 0.0286},        // U = 0, n = 4+4: 2/70
		{[]float64{1, 2, 3, 4, 5}, []float64{6, 7, 8, 9, 10}, 0.0079}, // U = 0, n = 5+5: 2/252
		{[]float64{1, 2, 3, 5, 7}, []float64{4, 6, 8, 9, 10}, 0.0556}, // U = 3, n = 5+5: 14/252
	} {
		d := compare(&Series{Times: c.before}, &Series{Times: c.after})
		if math.Abs(d.P-c.p) > 5e-5 {
			t.Errorf("%v against %v: p = %.4f, want %.4f", c.before, c.after, d.P, c.p)
		}
		if d.Significant != (c.p < 0.05) {
			t.Errorf("p = %.4f: significant is %v", d.P, d.Significant)
		}
	}
}

func TestCompareTooFew(t *testing.T) {
	d := compare(&Series{Times: []float64{1, 2}}, &Series{Times: []float64{8, 9}})
	if d.Significant || !d.TooFew || d.Delta != "~" {
		t.Errorf("two times against two: %+v", d)
	}
}

func TestCompareApart(t *testing.T) {
	before, after := sample(2000, 4), sample(2000, 4)
	before.Inputs[0].Name, after.Machine.CPUs = "c9", 64
	c := Compare(before, after)
	if got := fmt.Sprint(c.Apart); got != "[c1 c9]" || len(c.Changes) != 0 || c.Geomean != 0 || !c.Machines {
		t.Errorf("%+v", c)
	}
	after = sample(2000, 4)
	after.Inputs[0].Bytes++
	if c := Compare(sample(2000, 4), after); len(c.Changes) != 0 {
		t.Error("inputs of different sizes were compared")
	}
	before = sample(2000, 4)
	before.Inputs[0].Stages = nil
	if c := Compare(before, sample(2000, 4)); fmt.Sprint(c.Apart) != "[c1/decoder]" {
		t.Errorf("%v", c.Apart)
	}
}
