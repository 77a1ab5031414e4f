// Package plot draws what was measured: as SVG pictures, and as one HTML page that holds
// them and asks for nothing outside.
//
// The pictures are drawn here and by no library: those at hand either draw raster-like
// pictures of one colour scheme or need a script from elsewhere in the page. Colours keep
// apart for the colour-blind, and each picture has a light and a dark form in itself.
package plot

import (
	"fmt"
	"io"
	"math"

	"github.com/tailrace/tailrace/internal/measure"
)

// A Chart is one picture of a report.
type Chart struct {
	// Name is short, for file names; Title and About are what stands above it.
	Name, Title, About string

	height int
	draw   func(*canvas)
}

// Charts returns the pictures that a report has the figures for, in their order.
func Charts(r *measure.Report) []Chart {
	var charts []Chart
	if len(r.Inputs) > 0 {
		charts = append(charts, throughput(r.Inputs))
	}
	if staged := withStages(r.Inputs); len(staged) > 0 {
		charts = append(charts, cost(staged))
	}
	if len(r.Scaling) > 1 {
		charts = append(charts, scaling(r.Scaling))
	}
	if len(r.Peers) > 0 {
		charts = append(charts, peers(r.Peers))
	}
	return charts
}

// SVG writes all pictures below each other as one SVG file.
func SVG(w io.Writer, r *measure.Report) error {
	charts := Charts(r)
	height := 0
	for _, c := range charts {
		height += headHeight + c.height
	}
	var c canvas
	c.open(max(height, headHeight), "tailrace benchmark", "Throughput, cost by stage and scaling")
	top := 0
	for i, chart := range charts {
		chart.place(&c, top, i)
		top += headHeight + chart.height
	}
	if len(charts) == 0 {
		c.text(margin, 40, "start", "mute", "There is nothing to draw in this report.")
	}
	c.close()
	_, err := io.WriteString(w, c.String())
	return err
}

// SVG writes the picture alone as an SVG file.
func (ch Chart) SVG(w io.Writer) error {
	var c canvas
	c.open(headHeight+ch.height, ch.Title, ch.About)
	ch.place(&c, 0, 0)
	c.close()
	_, err := io.WriteString(w, c.String())
	return err
}

// place draws the chart with its title at a height of the canvas.
func (ch Chart) place(c *canvas, top, n int) {
	c.printf(`<g transform="translate(0 %d)">`, top)
	c.text(margin, 34, "start", "title", ch.Title)
	c.text(margin, 56, "start", "mute", ch.About)
	c.printf(`<g transform="translate(0 %d)">`, headHeight)
	ch.draw(c)
	c.printf("</g></g>\n")
}

// withStages returns the inputs whose stages were measured.
func withStages(inputs []measure.Input) []measure.Input {
	var staged []measure.Input
	for _, in := range inputs {
		if len(in.Stages) > 0 {
			staged = append(staged, in)
		}
	}
	return staged
}

// size writes a number of bytes for an axis, a power of two where it is about one.
func size(n int64) string {
	// A corpus ends with a whole line, so that it is a little smaller than asked for.
	if p := math.Exp2(math.Round(math.Log2(float64(max(n, 1))))); math.Abs(float64(n)/p-1) < 0.02 {
		n = int64(p)
	}
	if n >= 1<<20 {
		return fmt.Sprintf("%.3g MiB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%.3g KiB", float64(n)/(1<<10))
}

// millis writes nanoseconds with three digits, as milliseconds where they are not too few.
func millis(ns float64) string {
	switch ms := ns / 1e6; {
	case ns < 1e3:
		return fmt.Sprintf("%.0f ns", ns)
	case ns < 1e5:
		return fmt.Sprintf("%.3g µs", ns/1e3)
	case ms >= 100:
		return fmt.Sprintf("%.0f ms", ms)
	case ms >= 10:
		return fmt.Sprintf("%.1f ms", ms)
	default:
		return fmt.Sprintf("%.2f ms", ms)
	}
}
