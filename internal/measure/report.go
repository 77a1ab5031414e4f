package measure

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"time"
)

// Schema names the form of a report. It changes where a member changes its meaning or
// goes away; members may be added under the same name.
const Schema = "tailrace-bench/1"

// A Report is what one run of a benchmark measured. Its JSON form is stable.
type Report struct {
	// Schema is [Schema].
	Schema string `json:"schema"`
	// Time is when the run began.
	Time time.Time `json:"time"`
	// Version is that of the program, Machine where it ran.
	Version string  `json:"version"`
	Machine Machine `json:"machine"`
	// Child says what wrote the inputs: a file reader of the system, this program, or a
	// command that was given.
	Child string `json:"child"`
	// Inputs are the inputs, in their order.
	Inputs []Input `json:"inputs"`
	// Scaling is one input in rising sizes; empty where that was not measured.
	Scaling []Input `json:"scaling,omitempty"`
	// Peers are other ways to do the same work; empty where they were not given.
	Peers []Peer `json:"peers,omitempty"`
}

// A Machine is what a report says of where it was made.
type Machine struct {
	OS   string `json:"os"`
	Arch string `json:"arch"`
	CPU  string `json:"cpu"`
	CPUs int    `json:"cpus"`
	Go   string `json:"go"`
}

// An Input is what was measured of one input.
type Input struct {
	Name  string `json:"name"`
	About string `json:"about"`
	// Bytes, Lines and Events are what it holds.
	Bytes  int64 `json:"bytes"`
	Lines  int64 `json:"lines"`
	Events int64 `json:"events"`
	// ResultBytes is the size of the result.
	ResultBytes int64 `json:"result_bytes"`
	// Drain is the child read to its end and thrown away: the limit. Whole is the child
	// read through all stages to the bytes of the result.
	Drain Series `json:"drain"`
	Whole Series `json:"whole"`
	// Memory is the whole line over memory, without a child; Stages are the stages alone,
	// over memory, in their order. Empty where they were not measured.
	Memory Series   `json:"memory"`
	Stages []Series `json:"stages,omitempty"`
}

// A Peer is another way to do the work, or the reason why it was not measured.
type Peer struct {
	// Name is short and stable, About says what it does, Version what was measured.
	Name    string `json:"name"`
	About   string `json:"about"`
	Version string `json:"version,omitempty"`
	// Input is the name of the input.
	Input string `json:"input"`
	// Missing is why there are no times.
	Missing string `json:"missing,omitempty"`
	// Events and Bytes are what the check before the measurement found in its result.
	Events int64 `json:"events"`
	Bytes  int64 `json:"bytes"`
	// Times are its own; Against are those of this program doing the same in the same
	// rounds, under the name of what it did.
	Times   Series `json:"times"`
	Against Series `json:"against"`
}

// Ratio returns how many times as long the peer takes; 0 for one that is missing.
func (p *Peer) Ratio() float64 { return p.Times.Ratio(&p.Against) }

// Here returns what is known of this machine.
func Here() Machine {
	return Machine{OS: runtime.GOOS, Arch: runtime.GOARCH, CPU: cpuName(), CPUs: runtime.NumCPU(), Go: runtime.Version()}
}

// cpuName asks Linux, where Go has no portable way to know.
func cpuName() string {
	data, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(data)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// ErrReport is wrapped by the error for a file that is no report of this schema.
var ErrReport = errors.New("not a report of this version: make one with tailrace bench --json")

// Read reads a report.
func Read(r io.Reader) (*Report, error) {
	var report Report
	if err := json.NewDecoder(r).Decode(&report); err != nil {
		return nil, fmt.Errorf("%w: no JSON", ErrReport)
	}
	if report.Schema != Schema {
		return nil, fmt.Errorf("%w: its schema is not %s", ErrReport, Schema)
	}
	return &report, nil
}

// Write writes the report as JSON, indented, with an LF at the end.
func (r *Report) Write(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(r)
}
