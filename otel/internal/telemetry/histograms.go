package telemetry

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"mcp-bash/pkg/events"
	"mcp-bash/pkg/events/metrics"
	"mcp-bash/pkg/events/trail"
)

// The maximum numbers of series, because clients choose texts in lines.
const (
	maxSeries = 1000 // with names of tools and prompts
	maxOther  = 200  // without
	otherTool = "_OTHER"
)

// The names of the metrics, with their descriptions.
const (
	operations = "mcp.server.operation.duration"
	sessions   = "mcp.server.session.duration"
)

var descriptions = map[string]string{
	operations: "Duration of requests, from arrival to answer.", sessions: "Duration of ended sessions.",
}

// Histograms are the durations of all requests and sessions. A file keeps their JSON. So the counts go on after a
// restart, and a line that is sent twice counts once.
type Histograms struct {
	Series map[string]*series `json:"series"`
}

// A series is the histogram of requests or sessions with the same attributes.
type series struct {
	Metric  string      `json:"metric"`
	Server  server      `json:"server"`
	Since   time.Time   `json:"since"` // of the first line, so that it is the same if that is read again
	Labels  [][2]string `json:"labels"`
	Buckets []uint64    `json:"buckets"`
	Sum     float64     `json:"sum"` // seconds
}

// NewHistograms returns histograms without requests.
func NewHistograms() *Histograms { return &Histograms{Series: map[string]*series{}} }

// Check returns an error for histograms that this version cannot continue.
func (h *Histograms) Check() error {
	for key, s := range h.Series {
		if s == nil || descriptions[s.Metric] == "" || len(s.Buckets) != len(metrics.Bounds())+1 {
			return fmt.Errorf("series %q is of another version", key)
		}
	}
	if h.Series == nil {
		return errors.New("the series are missing")
	}
	return nil
}

// Add counts the request or the ended session of an entry.
func (h *Histograms) Add(e *trail.Entry) {
	l := newLine(e)
	var s *series
	switch {
	case l.Type == events.SessionEnd:
		s = h.of(l, sessions, l.network(), "")
	case l.isRequest():
		if s = h.of(l, operations, l.operation(l.Target), l.Target); s == nil {
			s = h.of(l, operations, l.operation(otherTool), otherTool)
		}
	}
	if s == nil { // so many series cannot come from a real server
		return
	}
	at, _ := slices.BinarySearch(metrics.Bounds(), l.Took.Seconds())
	s.Buckets[at]++
	s.Sum += l.Took.Seconds()
}

// of returns the series of a line, or nil if there are too many. Names that no tool has answered to are left out,
// because a client can send any text.
func (h *Histograms) of(l *line, metric string, attributes []attribute.KeyValue, name string) *series {
	var labels [][2]string
	for _, a := range attributes {
		labels = append(labels, [2]string{string(a.Key), a.Value.AsString()})
	}
	key, _ := json.Marshal([]any{metric, l.component, l.replica, labels})
	if s := h.Series[string(key)]; s != nil {
		return s
	}
	answered := l.Outcome == events.Success || l.Entry.Status != ""
	if name != otherTool && (!answered && !h.knows(name) || len(h.Series) >= maxSeries) ||
		len(h.Series) >= maxSeries+maxOther {
		return nil
	}
	s := &series{Metric: metric, Server: server{l.component, l.replica}, Since: l.Began, Labels: labels,
		Buckets: make([]uint64, len(metrics.Bounds())+1)}
	h.Series[string(key)] = s
	return s
}

// knows reports whether a tool or prompt has a series.
func (h *Histograms) knows(name string) bool {
	for _, s := range h.Series {
		for _, l := range s.Labels {
			if strings.HasPrefix(l[0], "gen_ai.") && l[1] == name {
				return true
			}
		}
	}
	return false
}

// Data are the metrics of one server.
type Data struct {
	metricdata.ResourceMetrics
	server server
}

// Data returns the metrics of each server.
func (h *Histograms) Data(r *Resources, temporality metricdata.Temporality, now time.Time) (all []Data) {
	points := map[server]map[string][]metricdata.HistogramDataPoint[float64]{}
	for _, key := range slices.Sorted(maps.Keys(h.Series)) {
		s := h.Series[key]
		if points[s.Server] == nil {
			points[s.Server] = map[string][]metricdata.HistogramDataPoint[float64]{}
		}
		points[s.Server][s.Metric] = append(points[s.Server][s.Metric], s.point(now))
	}
	servers := slices.SortedFunc(maps.Keys(points), func(a, b server) int {
		return cmp.Or(strings.Compare(a.Component, b.Component), strings.Compare(a.Replica, b.Replica))
	})
	for _, s := range servers {
		var durations []metricdata.Metrics
		for _, name := range slices.Sorted(maps.Keys(points[s])) {
			durations = append(durations, metricdata.Metrics{Name: name, Unit: "s", Description: descriptions[name],
				Data: metricdata.Histogram[float64]{DataPoints: points[s][name], Temporality: temporality}})
		}
		all = append(all, Data{metricdata.ResourceMetrics{Resource: r.ofServer(s), ScopeMetrics: []metricdata.ScopeMetrics{
			{Scope: scope, Metrics: durations},
		}}, s})
	}
	return all
}

func (s *series) point(now time.Time) metricdata.HistogramDataPoint[float64] {
	p := metricdata.HistogramDataPoint[float64]{
		StartTime: s.Since, Time: now, Bounds: metrics.Bounds(), BucketCounts: slices.Clone(s.Buckets), Sum: s.Sum,
	}
	var attributes []attribute.KeyValue
	for _, l := range s.Labels {
		attributes = append(attributes, attribute.String(l[0], l[1]))
	}
	p.Attributes = attribute.NewSet(attributes...)
	for _, n := range s.Buckets {
		p.Count += n
	}
	return p
}

// Forget removes the metrics that were sent, for a collector that adds the counts itself.
func (h *Histograms) Forget(d Data) {
	maps.DeleteFunc(h.Series, func(_ string, s *series) bool { return s.Server == d.server })
}
