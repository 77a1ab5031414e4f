package plot

import (
	"encoding/xml"
	"fmt"
	"math"
	"strings"
)

// The layout of a picture, in pixels of its own coordinates.
const (
	width      = 960
	margin     = 24
	headHeight = 76
)

// style has each colour twice. It names no font file: the system's own is used.
const style = `
text{font:14px system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif;fill:#1f2328;font-variant-numeric:tabular-nums}
.title{font-size:20px;font-weight:600}.mute{fill:#57606a}.strong{font-weight:600}.small{font-size:13px}
.paper{fill:#ffffff}.grid{stroke:#d8dee4;stroke-width:1}.axis{stroke:#8c959f;stroke-width:1}.track{fill:#eef1f4}
.drain{fill:#b35900}.drainline{stroke:#b35900;stroke-width:3;fill:none}.mainline{stroke:#0969da;stroke-width:3;fill:none}
.memory{fill:#1b998b}.memoryline{stroke:#1b998b;stroke-width:3;fill:none}.main{fill:#0969da}.onmain{fill:#ffffff;font-weight:600}.other{fill:#8c959f}.thin{stroke-width:1.5}
.s0{fill:#6e7781}.s1{fill:#b8c0c8}.s2{fill:#1b998b}.s3{fill:#0969da}.s4{fill:#e0a100}.s5{fill:#bf3989}.s6{fill:#8250df}.s7{fill:#57606a}
@media (prefers-color-scheme:dark){
text{fill:#e6edf3}.mute{fill:#9aa4af}.paper{fill:#0d1117}.grid{stroke:#272e37}.axis{stroke:#6e7681}.track{fill:#1b222b}
.drain{fill:#ffa94d}.drainline{stroke:#ffa94d}.memory{fill:#3fc1b0}.memoryline{stroke:#3fc1b0}.main{fill:#4c9dff}.onmain{fill:#08111f}.mainline{stroke:#4c9dff}.other{fill:#6e7681}
.s0{fill:#8b949e}.s1{fill:#4b5561}.s2{fill:#3fc1b0}.s3{fill:#4c9dff}.s4{fill:#f2cc60}.s5{fill:#f778ba}.s6{fill:#b392f0}.s7{fill:#9aa4af}
}`

// A canvas gathers the text of an SVG.
type canvas struct{ strings.Builder }

func (c *canvas) printf(format string, args ...any) { fmt.Fprintf(&c.Builder, format, args...) }

// open begins a file of its own.
func (c *canvas) open(height int, title, about string) {
	c.printf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img">`+"\n", width, height, width, height)
	c.printf("<title>%s</title>\n<desc>%s</desc>\n<style>%s</style>\n", escape(title), escape(about), style)
	c.printf(`<rect class="paper" width="%d" height="%d"/>`+"\n", width, height)
}

func (c *canvas) close() { c.printf("</svg>\n") }

// text writes text at a baseline. anchor is start, middle or end.
func (c *canvas) text(x, y float64, anchor, class, text string) {
	c.printf(`<text x="%s" y="%s" text-anchor="%s" class="%s">%s</text>`+"\n", number(x), number(y), anchor, class, escape(text))
}

// rect draws a rectangle with a text that a pointer on it shows.
func (c *canvas) rect(x, y, w, h float64, class, tip string) {
	c.printf(`<rect x="%s" y="%s" width="%s" height="%s" class="%s"><title>%s</title></rect>`+"\n", number(x), number(y), number(max(w, 0)), number(max(h, 0)), class, escape(tip))
}

func (c *canvas) line(x1, y1, x2, y2 float64, class string) {
	c.printf(`<line x1="%s" y1="%s" x2="%s" y2="%s" class="%s"/>`+"\n", number(x1), number(y1), number(x2), number(y2), class)
}

func (c *canvas) dot(x, y float64, class, tip string) {
	c.printf(`<circle cx="%s" cy="%s" r="5" class="%s"><title>%s</title></circle>`+"\n", number(x), number(y), class, escape(tip))
}

// path draws a line through points.
func (c *canvas) path(points [][2]float64, class string) {
	c.printf(`<path class="%s" d="`, class)
	for i, p := range points {
		op := 'L'
		if i == 0 {
			op = 'M'
		}
		c.printf("%c%s %s", op, number(p[0]), number(p[1]))
	}
	c.printf(`"/>` + "\n")
}

// legend writes a row of marks with their names from x on, and returns where it ends.
func (c *canvas) legend(x, y float64, class, name string) float64 {
	c.printf(`<rect x="%s" y="%s" width="14" height="14" rx="2" class="%s"/>`+"\n", number(x), number(y-12), class)
	c.text(x+20, y, "start", "small", name)
	return x + 20 + textWidth(name)*13 + 22
}

// textWidth is about how wide a text is, in its font size; generous, so that it fits.
func textWidth(text string) float64 { return 0.56 * float64(len([]rune(text))) }

// fit shortens a text to a width in pixels at 14 pixels a character height.
func fit(text string, room float64) string {
	runes := []rune(text)
	most := int(room / (14 * 0.56))
	if len(runes) <= most {
		return text
	}
	return strings.TrimRight(string(runes[:max(most-1, 0)]), " ,;:") + "…"
}

func number(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "0"
	}
	return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.2f", v), "0"), ".")
}

func escape(text string) string {
	var b strings.Builder
	// A strings.Builder does not fail.
	_ = xml.EscapeText(&b, []byte(text))
	return b.String()
}

// ticks returns round steps from 0 to at least most, about n of them.
func ticks(most float64, n int) []float64 {
	if most <= 0 || math.IsInf(most, 0) || math.IsNaN(most) {
		most = 1
	}
	raw := most / float64(n)
	step := math.Pow(10, math.Floor(math.Log10(raw)))
	for _, m := range []float64{1, 2, 2.5, 5, 10} {
		if step*m >= raw {
			step *= m
			break
		}
	}
	list := []float64{0}
	for v := step; list[len(list)-1] < most; v += step {
		list = append(list, v)
	}
	return list
}
