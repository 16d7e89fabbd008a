package mcpapp

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"mcp-bash/pkg/json/rawjson"
)

// RES-324, R-173.
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
	p, warnings := parsePolicy(json.RawMessage(`{"connectDomains":["https://a.com","https://b.com; script-src *","a b",` +
		`"'self'","x,y","\"","https://a.com",5,"","\u00a0","https://\u2028","a\u0000b","wss://ok.example:443",` +
		`"https://*.example.com"],"frameDomains":"https://f.com","baseUriDomains":[]}`))
	var b rawjson.Builder
	p.appendTo(&b)
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

// RES-341, RES-342.
func TestHeader(t *testing.T) {
	for csp, want := range map[string]string{
		`{}`: `default-src 'self'; script-src 'self' https://cdn.jsdelivr.net; style-src 'self' 'unsafe-inline'; img-src ` +
			`'self' data:; connect-src 'self'; frame-ancestors 'none'; base-uri 'self'`,
		`{"connectDomains":["https://a.com"],"frameDomains":["https://f.com"]}`: `default-src 'self'; script-src 'self' ` +
			`https://cdn.jsdelivr.net; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self' ` +
			`https://a.com; frame-src https://f.com; base-uri 'self'; frame-ancestors 'none'`,
		`{"resourceDomains":["https://r.com","https://s.com"],` +
			`"baseUriDomains":["https://b.com"]}`: `default-src 'self'; script-src 'self' https://cdn.jsdelivr.net ` +
			`https://r.com https://s.com; style-src 'self' 'unsafe-inline' https://r.com https://s.com; img-src 'self' data: ` +
			`https://r.com https://s.com; connect-src 'self'; ` +
			`font-src 'self' https://r.com https://s.com; media-src 'self' https://r.com https://s.com; frame-src 'none'; ` +
			`base-uri 'self' https://b.com; frame-ancestors 'none'`,
	} {
		p, _ := parsePolicy(json.RawMessage(csp))
		if got := p.Header(); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", csp, got, want)
		}
	}
}

// FuzzPolicy: for any declaration, the header has each of its directives exactly once.
func FuzzPolicy(f *testing.F) {
	f.Add([]byte(`{"connectDomains":["https://a.com;script-src *"],"resourceDomains":["x\n","https://r"],` +
		`"frameDomains":[{}],"baseUriDomains":["'none'"]}`))
	f.Add([]byte(`[]`))
	f.Fuzz(func(t *testing.T, csp []byte) {
		v, err := rawjson.Check(csp)
		if err != nil {
			return
		}
		p, _ := parsePolicy(v)
		header := p.Header()
		seen := map[string]bool{}
		for _, directive := range strings.Split(header, ";") {
			name, _, _ := strings.Cut(strings.TrimSpace(directive), " ")
			if seen[name] || !strings.HasSuffix(name, "-src") && name != "base-uri" && name != "frame-ancestors" {
				t.Fatalf("%q in %q", name, header)
			}
			seen[name] = true
		}
		if strings.ContainsAny(header, "\r\n\t\x00") || strings.Count(header, "'") != strings.Count(header,
			"'self'")*2+strings.Count(header, "'none'")*2+2 {
			t.Fatalf("%q", header)
		}
		meta, _ := Meta(json.RawMessage(`{"csp":` + string(v) + `}`))
		if _, err := rawjson.Check(meta); err != nil {
			t.Fatalf("%s: %v", meta, err)
		}
	})
}
