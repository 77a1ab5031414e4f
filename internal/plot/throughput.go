package plot

import (
	"fmt"

	"github.com/tailrace/tailrace/internal/measure"
)

// throughput has a column for each input, and above it the line of the drain.
func throughput(inputs []measure.Input) Chart {
	const height, top, bottom, left = 400.0, 40.0, 64.0, 72.0
	return Chart{
		Name: "throughput", Title: "Throughput by input",
		About:  "10⁶ bytes a second from the start of the child to the last byte of the result; the line is the same child read and thrown away",
		height: int(height),
		draw: func(c *canvas) {
			most := 0.0
			for i := range inputs {
				most = max(most, inputs[i].Whole.MBps(inputs[i].Bytes), inputs[i].Drain.MBps(inputs[i].Bytes))
			}
			steps := ticks(most, 5)
			scale := (height - top - bottom) / steps[len(steps)-1]
			base := height - bottom
			x := c.legend(left, 14, "main", "tailrace")
			c.line(x, 8, x+26, 8, "drainline")
			c.text(x+34, 14, "start", "small", "drain, the limit")
			for _, v := range steps {
				c.line(left, base-v*scale, width-margin, base-v*scale, "grid")
				c.text(left-10, base-v*scale+5, "end", "mute small", fmt.Sprintf("%.0f", v))
			}
			slot := (width - margin - left) / float64(len(inputs))
			for i := range inputs {
				in := &inputs[i]
				ours, drain := in.Whole.MBps(in.Bytes), in.Drain.MBps(in.Bytes)
				mid := left + slot*(float64(i)+0.5)
				w := min(slot*0.5, 96)
				c.rect(mid-w/2, base-ours*scale, w, ours*scale, "main", fmt.Sprintf("%s: %.0f MB/s, %s", in.Name, ours, millis(in.Whole.Min())))
				c.line(mid-w/2-12, base-drain*scale, mid+w/2+12, base-drain*scale, "drainline")
				c.text(mid, base-drain*scale-9, "middle", "mute small", fmt.Sprintf("%.0f", drain))
				// Above its column the value could meet the line of the drain.
				if ours*scale >= 28 {
					c.text(mid, base-ours*scale+21, "middle", "onmain", fmt.Sprintf("%.0f", ours))
				} else if drain*scale-ours*scale > 24 {
					c.text(mid, base-ours*scale-7, "middle", "strong", fmt.Sprintf("%.0f", ours))
				}
				c.text(mid, base+22, "middle", "strong", in.Name)
				c.text(mid, base+43, "middle", "mute small", fmt.Sprintf("%.2f × drain", in.Whole.Ratio(&in.Drain)))
			}
			c.line(left, base, width-margin, base, "axis")
		},
	}
}
