package schemas

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"mcp-bash/pkg/json/rawjson"
)

// Open objects and deep values cost no time, and names of other programs are left out.
func TestStrays(t *testing.T) {
	for doc, want := range map[string]string{
		`{"name":"a","nam":1,"$x":1,"_x":1}`:                                 "nam 0",
		`{"icons":[{"src":"a","widget":1}],"annotations":{"x":1}}`:           "",
		`{"parameters":{"required":[{"name":"a","enum":[]}]}}`:               "enum 3",
		`{"inputSchema":{"x":1,"properties":{"y":{"z":1}}},"_meta":{"x":1}}`: "",
		`{"longRunning":{"after":1,"x":1},"longRunnin":true}`:                "longRunnin 0", // the schema check has the other
		`[{"x":1}]`: "", `5`: "", `{"confine":5,"requires":{"x":1}}`: "",
	} {
		var got []string
		for _, s := range Strays(Tool, json.RawMessage(doc)) {
			got = append(got, s.Name+" "+string(rune('0'+s.Depth)))
		}
		if all := strings.Join(got, "|"); all != want {
			t.Errorf("%s: %q, not %q", doc, all, want)
		}
	}
	began := time.Now()
	Strays(Tool, json.RawMessage(`{"_meta":`+strings.Repeat("[", 9000)+strings.Repeat("]", 9000)+`}`))
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("%v", took)
	}
}

func FuzzStrays(f *testing.F) {
	f.Add(Tool, `{"parameters":{"required":[{"name":"a"}]}}`)
	f.Add(Server, `{"scopes":{"a":["b"]},"author":{"name":1}}`)
	f.Add(Register, `{"tools":[{"icons":[{}]}]}`)
	f.Fuzz(func(t *testing.T, name, text string) {
		doc, err := rawjson.Check([]byte(text))
		if _, known := Files.ReadFile(File(name)); err != nil || known != nil {
			return
		}
		for _, s := range Strays(name, doc) {
			if s.Value == nil || strings.HasPrefix(s.Name, "_") {
				t.Errorf("%q", s.Name)
			}
		}
	})
}
