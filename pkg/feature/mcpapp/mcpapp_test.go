package mcpapp

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"mcp-bash/pkg/json/rawjson"
)

// RES-324, R-173: the metadata of a page, and its entry in a list.
func TestListedAndMeta(t *testing.T) {
	entry := `{"name":"dash","uri":"ui://srv/dash","path":"ui/dash","entrypoint":"index.html","hasHtml":true,` +
		`"template":null,"description":"D","mimeType":"text/html;profile=mcp-app",` +
		`"csp":{"frameDomains":["https://f.example"],"other":["x"],"connectDomains":["https://a.example"]},` +
		`"permissions":{"camera":{},"microphone":true,"geolocation":"yes"},"prefersBorder":false,"title":"T",` +
		`"domain":"d.example"}`
	meta := `{"ui":{"csp":{"connectDomains":["https://a.example"],"frameDomains":["https://f.example"]},` +
		`"permissions":{"camera":{},"microphone":{}},"domain":"d.example","prefersBorder":false}}`
	listed, _ := AppendListed([]byte("x"), json.RawMessage(entry))
	if got, want := string(listed),
		`x{"name":"dash","title":"T","uri":"ui://srv/dash","description":"D","mimeType":"text/html;profile=mcp-app","_meta":`+
			meta+`}`; got != want {
		t.Errorf("listed %s\nwant   %s", got, want)
	}
	got, warnings := Meta(json.RawMessage(entry))
	if string(got) != meta || !slices.Equal(warnings, []string{"permissions.geolocation must be {}: ignored"}) {
		t.Errorf("meta %s, warnings %q", got, warnings)
	}
	if got, _ := Meta(json.RawMessage(`{}`)); string(got) != `{"ui":{"csp":{},"permissions":{},"prefersBorder":true}}` {
		t.Errorf("defaults: %s", got)
	}
}

// RES-340: origins that could add directives are dropped.
func TestPolicyDrops(t *testing.T) {
	var b rawjson.Builder
	warnings := appendPolicy(&b, json.RawMessage(`{"connectDomains":["https://a.com","https://b.com; script-src *","a b",`+
		`"'self'","x,y","\"","https://a.com",5,"","\u00a0","https://\u2028","a\u0000b","wss://ok.example:443",`+
		`"https://*.example.com"],"frameDomains":"https://f.com","baseUriDomains":[]}`))
	if got, want := string(b.Bytes()),
		`{"connectDomains":["https://a.com","wss://ok.example:443",`+
			`"https://*.example.com"],"baseUriDomains":[]}`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if len(warnings) != 12 ||
		warnings[0] != `csp.connectDomains: "https://b.com; script-src *" is not an origin: dropped` {
		t.Errorf("%d warnings: %q", len(warnings), warnings)
	}
}

// FuzzPolicy: any declaration produces one JSON object, whose origins cannot add directives to a header.
func FuzzPolicy(f *testing.F) {
	f.Add([]byte(`{"connectDomains":["https://a.com;script-src *"],"resourceDomains":["x\n","https://r"],` +
		`"frameDomains":[{}],"baseUriDomains":["'none'"]}`))
	f.Add([]byte(`[]`))
	f.Fuzz(func(t *testing.T, csp []byte) {
		v, err := rawjson.Check(csp)
		if err != nil {
			return
		}
		var b rawjson.Builder
		appendPolicy(&b, v)
		policy, err := rawjson.Check(b.Bytes())
		if err != nil {
			t.Fatalf("%s: %v", b.Bytes(), err)
		}
		for name, list := range rawjson.All(policy) {
			for item := range rawjson.Elements(list) {
				if origin, ok := rawjson.Text(item); !ok || strings.ContainsAny(origin, " \r\n\t\x00'\";,`") {
					t.Fatalf("%s: %s", name, item)
				}
			}
		}
		meta, _ := Meta(json.RawMessage(`{"csp":` + string(v) + `}`))
		if _, err := rawjson.Check(meta); err != nil {
			t.Fatalf("%s: %v", meta, err)
		}
	})
}
