package record

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"mcp-bash/pkg/events"
	"mcp-bash/pkg/wire/mcp"
	"mcp-bash/schemas"
)

// AUD-4: the schema has exactly the members, the types and the causes that lines can have.
func TestRecordSchema(t *testing.T) {
	names := []string{"a"}
	full := events.Event{
		Cause: mcp.CauseTool, Began: time.Now(), ID: events.NewID(), Component: "shop",
		Source: events.Source{
			Transport: "http", Address: "127.0.0.1:1", Agent: "curl", Session: "0123456789abcdef", Revision: "2025-11-25",
			RequestID: []byte("1"),
		},
		Subject: events.Subject{
			User: "ada", UserID: "ada", Issuer: "https://x", Token: "t", Scopes: names, Client: "c", Version: "1",
		},
		Target: events.Target{Method: "tools/call", Kind: "tool", Name: "hello"},
		Work: events.Work{
			Took: time.Second, Queued: time.Second, Ran: time.Second, Arguments: []byte("{}"), Digest: events.Hash{1},
			Ended: true, Signal: 9, Code: -32603, Bytes: 10, Script: events.Hash{1}, Metadata: events.Hash{1}, Refused: "/x",
			Answers: []events.Answer{{Method: "elicitation/create", Result: []byte(`{"action":"accept"}`)}},
			Trace:   strings.Repeat("0", 32), Span: strings.Repeat("1", 16),
		},
		Trace: events.Trace{
			ID: strings.Repeat("1", 32), Parent: strings.Repeat("2", 16), Link: strings.Repeat("3", 32),
			LinkSpan: strings.Repeat("4", 16),
		},
		Interim: true, Replica: "http://x", Count: 1, Note: "n",
		Change: events.Change{Added: names, Removed: names, Changed: names},
	}
	described, found := map[string]bool{}, map[string]bool{}
	var schema, line any
	if err := json.Unmarshal(schemas.Audit, &schema); err != nil {
		t.Fatal(err)
	}
	members(schema, "", described)
	for _, kind := range events.Types() {
		full.Type, full.Target.IsURI = kind, kind == events.ResourceRead
		now := time.Now()
		text := full.AppendLine(nil, now, events.Link{})
		if err := Check(text); err != nil {
			t.Error(err)
		}
		prepared := full
		prepared.Prepare(nil)
		prepared.Source, prepared.Work.Arguments = events.Source{}, nil // are in the prepared parts
		if later := prepared.AppendLine(nil, now, events.Link{}); !bytes.Equal(later, text) {
			t.Errorf("%s\n%s", text, later)
		}
		if err := json.Unmarshal(text, &line); err != nil {
			t.Fatal(err)
		}
		values(line, "", found)
	}
	for name := range described {
		if !found[name] && name != ".chain.epoch" && name != ".chain.hmac" { // of a seal with a key
			t.Errorf("no line has %s", name)
		}
	}
	for _, cause := range mcp.Causes() {
		full.Type, full.Cause = events.ToolCall, cause
		if err := Check(full.AppendLine(nil, time.Now(), events.Link{})); err != nil {
			t.Error(err)
		}
	}
	properties := schema.(map[string]any)["properties"].(map[string]any)
	if kinds := properties["type"].(map[string]any)["enum"].([]any); len(kinds) != len(events.Types()) {
		t.Error(kinds)
	}
	reason := properties["data"].(map[string]any)["properties"].(map[string]any)["reason"].(map[string]any)
	if causes := reason["enum"].([]any); len(causes) != len(mcp.Causes()) {
		t.Error(causes)
	}
	for _, wrong := range []string{`{}`, `{"more":1}`} {
		text := slices.Concat(full.AppendLine(nil, time.Now(), events.Link{})[:1], []byte(wrong[1:]))
		if Check(text) == nil {
			t.Errorf("%s is accepted", text)
		}
	}
}

// members adds the paths of the members that a schema describes, apart from those of list elements.
func members(schema any, path string, to map[string]bool) {
	of, _ := schema.(map[string]any)["properties"].(map[string]any)
	for name, member := range of {
		to[path+"."+name] = true
		members(member, path+"."+name, to)
	}
}

// values adds the paths of the members of a value.
func values(v any, path string, to map[string]bool) {
	object, _ := v.(map[string]any)
	for name, member := range object {
		to[fmt.Sprint(path, ".", name)] = true
		values(member, path+"."+name, to)
	}
}
