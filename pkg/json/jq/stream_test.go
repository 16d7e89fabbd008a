package jq

import (
	"encoding/json"
	"io"
	"strings"
	"testing"

	"mcp-bash/pkg/json/jqtext"
	"mcp-bash/pkg/json/rawjson"
)

func TestEvents(t *testing.T) {
	for in, want := range map[string]string{
		`3`:                            `[[],3]`,
		`[ ]`:                          `[[],[ ]]`,
		`{"a":[1,{"b":2}],"c":[]}`:     `[["a",0],1] [["a",1,"b"],2] [["a",1,"b"]] [["a",1]] [["c"],[]] [["c"]]`,
		` [ "x" , { "y" : null } ] `:   `[[0],"x"] [[1,"y"],null] [[1,"y"]] [[1]]`,
		`{"b":1.0,"a":{"k":{"z":{}}}}`: `[["b"],1.0] [["a","k","z"],{}] [["a","k","z"]] [["a","k"]] [["a"]]`,
	} {
		var got []string
		for event := range events(json.RawMessage(in)) {
			got = append(got, string(event))
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%s: %s, want %s", in, s, want)
		}
	}
	for range events(json.RawMessage(`[[1,2],3]`)) {
		break // stopping early is allowed
	}
}

// FuzzEvents compares the events with those of gojq's tostream.
func FuzzEvents(f *testing.F) {
	for _, seed := range documents {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		doc, err := rawjson.Check(text)
		if err != nil {
			return
		}
		e, err := compile("tostream", &options{}, nil, io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		var want []string
		if err := e.apply(doc, func(event json.RawMessage) error {
			want = append(want, string(event))
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		// The engine sorts members and does not repeat them.
		sorted := jqtext.Layout{Sorted: true}.Append(nil, doc)
		i := 0
		for event := range events(sorted) {
			got := string(appendGoValue(nil, goValue(event)))
			if i >= len(want) || got != want[i] {
				t.Fatalf("event %d of %s is %s, want %q", i, doc, got, want)
			}
			i++
		}
		if i != len(want) {
			t.Fatalf("%d events of %s, want %q", i, doc, want)
		}
	})
}
