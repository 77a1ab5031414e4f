package plot

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tailrace/tailrace/internal/measure"
)

func series(ns float64) measure.Series {
	return measure.Series{Name: "s", Times: []float64{ns, ns * 1.1}}
}

func input(name string, bytes int64, drain, whole float64) measure.Input {
	in := measure.Input{Name: name, About: "about " + name, Bytes: bytes, Events: bytes / 350, Drain: series(drain), Whole: series(whole), Memory: series(whole / 2)}
	for _, s := range []string{"byte cap", "capture", "line splitter", "decoder", "event counter", "failure detector", "budget"} {
		stage := series(whole / 10)
		stage.Name = s
		in.Stages = append(in.Stages, stage)
	}
	return in
}

// full is a report with all pictures, with names that must be escaped.
func full() *measure.Report {
	r := &measure.Report{Schema: measure.Schema, Time: time.Unix(0, 0).UTC(), Version: `v<1>&"`, Machine: measure.Machine{CPU: `<script src="//evil">`}}
	for _, name := range []string{"c1", "c2", `<b>&"`} {
		r.Inputs = append(r.Inputs, input(name, 8<<20, 10e6, 17e6))
	}
	for size := int64(64 << 10); size <= 8<<20; size *= 2 {
		r.Scaling = append(r.Scaling, input("c1", size, 1e6+float64(size), 1e6+2*float64(size)))
	}
	r.Peers = []measure.Peer{
		{Name: "naive", About: "<i>", Input: "c1", Times: series(1e9), Against: series(2e7)},
		{Name: "faster", Input: "c1", Times: series(1e7), Against: series(2e7)},
		{Name: "gone", Input: "c1", Missing: "not <installed> " + strings.Repeat("and a long reason ", 20)},
	}
	return r
}

// reports are those that the pictures must stand, odd ones among them.
func reports() map[string]*measure.Report {
	empty := full()
	empty.Inputs, empty.Scaling, empty.Peers = nil, nil, nil
	zero := full()
	zero.Inputs = []measure.Input{{Name: "c3", Drain: series(1e6), Whole: series(1e6), Stages: []measure.Series{{Name: "decoder"}}}, {Name: "none"}}
	zero.Scaling = []measure.Input{{Name: "c3"}, {Name: "c3"}}
	zero.Peers = []measure.Peer{{Name: "none"}}
	alone := full()
	alone.Scaling, alone.Peers, alone.Inputs = nil, nil, alone.Inputs[:1]
	return map[string]*measure.Report{"full": full(), "empty": empty, "zero": zero, "alone": alone}
}

// wellFormed reads a document to its end and checks its numbers.
func wellFormed(t *testing.T, name, text string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(text))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if e, ok := token.(xml.StartElement); ok {
			for _, a := range e.Attr {
				switch a.Name.Local {
				case "x", "y", "x1", "x2", "y1", "y2", "cx", "cy", "width", "height":
					v, err := strconv.ParseFloat(a.Value, 64)
					if err != nil || math.IsNaN(v) || math.IsInf(v, 0) || v < -1 || v > 4000 {
						t.Errorf("%s: %s of %s is %s", name, a.Name.Local, e.Name.Local, a.Value)
					}
				}
			}
		}
	}
}

func TestSVGWellFormed(t *testing.T) {
	for name, r := range reports() {
		var b strings.Builder
		if err := SVG(&b, r); err != nil {
			t.Fatal(err)
		}
		wellFormed(t, name, b.String())
		for _, ch := range Charts(r) {
			b.Reset()
			if err := ch.SVG(&b); err != nil {
				t.Fatal(err)
			}
			wellFormed(t, name+" "+ch.Name, b.String())
		}
	}
}

func TestChartsOfAReport(t *testing.T) {
	for name, want := range map[string]string{"full": "throughput stages scaling peers", "empty": "", "alone": "throughput stages"} {
		var names []string
		for _, ch := range Charts(reports()[name]) {
			names = append(names, ch.Name)
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%s: charts %q, want %q", name, got, want)
		}
	}
}

// outside finds what would make a reader fetch something, or run something.
var outside = regexp.MustCompile(`(?i)(https?:)?//[a-z]|<script|<link[^>]+href="[^d]|<img|<iframe|<object|<embed|@import|@font-face|url\([^#]|\ssrc=|\son[a-z]+=|xlink`)

// TestNothingFromOutside: the page and the pictures are whole in themselves. The name of
// the SVG namespace is a name; no reader fetches it.
func TestNothingFromOutside(t *testing.T) {
	const namespace = `xmlns="http://www.w3.org/2000/svg"`
	for name, r := range reports() {
		for kind, write := range map[string]func(io.Writer, *measure.Report) error{"html": HTML, "svg": SVG} {
			var b strings.Builder
			if err := write(&b, r); err != nil {
				t.Fatal(err)
			}
			text := strings.ReplaceAll(b.String(), namespace, "")
			if found := outside.FindString(strings.ReplaceAll(text, "&lt;script src=&#34;//evil&#34;&gt;", "")); found != "" {
				t.Errorf("%s of %s holds %q", kind, name, found)
			}
		}
	}
	if outside.FindString(`<img src="x">`) == "" || outside.FindString(`url(x)`) == "" || outside.FindString(`"//x.y/z"`) == "" {
		t.Error("the test finds nothing")
	}
}

func TestPageEscapes(t *testing.T) {
	var b strings.Builder
	if err := HTML(&b, full()); err != nil {
		t.Fatal(err)
	}
	for _, raw := range []string{"<script", "<i>", "<b>&", "v<1>", "<installed>"} {
		if strings.Contains(b.String(), raw) {
			t.Errorf("the page holds %q as it is", raw)
		}
	}
	for _, want := range []string{"prefers-color-scheme:dark", "default-src &#39;none&#39;", "missing: not &lt;installed&gt;", "<svg ", "Stages, alone"} {
		if !strings.Contains(b.String(), want) && !strings.Contains(b.String(), strings.ReplaceAll(want, "&#39;", "'")) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

func TestTextFits(t *testing.T) {
	if got := fit("short", 200); got != "short" {
		t.Errorf("got %q", got)
	}
	if got := fit(strings.Repeat("long ", 40), 100); len([]rune(got)) > 13 || !strings.HasSuffix(got, "…") {
		t.Errorf("got %q", got)
	}
}

func TestAxes(t *testing.T) {
	for _, most := range []float64{0, 0.3, 1, 7, 976, 1e6, math.Inf(1), math.NaN()} {
		steps := ticks(most, 5)
		if last := steps[len(steps)-1]; len(steps) < 2 || len(steps) > 8 || (!math.IsInf(most, 0) && !math.IsNaN(most) && last < most) {
			t.Errorf("ticks to %v: %v", most, steps)
		}
	}
	for _, c := range [][2]float64{{1, 2}, {5e6, 19e6}, {1e3, 1e9}, {2e6, 2e6}} {
		steps := decades(c[0], c[1])
		if len(steps) < 2 || steps[0] > c[0] || steps[len(steps)-1] < c[1] || (len(steps) > 2 && steps[1] <= c[0]) {
			t.Errorf("decades of %v: %v", c, steps)
		}
	}
}
