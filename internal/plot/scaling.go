package plot

import (
	"fmt"
	"math"

	"github.com/tailrace/tailrace/internal/measure"
)

// lines are the lines of the picture, from the least to the most.
var lines = []struct {
	class, line, name string
	of                func(*measure.Input) *measure.Series
}{
	{"memory", "memoryline", "over memory", func(in *measure.Input) *measure.Series { return &in.Memory }},
	{"drain", "drainline", "drain", func(in *measure.Input) *measure.Series { return &in.Drain }},
	{"main", "mainline", "tailrace", func(in *measure.Input) *measure.Series { return &in.Whole }},
}

// scaling has time over size, both in powers: a time that is linear in bytes is a
// straight line, and that of a start a floor at its left.
func scaling(points []measure.Input) Chart {
	const height, top, bottom, left, right = 420.0, 36.0, 60.0, 84.0, 150.0
	return Chart{
		Name: "scaling", Title: "Scaling by size",
		About:  fmt.Sprintf("Time for %s from %s to %s; logarithmic axes; dashed is linear in bytes; over memory is the pipeline without a child", points[0].Name, size(points[0].Bytes), size(points[len(points)-1].Bytes)),
		height: int(height),
		draw: func(c *canvas) {
			lowT, highT, lowest := math.Inf(1), 0.0, height
			for i := range points {
				for _, s := range lines {
					if v := s.of(&points[i]).Min(); v > 0 {
						lowT, highT = min(lowT, v), max(highT, v)
					}
				}
			}
			if highT == 0 {
				lowT, highT = 1, 2
			}
			steps := decades(lowT, highT)
			lowY, highY := math.Log10(steps[0]), math.Log10(steps[len(steps)-1])
			lowX, highX := math.Log2(float64(max(points[0].Bytes, 1))), math.Log2(float64(max(points[len(points)-1].Bytes, 2)))
			px := func(bytes int64) float64 {
				return left + (math.Log2(float64(max(bytes, 1)))-lowX)/max(highX-lowX, 0.1)*(width-left-right)
			}
			py := func(ns float64) float64 {
				return height - bottom - (math.Log10(max(ns, 1e-3))-lowY)/max(highY-lowY, 0.1)*(height-top-bottom)
			}
			for _, ns := range steps {
				c.line(left, py(ns), width-right, py(ns), "grid")
				c.text(left-10, py(ns)+5, "end", "mute small", axisTime(ns))
			}
			c.printf(`<clipPath id="scaling-plot"><rect x="%s" y="%s" width="%s" height="%s"/></clipPath>`+"\n", number(left), number(top), number(width-left-right), number(height-top-bottom))
			for i := range points {
				x := px(points[i].Bytes)
				c.line(x, height-bottom, x, height-bottom+6, "axis")
				c.text(x, height-bottom+24, "middle", "mute small", size(points[i].Bytes))
			}
			c.line(left, height-bottom, width-right, height-bottom, "axis")
			for _, s := range lines {
				if s.of(&points[len(points)-1]).Min() == 0 {
					continue // not measured
				}
				var line [][2]float64
				for i := range points {
					line = append(line, [2]float64{px(points[i].Bytes), py(s.of(&points[i]).Min())})
				}
				last := &points[len(points)-1]
				c.linear(points, s.line, func(in *measure.Input) (float64, float64) {
					ns := s.of(last).Min() * float64(in.Bytes) / float64(max(last.Bytes, 1))
					return px(in.Bytes), py(ns)
				})
				c.path(line, s.line)
				for i := range points {
					c.dot(line[i][0], line[i][1], s.class, fmt.Sprintf("%s, %s: %s", s.name, size(points[i].Bytes), millis(s.of(&points[i]).Min())))
				}
				// The names stand apart also where the lines end close to each other.
				end := line[len(line)-1]
				end[1] = min(end[1], lowest-44)
				lowest = end[1]
				c.text(end[0]+14, end[1]+5, "start", "strong", s.name)
				c.text(end[0]+14, end[1]+23, "start", "mute small", millis(s.of(last).Min()))
			}
		},
	}
}

// linear draws what a time linear in bytes would be, from the last point back.
func (c *canvas) linear(points []measure.Input, class string, at func(*measure.Input) (float64, float64)) {
	var line [][2]float64
	for i := range points {
		x, y := at(&points[i])
		line = append(line, [2]float64{x, y})
	}
	c.printf(`<g stroke-dasharray="3 6" opacity="0.6" clip-path="url(#scaling-plot)">`)
	c.path(line, class+" thin")
	c.printf("</g>\n")
}

// decades returns the steps 1, 2, 5, 10 ... that enclose low and high.
func decades(low, high float64) []float64 {
	var steps []float64
	for e := math.Floor(math.Log10(low)); ; e++ {
		for _, m := range []float64{1, 2, 5} {
			v := m * math.Pow(10, e)
			if len(steps) == 1 && v <= low {
				steps[0] = v // the step before is not needed
			} else {
				steps = append(steps, v)
			}
			if v >= high && len(steps) > 1 {
				return steps
			}
		}
	}
}

func axisTime(ns float64) string {
	switch {
	case ns >= 1e9:
		return fmt.Sprintf("%.3g s", ns/1e9)
	case ns >= 1e6:
		return fmt.Sprintf("%.3g ms", ns/1e6)
	default:
		return fmt.Sprintf("%.3g µs", ns/1e3)
	}
}
