package plot

import (
	"fmt"
	"html/template"
	"io"
	"strings"

	"github.com/tailrace/tailrace/internal/measure"
)

// page is one file. Its policy forbids it to fetch anything at all.
var page = template.Must(template.New("page").Parse(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<link rel="icon" href="data:,">
<title>tailrace benchmark</title>
<style>
:root{color-scheme:light dark;--paper:#fff;--ink:#1f2328;--mute:#57606a;--line:#d8dee4;--tile:#f6f8fa}
@media (prefers-color-scheme:dark){:root{--paper:#0d1117;--ink:#e6edf3;--mute:#9aa4af;--line:#272e37;--tile:#151b23}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif}
main{max-width:1008px;margin:0 auto;padding:32px 24px 64px}
h1{font-size:28px;margin:0 0 4px}h2{font-size:20px;margin:40px 0 8px}
p{margin:0 0 12px;color:var(--mute)}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(200px,1fr));gap:12px;margin:24px 0 8px}
.tile{background:var(--tile);border:1px solid var(--line);border-radius:8px;padding:14px 16px}
.tile b{display:block;font-size:26px;line-height:1.2;font-variant-numeric:tabular-nums}.tile span{color:var(--mute);font-size:14px}
figure{margin:24px 0 0;overflow-x:auto;border:1px solid var(--line);border-radius:8px}
figure svg{display:block;width:100%;min-width:720px;height:auto}
.scroll{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-size:14px;font-variant-numeric:tabular-nums}
th,td{padding:6px 10px;text-align:right;white-space:nowrap;border-bottom:1px solid var(--line)}
th{color:var(--mute);font-weight:600}th:first-child,td.text{text-align:left}
td.text{white-space:normal;min-width:16em}
{{.Style}}
</style>
</head>
<body>
<main>
<h1>tailrace benchmark</h1>
<p>{{.Version}}, {{.Machine}}<br>{{.Time}}. The least time of {{.Rounds}} rounds; the ways of one input run in turn within each round.</p>
<div class="tiles">{{range .Tiles}}<div class="tile"><b>{{.Value}}</b><span>{{.About}}</span></div>{{end}}</div>
{{range .Charts}}<figure>{{.}}</figure>
{{end}}{{range .Tables}}<h2>{{.Title}}</h2>
<div class="scroll"><table><thead><tr>{{range .Head}}<th scope="col">{{.}}</th>{{end}}</tr></thead><tbody>
{{range .Rows}}<tr>{{range $i, $cell := .}}<td{{if not $i}} class="text"{{end}}>{{$cell}}</td>{{end}}</tr>
{{end}}</tbody></table></div>
{{end}}</main>
</body>
</html>
`))

// A pageTable is a table of the page.
type pageTable struct {
	Title string
	Head  []string
	Rows  [][]string
}

type pageTile struct{ Value, About string }

// HTML writes the report as one page: the pictures, and the figures as tables.
func HTML(w io.Writer, r *measure.Report) error {
	data := struct {
		Version, Machine, Time string
		Rounds                 int
		Style                  template.CSS
		Charts                 []template.HTML
		Tiles                  []pageTile
		Tables                 []pageTable
	}{
		Version: "tailrace " + r.Version, Machine: machineText(r.Machine), Time: r.Time.Format("2006-01-02 15:04 MST"),
		Style: template.CSS(strings.ReplaceAll(style, "text{", "svg text{")),
		Tiles: tiles(r), Tables: tables(r),
	}
	for i := range r.Inputs {
		data.Rounds = max(data.Rounds, len(r.Inputs[i].Whole.Times))
	}
	for i, ch := range Charts(r) {
		var c canvas
		c.printf(`<svg viewBox="0 0 %d %d" role="img" aria-label="%s"><rect class="paper" width="%d" height="%d"/>`, width, headHeight+ch.height, escape(ch.Title+". "+ch.About), width, headHeight+ch.height)
		ch.place(&c, 0, i)
		c.printf("</svg>")
		// The canvas has escaped each text that is in it.
		data.Charts = append(data.Charts, template.HTML(c.String()))
	}
	return page.Execute(w, data)
}

func thousands(v float64) string {
	if v >= 1e6 {
		return fmt.Sprintf("%.2f M", v/1e6)
	}
	return fmt.Sprintf("%.0f k", v/1e3)
}

func machineText(m measure.Machine) string {
	text := fmt.Sprintf("%s, %s/%s, %d CPUs", m.Go, m.OS, m.Arch, m.CPUs)
	if m.CPU != "" {
		text += ", " + m.CPU
	}
	return text
}

// tiles are the figures that one looks for first, of the first input.
func tiles(r *measure.Report) []pageTile {
	if len(r.Inputs) == 0 {
		return nil
	}
	in := &r.Inputs[0]
	list := []pageTile{
		{fmt.Sprintf("%.0f MB/s", in.Whole.MBps(in.Bytes)), in.Name + ", child to result"},
		{fmt.Sprintf("%.2f ×", in.Whole.Ratio(&in.Drain)), "the time of the drain, the limit"},
	}
	if in.Events > 0 && in.Whole.Min() > 0 {
		list = append(list,
			pageTile{thousands(float64(in.Events) / in.Whole.Min() * 1e9), "events a second"},
			pageTile{fmt.Sprintf("%.0f ns", in.Whole.Min()/float64(in.Events)), "an event"})
	}
	return list
}

// tables are all figures of the report.
func tables(r *measure.Report) []pageTable {
	var list []pageTable
	inputs := pageTable{Title: "Inputs", Head: []string{"input", "bytes", "events", "drain", "tailrace", "× drain", "MB/s", "ns/event", "allocs/event"}}
	for i := range r.Inputs {
		in := &r.Inputs[i]
		inputs.Rows = append(inputs.Rows, []string{
			in.Name + ", " + in.About, fmt.Sprint(in.Bytes), fmt.Sprint(in.Events), millis(in.Drain.Min()), millis(in.Whole.Min()),
			fmt.Sprintf("%.2f", in.Whole.Ratio(&in.Drain)), fmt.Sprintf("%.0f", in.Whole.MBps(in.Bytes)), perEvent(in.Whole.Min(), in.Events), perEvent(in.Whole.Allocs, in.Events),
		})
	}
	if len(inputs.Rows) > 0 {
		list = append(list, inputs)
	}
	if staged := withStages(r.Inputs); len(staged) > 0 {
		t := pageTable{Title: "Stages, alone, over memory", Head: []string{"stage"}}
		for i := range staged {
			t.Head = append(t.Head, staged[i].Name)
		}
		for j := range staged[0].Stages {
			row := []string{staged[0].Stages[j].Name}
			for i := range staged {
				row = append(row, millis(staged[i].Stages[j].Min()))
			}
			t.Rows = append(t.Rows, row)
		}
		row := []string{"all stages, over memory"}
		for i := range staged {
			row = append(row, millis(staged[i].Memory.Min()))
		}
		t.Rows = append(t.Rows, row)
		list = append(list, t)
	}
	if len(r.Scaling) > 0 {
		t := pageTable{Title: "Scaling, " + r.Scaling[0].Name, Head: []string{"size", "events", "drain", "tailrace", "× drain", "ns/byte"}}
		for i := range r.Scaling {
			in := &r.Scaling[i]
			t.Rows = append(t.Rows, []string{size(in.Bytes), fmt.Sprint(in.Events), millis(in.Drain.Min()), millis(in.Whole.Min()),
				fmt.Sprintf("%.2f", in.Whole.Ratio(&in.Drain)), fmt.Sprintf("%.2f", in.Whole.Min()/float64(max(in.Bytes, 1)))})
		}
		list = append(list, t)
	}
	if len(r.Peers) > 0 {
		t := pageTable{Title: "Peers", Head: []string{"peer", "time", "tailrace", "times as long", "version"}}
		for i := range r.Peers {
			p := &r.Peers[i]
			if p.Missing != "" {
				t.Rows = append(t.Rows, []string{p.Name + ", missing: " + p.Missing, "", "", "", ""})
				continue
			}
			t.Rows = append(t.Rows, []string{p.Name + ", " + p.About, millis(p.Times.Min()), millis(p.Against.Min()), ratioText(p.Ratio()), p.Version})
		}
		list = append(list, t)
	}
	return list
}

func perEvent(v float64, events int64) string {
	if events == 0 {
		return "–"
	}
	if v /= float64(events); v >= 100 {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.3g", v)
}
