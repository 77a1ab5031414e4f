package mcp

import (
	"net/http"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/tailrace/tailrace/pipeline"
)

// The bounds that a result is cut at behind the capture, as label values.
const (
	cutResult = "result"
	cutView   = "text_view"
)

// metrics counts what the sessions of a server do. Its label values are names of ours:
// nothing that a client sent or a command wrote is one. It is safe for concurrent use.
type metrics struct {
	http.Handler
	registry *prometheus.Registry

	calls     *prometheus.CounterVec
	duration  *prometheus.HistogramVec
	collected *prometheus.CounterVec
	results   prometheus.Counter
	events    prometheus.Counter
	cuts      *prometheus.CounterVec
	stops     prometheus.Counter
	kills     prometheus.Counter
	busy      prometheus.Counter
	refusals  *prometheus.CounterVec
}

// newMetrics returns metrics of a server that has count sessions.
func newMetrics(count func() int) *metrics {
	counter := func(name, help string) prometheus.CounterOpts {
		return prometheus.CounterOpts{Namespace: "tailrace", Name: name, Help: help}
	}
	m := &metrics{
		registry: prometheus.NewRegistry(),
		calls:    prometheus.NewCounterVec(counter("calls_total", "Finished calls of tools, by tool and outcome."), []string{"tool", "outcome"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: "tailrace", Name: "call_duration_seconds", Help: "Time of calls of tools until their result was made, by tool.",
			Buckets: []float64{.01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600},
		}, []string{"tool"}),
		collected: prometheus.NewCounterVec(counter("collected_bytes_total", "Bytes collected from commands, by stream."), []string{"stream"}),
		results:   prometheus.NewCounter(counter("result_bytes_total", "Bytes of the results of tools as they were sent.")),
		events:    prometheus.NewCounter(counter("events_total", "Events collected from log commands.")),
		cuts:      prometheus.NewCounterVec(counter("cuts_total", "Cuts, by bound: those of a command (bytes, events, time), of a result that was cut to fit, and of its text view."), []string{"bound"}),
		stops:     prometheus.NewCounter(counter("stops_total", "Commands that the server stopped.")),
		kills:     prometheus.NewCounter(counter("kills_total", "Commands whose stop took SIGKILL.")),
		busy:      prometheus.NewCounter(counter("busy_total", "Calls that were refused since too many commands ran.")),
		refusals:  prometheus.NewCounterVec(counter("http_refused_total", "HTTP requests that were refused, by status."), []string{"status"}),
	}
	for _, b := range []pipeline.Bound{pipeline.BytesBound, pipeline.EventsBound, pipeline.TimeBound} {
		m.cuts.WithLabelValues(b.String())
	}
	m.cuts.WithLabelValues(cutResult)
	m.cuts.WithLabelValues(cutView)
	m.registry.MustRegister(m.calls, m.duration, m.collected, m.results, m.events, m.cuts, m.stops, m.kills, m.busy, m.refusals,
		gauge("sessions", "Sessions that are open.", count),
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.Handler = promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
	return m
}

// watch adds what the sessions share.
func (m *metrics) watch(s *Shared) {
	m.registry.MustRegister(
		gauge("commands", "Commands that run.", func() int { return len(s.seats) }),
		gauge("commands_max", "How many commands may run at once.", func() int { return s.max }))
}

func gauge(name, help string, value func() int) prometheus.GaugeFunc {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Namespace: "tailrace", Name: name, Help: help},
		func() float64 { return float64(value()) })
}

// observe counts a finished call.
func (m *metrics) observe(r CallRecord) {
	m.calls.WithLabelValues(r.Tool, string(r.Outcome)).Inc()
	m.duration.WithLabelValues(r.Tool).Observe(r.Duration.Seconds())
	m.collected.WithLabelValues("stdout").Add(float64(r.StdoutBytes))
	m.collected.WithLabelValues("stderr").Add(float64(r.StderrBytes))
	m.results.Add(float64(r.ResultBytes))
	m.events.Add(float64(r.Events))
	if r.Bound != pipeline.NoBound {
		m.cuts.WithLabelValues(r.Bound.String()).Inc()
	}
	for cut, was := range map[string]bool{cutResult: r.ResultCut, cutView: r.ViewCut} {
		if was {
			m.cuts.WithLabelValues(cut).Inc()
		}
	}
	if r.Stopped {
		m.stops.Inc()
	}
	if r.Killed {
		m.kills.Inc()
	}
	if r.Reason == reasonBusy {
		m.busy.Inc()
	}
}

// refused counts a refused request.
func (m *metrics) refused(status int) {
	m.refusals.WithLabelValues(strconv.Itoa(status)).Inc()
}
