package loki

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"time"

	"github.com/tailrace/tailrace/internal/backend"
	"github.com/tailrace/tailrace/internal/logline"
)

// A stream is what Loki sends of one set of labels.
type stream struct {
	Labels map[string]json.RawMessage `json:"stream"`
	Values [][]json.RawMessage        `json:"values"`
}

// An entry is one line, with the name of its stream: its labels as text.
type entry struct {
	ns     int64
	line   string
	stream string
	labels map[string]string
}

// A key is what tells one entry from another. Loki keeps only one of two with the same key.
type key struct {
	ns           int64
	stream, line string
}

func (e *entry) key() key { return key{e.ns, e.stream, e.line} }

// entries returns the entries of streams as they stand there, stream by stream. What is no
// pair of a time and a line is left out, and so is a label that is no string.
func entries(streams []stream) []entry {
	var all []entry
	for _, s := range streams {
		labels := map[string]string{}
		for name, raw := range s.Labels {
			var value string
			if json.Unmarshal(raw, &value) == nil && len(raw) > 0 && raw[0] == '"' {
				labels[name] = value
			}
		}
		name := nameOf(labels)
		for _, pair := range s.Values {
			if len(pair) < 2 {
				continue
			}
			var stamp, line string
			if json.Unmarshal(pair[0], &stamp) != nil || json.Unmarshal(pair[1], &line) != nil || pair[1][0] != '"' {
				continue
			}
			ns, err := strconv.ParseInt(stamp, 10, 64)
			if err != nil {
				continue
			}
			all = append(all, entry{ns, line, name, labels})
		}
	}
	return all
}

// nameOf writes labels in one way.
func nameOf(labels map[string]string) string {
	names := make([]string, 0, len(labels))
	for name, value := range labels {
		names = append(names, strconv.Quote(name)+"="+strconv.Quote(value))
	}
	slices.Sort(names)
	var b bytes.Buffer
	for _, n := range names {
		b.WriteString(n)
		b.WriteByte(',')
	}
	return b.String()
}

// byTime puts entries in the order of their times: those of several streams are merged, and
// what each stream has at one time keeps its order.
func byTime(all []entry, backward bool) {
	slices.SortStableFunc(all, func(a, b entry) int {
		switch {
		case a.ns == b.ns:
			return 0
		case (a.ns < b.ns) != backward:
			return -1
		}
		return 1
	})
}

// items turns entries into records.
func items(all []entry) []backend.Item {
	out := make([]backend.Item, len(all))
	for i, e := range all {
		r := logline.Record{Line: []byte(e.line), Time: time.Unix(0, e.ns), Nanos: true, Labels: e.labels}
		for _, name := range [...]string{"service", "service_name"} {
			if r.Service = e.labels[name]; r.Service != "" {
				break
			}
		}
		for _, name := range [...]string{"level", "detected_level"} {
			if r.Level = logline.Level(e.labels[name]); r.Level != "" {
				break
			}
		}
		if s := e.labels["stream"]; s == "stdout" || s == "stderr" {
			r.Stream = s
		}
		out[i] = backend.Item{Record: r}
	}
	return out
}
