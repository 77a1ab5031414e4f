package plot

import (
	"fmt"
	"math"
	"slices"

	"github.com/tailrace/tailrace/internal/measure"
)

// peers has a bar for each other way, as long as its time over ours, on a logarithmic
// scale; the slowest is the last.
func peers(list []measure.Peer) Chart {
	const row, left, right, top = 50.0, 230.0, 90.0, 16.0
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b measure.Peer) int {
		switch {
		case a.Missing != "" || b.Missing != "":
			return len(a.Missing) - len(b.Missing)
		case a.Ratio() < b.Ratio():
			return -1
		}
		return 1
	})
	height := top + row*float64(len(list)) + 56
	return Chart{
		Name: "peers", Title: "Other ways to do the same work",
		About:  "How many times as long they take as tailrace in the same rounds, on a logarithmic scale; each was checked to be right first",
		height: int(height),
		draw: func(c *canvas) {
			most := 10.0
			for i := range list {
				most = max(most, list[i].Ratio())
			}
			high := math.Ceil(math.Log10(most)*4) / 4
			px := func(ratio float64) float64 {
				return left + max(math.Log10(max(ratio, 1)), 0)/high*(width-left-right)
			}
			base := top + row*float64(len(list))
			for _, v := range []float64{1, 2, 5, 10, 20, 50, 100, 200, 500, 1000} {
				if math.Log10(v) > high {
					break
				}
				c.line(px(v), top-4, px(v), base, "grid")
				c.text(px(v), base+20, "middle", "mute small", fmt.Sprintf("%.0f×", v))
			}
			c.text(width-right, base+42, "end", "mute small", "times as long as tailrace")
			for i := range list {
				p := &list[i]
				y := top + row*float64(i)
				c.text(left-12, y+15, "end", "strong", fit(p.Name, left-24))
				if p.Missing != "" {
					c.text(left+8, y+20, "start", "mute", fit("missing: "+p.Missing, width-left-margin))
					continue
				}
				c.text(left-12, y+33, "end", "mute small", millis(p.Times.Min())+" : "+millis(p.Against.Min()))
				c.rect(left, y+3, max(px(p.Ratio())-left, 2), 28, "other", fmt.Sprintf("%s: %s, tailrace: %s", p.Name, millis(p.Times.Min()), millis(p.Against.Min())))
				c.text(px(p.Ratio())+10, y+22, "start", "strong", ratioText(p.Ratio()))
			}
			c.line(left, top-4, left, base, "axis")
		},
	}
}

func ratioText(r float64) string {
	if r >= 10 {
		return fmt.Sprintf("%.0f×", r)
	}
	return fmt.Sprintf("%.1f×", r)
}
