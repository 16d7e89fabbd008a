package product

import (
	"reflect"
	"testing"
)

// The documents of products have their names, versions and servers.
func TestAbout(t *testing.T) {
	for _, tc := range []struct {
		kind Kind
		text string
		want About
	}{
		{NPM, `{"name":"@you/demo","version":"1.0.0","description":"d","mcpName":"a/bb","bin":"start.js"}`,
			About{Name: "@you/demo", Version: "1.0.0", Description: "d", Servers: []string{"a/bb"}}},
		{Bundle, `{"name":"demo","version":"1.0.0","display_name":"Demo"}`,
			About{Name: "demo", Version: "1.0.0", Title: "Demo"}},
		{Wheel, "Metadata-Version: 2.1\r\nName: demo\r\nVersion: 1.0rc1\r\nSummary: It: shows\r\n\r\n" +
			"mcp-name: a/bb\r\nName: other\n<!-- mcp-name: c/dd--> mcp-name: e/ff. \n",
			About{Name: "demo", Version: "1.0rc1", Description: "It: shows", Servers: []string{"a/bb", "c/dd", "e/ff."}}},
		{Wheel, "Name: demo\nSummary: mcp-name: a/bb", About{Name: "demo", Description: "mcp-name: a/bb"}},
		{Image, `{"config":{"Labels":{"io.modelcontextprotocol.server.name":"a/bb",
			"org.opencontainers.image.title":"Demo","org.opencontainers.image.version":"1",
			"org.opencontainers.image.description":"d"}}}`,
			About{Title: "Demo", Version: "1", Description: "d", Servers: []string{"a/bb"}}},
		{Image, `{"config":{}}`, About{}},
	} {
		p := Product{Kind: tc.kind, Document: []byte(tc.text)}
		if got, err := p.About(); err != nil || !reflect.DeepEqual(got, tc.want) {
			t.Errorf("%s: %+v, %v", tc.text, got, err)
		}
	}
	if _, err := (&Product{Kind: NPM, Document: []byte("{")}).About(); err == nil {
		t.Error("no error")
	}
}

// FuzzAbout reads documents of products, which are foreign.
func FuzzAbout(f *testing.F) {
	f.Add(`{"name":"demo","version":"1","mcpName":"a/b","bin":"x"}`)
	f.Add("Name: demo\nVersion: 1\n\nmcp-name: a/b-->")
	f.Add(`{"config":{"Labels":{"io.modelcontextprotocol.server.name":"a/b"}}}`)
	f.Fuzz(func(t *testing.T, text string) {
		for _, kind := range []Kind{Bundle, kindPlugin, NPM, Wheel, Image, kindProject} {
			if a, err := (&Product{Kind: kind, Document: []byte(text)}).About(); err != nil && a.Name != "" {
				t.Fatalf("%+v, %v", a, err)
			}
		}
	})
}
