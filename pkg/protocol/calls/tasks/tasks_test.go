package tasks

import (
	"crypto/rand"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/protocol/calls"
	"mcp-bash/pkg/wire/mcp"
)

// running returns a task after the hand-over, in a table with room for it.
func running() *task {
	limits := &project.Limits{Response: 100_000, Pending: 1 << 20, Concurrent: 1}
	t := NewTable(Config{
		Settings: &project.Tasks{Max: 1, MaxClient: 1, TTL: time.Hour, MaxResults: 1 << 20}, Limits: limits, Running: 1,
		NewID: func(string) string { return "id" },
	})
	c := t.NewClient(ClientConfig{Calls: calls.Config{Limits: limits}})
	if err := t.add(c); err != nil {
		panic(err)
	}
	x := &task{client: c, newest: true, changed: make(chan struct{})}
	t.publish(x)
	return x
}

// TASK-30: the answers to a part of the questions are limited.
func TestLargeAnswers(t *testing.T) {
	for size, status := range map[int]string{maxAnswers - 100: "input_required", maxAnswers: "failed"} {
		x := running()
		x.asked = &questions{list: []question{{key: "a", shown: "a"}, {key: "b", shown: "b"}}}
		answer := `{"inputResponses":{"a":{"x":"` + strings.Repeat("x", size) + `"}}}`
		if err := x.update(&calls.Request{Params: mcp.ReadParams([]byte(answer))}); err != nil {
			t.Error(err)
		}
		if x.status() != status {
			t.Errorf("%d bytes: %s %v", size, x.status(), x.err)
		}
	}
}

// TASK-51, P-1100: the answer of a task fits into a response.
func TestLargeAnswer(t *testing.T) {
	for size, status := range map[int]string{100_000 - overhead - 100: "completed", 100_000 - overhead: "failed"} {
		x := running()
		x.Last([]byte(`{"jsonrpc":"2.0","id":1,"result":{"x":"`+strings.Repeat("x", size)+`"}}`), nil)
		if x.status() != status {
			t.Errorf("%d bytes: %s %v", size, x.status(), x.err)
		}
	}
}

// TASK-13: the last report of a script has a limit, and no half characters.
func TestProgressText(t *testing.T) {
	p := progressOf([]byte(`{"progress":3,"total":` + strings.Repeat("1", maxNumber+1) + `,"message":"` +
		strings.Repeat("ü", maxText) + `"}`))
	text := p.text()
	if len(p.message) > maxText || !strings.HasPrefix(text, "3: üü") || !strings.HasSuffix(text, "ü…") {
		t.Errorf("%d bytes: %.20s", len(text), text)
	}
}

// TASK-13.
func FuzzProgress(f *testing.F) {
	f.Add(`{"progress":1,"total":2,"message":"m"}`)
	f.Add(`{"progress":"1","message":5}`)
	f.Add(`[]`)
	f.Fuzz(func(t *testing.T, params string) {
		v, err := rawjson.Check([]byte(params))
		if err != nil {
			return
		}
		p := progressOf(v)
		if text := p.text(); len(text) > maxText+2*maxNumber+10 || !utf8.ValidString(text) {
			t.Errorf("%q", text)
		}
	})
}

// TASK-50, TASK-51: sessions multiply neither the tasks nor the answers of an owner.
func TestSharesOfOwners(t *testing.T) {
	limits := &project.Limits{Response: 100_000, Pending: 1 << 20, Concurrent: 1}
	table := NewTable(Config{
		Settings: &project.Tasks{Max: 4, MaxClient: 2, TTL: time.Hour, MaxResults: 4 * (overhead + 2)}, Limits: limits,
		Running: 4, NewID: func(string) string { return rand.Text() },
	})
	begin := func(owner string) *task {
		c := table.NewClient(ClientConfig{Calls: calls.Config{Owner: owner, Limits: limits}})
		if err := table.add(c); err != nil {
			return nil
		}
		x := &task{client: c, newest: true, changed: make(chan struct{})}
		table.publish(x)
		return x
	}
	finish := func(x *task) *task {
		x.Last([]byte(`{"jsonrpc":"2.0","id":1,"result":{}}`), nil)
		return x
	}
	first, second := begin("a"), begin("a")
	if first == nil || second == nil || begin("a") != nil || begin("b") == nil || begin("b") == nil || begin("c") != nil {
		t.Error("the tasks of an owner count otherwise")
	}
	finish(first)
	finish(second)
	var other, last *task
	if other = finish(begin("c")); begin("a") == nil {
		t.Error("a task that has ended counts")
	}
	for range 3 {
		last = finish(begin("a"))
	}
	for x, kept := range map[*task]bool{first: false, second: false, other: true, last: true} {
		if got := table.byID[x.id] != nil; got != kept {
			t.Errorf("an answer of %s is kept: %t", x.client.Calls.Owner, got)
		}
	}
}
