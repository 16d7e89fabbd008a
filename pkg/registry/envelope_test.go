package registry

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/registry/kinds"
)

// the example in the contract, byte for byte.
func TestEnvelopeBytes(t *testing.T) {
	at := time.Date(2025, 10, 18, 11, 0, 0, 999, time.FixedZone("", 2*3600))
	item := `{"name":"example-hello","description":"Return a friendly greeting","path":"hello/tool.sh",` +
		`"inputSchema":{"type":"object","properties":{}},"timeoutSecs":5}`
	items := raw([]string{item})
	want(t, string(writeEnvelope(items, hashOf(items), at, 1000)), `{
  "format_version": 1,
  "version": 1,
  "generatedAt": "2025-10-18T09:00:00Z",
  "items": [
    {
      "name": "example-hello",
      "description": "Return a friendly greeting",
      "path": "hello/tool.sh",
      "inputSchema": {
        "type": "object",
        "properties": {}
      },
      "timeoutSecs": 5
    }
  ],
  "hash": "36f769af571140dc07c209a73c6cac455c6d434ad3f1e71ec48d17746cc04b59",
  "total": 1
}
`)
	want(t, string(writeEnvelope(nil, hashOf(nil), at, 1000)), `{
  "format_version": 1,
  "version": 1,
  "generatedAt": "2025-10-18T09:00:00Z",
  "items": [],
  "hash": "4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945",
  "total": 0
}
`)
}

// valid and invalid registry files.
func TestEnvelopeValidity(t *testing.T) {
	for text, want := range map[string]string{
		`{"format_version":1,"items":[],"hash":"h"}`:                     "",
		`{"format_version":1,"items":[{},{"a":1}],"hash":"h","total":9}`: "",
		``:                        "line 1, column 1: unexpected end",
		`[]`:                      "not a JSON object",
		`{`:                       "line 1, column 2: unexpected end",
		`{} x`:                    "line 1, column 4: text after the value",
		`{"items":[],"hash":"h"}`: "format_version is not 1",
		`{"format_version":2,"items":[],"hash":"h"}`:   "format_version is not 1",
		`{"format_version":"1","items":[],"hash":"h"}`: "format_version is not 1",
		`{"format_version":1,"hash":"h"}`:              "items is not an array",
		`{"format_version":1,"items":{},"hash":"h"}`:   "items is not an array",
		`{"format_version":1,"items":[1],"hash":"h"}`:  "an item is not an object",
		`{"format_version":1,"items":[],"hash":""}`:    "missing hash",
		`{"format_version":1,"items":[],"hash":5}`:     "missing hash",
		`{"timestamp":1,"uiResources":[],"hash":"h"}`:  "format_version is not 1",
		"{\"format_version\":1,\"hash\":\"\xff\"}":     "invalid UTF-8",
	} {
		got := ""
		if _, err := parseEnvelope([]byte(text)); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// FuzzEnvelope: any text is a valid registry file or an error.
func FuzzEnvelope(f *testing.F) {
	f.Add(`{"format_version":1,"items":[{"name":"a","path":"a/tool.sh","id":"x"}],"hash":"h"}`)
	f.Add(`{"format_version": 1, "items": [ {} , {"name": "\ud800", "name": 3} ], "hash": "\u0041"}`)
	f.Fuzz(func(t *testing.T, text string) {
		e, err := parseEnvelope([]byte(text))
		if err != nil {
			return
		}
		list := e.list(kinds.Tools)
		for _, item := range list.Items {
			if !json.Valid(item.JSON) {
				t.Errorf("item %q", item.JSON)
			}
		}
		if found := e.found(); len(found) != len(list.Items) || len(found) != len(e.items) {
			t.Errorf("%d found, %d listed of %d", len(found), len(list.Items), len(e.items))
		}
		// A written file can be read.
		written := writeEnvelope(list.JSON(), hashOf(list.JSON()), time.Unix(0, 0), 1<<30)
		again, err := parseEnvelope(written)
		if err != nil || len(again.items) != len(e.items) || again.hash != hashOf(again.items) {
			t.Errorf("%v: %s", err, written)
		}
		if strings.Contains(string(written), "\r") && !strings.Contains(text, "\r") {
			t.Error("a carriage return from nowhere")
		}
		if v, err := rawjson.Check(written); err != nil || rawjson.KindOf(v) != rawjson.Object {
			t.Error(err)
		}
	})
}
