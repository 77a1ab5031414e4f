package plot

import (
	"fmt"

	"github.com/tailrace/tailrace/internal/measure"
)

// cost has a bar for each input, of one piece a stage, and a mark where the drain ends.
func cost(inputs []measure.Input) Chart {
	const row, left, right, top = 46.0, 96.0, 110.0, 58.0
	height := top + row*float64(len(inputs)) + 52
	return Chart{
		Name: "stages", Title: "Cost by stage",
		About:  "Nanoseconds a byte of each stage alone, over memory; the mark is the drain, which runs beside them in the child and the kernel",
		height: int(height),
		draw: func(c *canvas) {
			perByte := func(in *measure.Input, s *measure.Series) float64 {
				return s.Min() / float64(max(in.Bytes, 1))
			}
			most := 0.0
			for i := range inputs {
				in := &inputs[i]
				sum := 0.0
				for j := range in.Stages {
					sum += perByte(in, &in.Stages[j])
				}
				most = max(most, sum, perByte(in, &in.Drain))
			}
			steps := ticks(most, 6)
			scale := (width - left - right) / steps[len(steps)-1]
			x, y := margin*1.0, 14.0
			for j := range inputs[0].Stages {
				name := inputs[0].Stages[j].Name
				if x+20+textWidth(name)*13 > width-margin {
					x, y = margin, y+24
				}
				x = c.legend(x, y, stageClass(j), name)
			}
			c.line(x, y-12, x, y+3, "drainline")
			c.text(x+9, y, "start", "small", "drain")
			base := top + row*float64(len(inputs))
			for _, v := range steps {
				c.line(left+v*scale, top-8, left+v*scale, base, "grid")
				c.text(left+v*scale, base+20, "middle", "mute small", fmt.Sprintf("%.3g", v))
			}
			c.text(width-right, base+40, "end", "mute small", "ns a byte")
			for i := range inputs {
				in := &inputs[i]
				y := top + row*float64(i)
				c.text(left-12, y+20, "end", "strong", in.Name)
				x, sum := left, 0.0
				for j := range in.Stages {
					v := perByte(in, &in.Stages[j])
					// A gap of a pixel keeps neighbours apart where colours do not.
					c.rect(x, y, v*scale-min(1, v*scale/2), 28, stageClass(j), fmt.Sprintf("%s, %s: %.3f ns a byte, %s", in.Name, in.Stages[j].Name, v, millis(in.Stages[j].Min())))
					x, sum = x+v*scale, sum+v
				}
				d := left + perByte(in, &in.Drain)*scale
				c.line(d, y-5, d, y+33, "drainline")
				label := fmt.Sprintf("%.2f ns", sum)
				if at := x + 8; d > at-6 && d < at+13*textWidth(label)+6 {
					x = d
				}
				c.text(x+8, y+20, "start", "small", label)
			}
			c.line(left, top-8, left, base, "axis")
		},
	}
}

func stageClass(n int) string { return fmt.Sprintf("s%d", n%8) }
