package main

import (
	"context"
	"strings"
	"testing"
)

// The HTTP answer that carries each line of the server.
func TestDeliver(t *testing.T) {
	const (
		log    = `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}`
		ask    = `{"jsonrpc":"2.0","id":7,"method":"elicitation/create","params":{}}`
		untake = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`
		change = `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`
		told   = `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}`
		one    = `{"jsonrpc":"2.0","id":1,"result":{}}`
		two    = `{"jsonrpc":"2.0","id":"1","error":{"code":-32603,"message":"no"}}`
	)
	for name, tc := range map[string]struct {
		waiting []string // requests
		lines   []string
		want    map[string]string // by id, "" for the general stream
	}{
		"an answer": {[]string{`1`, `"1"`}, []string{two, one},
			map[string]string{`1`: one, `"1"`: two}},
		"one request": {[]string{`1`}, []string{log, ask, untake, change, told, one},
			map[string]string{`1`: log + ask + untake + told + one, "": change}},
		"several requests": {[]string{`1`, `"1"`}, []string{log, ask, untake, told, one},
			map[string]string{`1`: told + one, "": log + ask + untake}},
		"taken back after the answer": {[]string{`1`}, []string{ask, one, untake},
			map[string]string{`1`: ask + one, "": untake}},
		"progress after the answer":       {[]string{`1`}, []string{one, told}, map[string]string{`1`: one, "": told}},
		"progress of nothing that waits":  {nil, []string{told, log}, map[string]string{"": told + log}},
		"an answer nobody waits for":      {nil, []string{one}, map[string]string{"": one}},
		"something that is not a message": {[]string{`1`}, []string{`what?`}, map[string]string{"": `what?`}},
	} {
		s := &session{general: newStream(), waiting: map[string]*stream{}, tokens: map[string]*stream{},
			asked: map[string]*stream{}}
		streams := map[string]*stream{"": s.general}
		for _, id := range tc.waiting {
			st := newStream()
			s.waiting[id], streams[id] = st, st
		}
		if st := s.waiting["1"]; st != nil {
			s.tokens["1"] = st
		}
		for _, line := range tc.lines {
			s.deliver([]byte(line))
		}
		for id, st := range streams {
			var got strings.Builder
			if id == "" {
				st.close()
			}
			if s.waiting[id] != nil {
				s.forget(id)
			}
			if err := st.drain(context.Background(),
				func(line []byte) error { got.Write(line); return nil }); err != nil {
				t.Fatal(err)
			}
			if got.String() != tc.want[id] {
				t.Errorf("%s: stream %q holds %s, want %s", name, id, got.String(), tc.want[id])
			}
		}
	}
}

// A client that goes away takes nothing along: the next one gets the rest.
func TestStreamKeepsWhatWasNotTaken(t *testing.T) {
	s := newStream()
	s.put([]byte("a"))
	s.put([]byte("b"))
	var got string
	gone := context.Canceled
	take := func(line []byte) error {
		if string(line) == "b" && gone != nil {
			return gone
		}
		got += string(line)
		return nil
	}
	if err := s.drain(t.Context(), take); err != gone {
		t.Error(err)
	}
	s.close()
	if gone = nil; s.drain(t.Context(), take) != nil || got != "ab" || s.put([]byte("c")) {
		t.Error(got)
	}
}
