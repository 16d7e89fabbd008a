package main

import (
	"context"
	"io"
	"strings"
	"testing"
)

// The request that a line of the shared server belongs to, and the names that its client gets.
func TestDeliverStateless(t *testing.T) {
	const (
		progress = `{"method":"notifications/progress","params":{"progressToken":TOKEN,"progress":1}}`
		log      = `{"method":"notifications/message","params":{"level":"info","data":"x"}}`
		ack      = `{"method":"notifications/subscriptions/acknowledged","params":{"_meta":{` +
			`"io.modelcontextprotocol/subscriptionId":TOKEN}}}`
		result = `{"id":TOKEN,"result":{"a":{"id":1}}}`
		ended  = `{"id":TOKEN,"result":{"_meta":{"io.modelcontextprotocol/subscriptionId":TOKEN}}}`
		failed = `{"id":TOKEN,"error":{"code":1,"message":"no"}}`
	)
	as := func(line, name string) string { return strings.ReplaceAll(line, "TOKEN", name) }
	plain := &pending{number: "1", id: []byte(`"x"`), method: "tools/call"}
	reports := &pending{number: "2", id: []byte(`"x"`), token: []byte(`"t"`), method: "tools/call"}
	same := &pending{number: "3", id: []byte(`"x"`), token: []byte(`"t"`), method: "tools/call"}
	listens := &pending{number: "4", id: []byte(`7`), method: "subscriptions/listen"}
	logs := &pending{number: "5", id: []byte(`9`), method: "tools/call", logs: true}
	gone := &pending{number: "6", id: []byte(`10`), token: []byte(`"t"`), method: "tools/call", given: true}
	type streams map[*pending]string
	for name, tc := range map[string]struct {
		open   []*pending
		lines  []string
		want   streams
		faults int
	}{
		"answers": {[]*pending{plain, reports}, []string{as(failed, "2"), as(result, "1")},
			streams{plain: as(result, `"x"`), reports: as(failed, `"x"`)}, 0},
		"progress": {[]*pending{reports, same}, []string{as(progress, "3"), as(progress, "2"), as(result, "3")},
			streams{reports: as(progress, `"t"`), same: as(progress, `"t"`) + as(result, `"x"`)}, 0},
		"progress nobody asked for": {[]*pending{plain, reports}, []string{as(progress, "1")}, nil, 1},
		"progress after the answer": {[]*pending{reports}, []string{as(result, "2"), as(progress, "2")},
			streams{reports: as(result, `"x"`)}, 1},
		"a stream": {[]*pending{plain, listens}, []string{as(ack, "4"), as(ended, "4")},
			streams{listens: as(ack, "7") + as(ended, "7")}, 0},
		"a stream that is not there": {[]*pending{plain}, []string{as(ack, "4")}, nil, 1},
		"logs for whom wants them":   {[]*pending{plain, logs, listens, gone}, []string{log}, streams{logs: log}, 0},
		"logs for the only one":      {[]*pending{plain, listens}, []string{log}, streams{plain: log}, 0},
		"logs for none of two":       {[]*pending{plain, reports}, []string{log}, nil, 1},
		"logs for a stream":          {[]*pending{listens}, []string{log}, nil, 1},
		"under way to one that left": {[]*pending{gone}, []string{log, as(progress, "6"), as(result, "6")}, nil, 0},
		"an answer to nothing":       {[]*pending{plain}, []string{as(result, "3")}, nil, 1},
		"no message":                 {[]*pending{listens}, []string{`what?`}, nil, 1},
	} {
		s := &stateless{process: newProcess("", nil, &transcript{out: io.Discard}), open: map[string]*pending{}}
		for _, e := range tc.open {
			e.stream = newStream()
			s.open[e.number] = e
		}
		for _, line := range tc.lines {
			s.deliver([]byte(line))
		}
		for _, e := range tc.open {
			e.close()
			var got strings.Builder
			if err := e.drain(context.Background(),
				func(line []byte) error { got.Write(line); return nil }); err != nil {
				t.Fatal(err)
			}
			if got.String() != tc.want[e] && !e.given {
				t.Errorf("%s: request %s got %s, want %s", name, e.number, got.String(), tc.want[e])
			}
		}
		if faults := s.transcript.faults(); len(faults) != tc.faults {
			t.Errorf("%s: %q", name, faults)
		}
	}
}
