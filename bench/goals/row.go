package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/tailrace/tailrace/internal/measure"
)

// A row is one line of the table.
type row struct {
	What  string  `json:"what"`
	Value float64 `json:"value"`
	Unit  string  `json:"unit"`
	// Most and Least are the goal: at most, or at least; both 0 where there is none.
	Most  float64 `json:"most,omitempty"`
	Least float64 `json:"least,omitempty"`
	// Missing says why there is no value.
	Missing string `json:"missing,omitempty"`
	Note    string `json:"note,omitempty"`
}

// times is a row whose unit is a multiple.
func times(what string, value, most, least float64) row {
	return row{What: what, Value: value, Unit: "x", Most: most, Least: least}
}

func (r row) goal() string {
	switch {
	case r.Most != 0:
		return fmt.Sprintf("<= %g %s", r.Most, r.Unit)
	case r.Least != 0:
		return fmt.Sprintf(">= %g %s", r.Least, r.Unit)
	}
	return ""
}

func (r row) verdict() string {
	switch {
	case r.Missing != "":
		return "not measured: " + r.Missing
	case r.Most == 0 && r.Least == 0:
		return r.Note
	case r.Most != 0 && r.Value > r.Most, r.Least != 0 && r.Value < r.Least:
		return strings.TrimSpace("MISSED " + r.Note)
	}
	return strings.TrimSpace("met " + r.Note)
}

func (r row) value() string {
	if r.Missing != "" {
		return ""
	}
	return fmt.Sprintf("%.3g %s", r.Value, r.Unit)
}

// table is the rows as Markdown.
func table(rows []row) string {
	var b strings.Builder
	b.WriteString("| what | measured | goal | |\n|---|---|---|---|\n")
	for _, r := range rows {
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", r.What, r.value(), r.goal(), r.verdict())
	}
	return b.String()
}

const beginMark, endMark = "<!-- goals -->\n", "<!-- /goals -->\n"

// writePage puts the table between the marks of a page.
func writePage(path string, rows []row) error {
	page, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	before, rest, begins := bytes.Cut(page, []byte(beginMark))
	_, after, ends := bytes.Cut(rest, []byte(endMark))
	if !begins || !ends {
		return errors.New("the page has no marks for the table")
	}
	m := measure.Here()
	text := fmt.Sprintf("%s, %d cores, %s, %s/%s, %s\n\n", m.CPU, m.CPUs, m.Go, m.OS, m.Arch, time.Now().UTC().Format(time.DateOnly))
	return os.WriteFile(path, []byte(string(before)+beginMark+text+table(rows)+endMark+string(after)), 0o644)
}
