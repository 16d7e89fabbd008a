//go:build linux

package lasting

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"mcp-bash/pkg/events"
	"mcp-bash/pkg/events/trail"
	"mcp-bash/pkg/json/rawjson"
)

// A record is the sum of the records of all servers.
type record struct {
	lines, recovered, missed int
	byCall                   map[int][]*line
}

// A line is about one call.
type line struct {
	slot  int
	entry *trail.Entry
}

// verify checks the chain of each record, and compares the records with what the clients saw.
func (r *run) verify() *record {
	all := &record{byCall: map[int][]*line{}}
	missed := make([]int, len(r.slots))
	for _, s := range r.slots {
		before := all.missed
		r.readRecord(s, all)
		missed[s.n] = all.missed - before
	}
	if len(r.violations) > 0 {
		return all
	}
	lacking := make([]int, len(r.slots))
	for _, c := range r.calls[1:] {
		if isRecorded(c.Kind) {
			r.compareRecord(c, all.byCall[c.N], lacking)
		} else if n := len(all.byCall[c.N]); n > 0 {
			r.violate("call %d (%s) has %d lines", c.N, c.Kind, n)
		}
		delete(all.byCall, c.N)
	}
	for n := range all.byCall {
		r.violate("a line is about call %d, which nobody made", n)
	}
	for n := range lacking {
		if lacking[n] > missed[n] {
			r.violate("the record %d lacks %d lines, and reports %d", n, lacking[n], missed[n])
		}
	}
	return all
}

func isRecorded(k kind) bool { return k != list && k != ping }

// readRecord follows the chain of one server and its successors.
func (r *run) readRecord(s *slot, all *record) {
	files, _ := filepath.Glob(s.record() + ".*")
	slices.Sort(files)
	var chain trail.Verifier
	lastOf := map[int]int{} // call of each worker
	for _, name := range append(files, s.record()) {
		f, err := os.Open(name)
		if err != nil {
			r.violate("%v", err)
			return
		}
		trail.Read(f, func(e *trail.Entry) error {
			if fault := chain.Add(e); fault != nil {
				r.violate("%s: %+v", name, *fault)
			}
			r.readLine(s, e, all, lastOf)
			return nil
		})
		f.Close()
	}
}

func (r *run) readLine(s *slot, e *trail.Entry, all *record, lastOf map[int]int) {
	all.lines++
	switch e.Type {
	case events.Missed:
		all.missed += e.Count
	case events.Recovered:
		all.recovered++
	}
	if !e.IsCall() || e.Type == events.HTTPRequest {
		return
	}
	n, err := strconv.Atoi(string(rawjson.Path(e.Raw, "source", "extra", "request_id")))
	if err != nil || n < 1 || n >= len(r.calls) {
		r.violate("a line about an unknown request: %s", e.Raw)
		return
	}
	all.byCall[n] = append(all.byCall[n], &line{s.n, e})
	c := r.calls[n]
	if c.Worker < 0 || c.End == left {
		return // another call of the worker may have ended before
	}
	if n <= lastOf[c.Worker] {
		r.violate("record %d: call %d follows call %d of the same client", s.n, n, lastOf[c.Worker])
	}
	lastOf[c.Worker] = n
}

// compareRecord compares the lines about a call with its answer.
func (r *run) compareRecord(c *call, lines []*line, lacking []int) {
	s := r.slots[max(c.Slot, 0)]
	switch n := len(lines); {
	case c.End == lost || c.End == left:
		if n > 1 {
			r.violate("call %d (%s, %s) has %d lines", c.N, c.Kind, c.End, n)
		}
		return
	case c.End == "":
		r.violate("call %d (%s) has no answer", c.N, c.Kind)
		return
	case n == 0 && s.wasFull(c.Sent):
		lacking[s.n]++
		return
	case n != 1:
		r.violate("call %d (%s, %s) to server %d has %d lines", c.N, c.Kind, c.End, s.n, n)
		return
	}
	e := lines[0].entry
	want, reason := events.Success, ""
	switch {
	case c.End == refused: // and there was room again for this line
		want, reason = events.Error, "record"
	case c.End == killed:
		want, reason = events.ApplicationError, "signal"
	case c.Kind == fail:
		want, reason = events.ApplicationError, "exit_status"
	case c.Kind == hang:
		want, reason = events.ApplicationError, "timeout"
	}
	if e.Outcome != want || e.Reason != reason {
		r.violate("call %d (%s, %s): its line has %s (%s)", c.N, c.Kind, c.End, e.Outcome, e.Reason)
	}
	if lines[0].slot != c.Slot || e.Time.After(c.Got) || e.Began.Before(c.Sent.Add(-1000)) {
		r.violate("call %d (%s) from %v to %v at server %d: %s", c.N, c.Kind, c.Sent, c.Got, c.Slot, e.Raw)
	}
}
