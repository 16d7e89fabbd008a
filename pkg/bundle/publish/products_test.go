package publish

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

// The documents of products have their names, versions and servers.
func TestReadProducts(t *testing.T) {
	for _, tc := range []struct {
		read func([]byte) (*Product, error)
		text string
		want *Product
	}{
		{readNPM, `{"name":"@you/demo","version":"1.0.0","description":"d","mcpName":"a/bb","bin":"start.js"}`,
			&Product{Kind: NPM, Name: "@you/demo", Version: "1.0.0", Description: "d", Servers: []string{"a/bb"}}},
		{readNPM, `{"name":"demo","version":"1.0.0","bin":{"demo":"start.js"}}`,
			&Product{Kind: NPM, Name: "demo", Version: "1.0.0"}},
		{readWheel, "Metadata-Version: 2.1\r\nName: demo\r\nVersion: 1.0rc1\r\nSummary: It: shows\r\n\r\n" +
			"mcp-name: a/bb\r\nName: other\n<!-- mcp-name: c/dd--> mcp-name: e/ff. \n",
			&Product{Kind: PyPI, Name: "demo", Version: "1.0rc1", Description: "It: shows",
				Servers: []string{"a/bb", "c/dd", "e/ff."}}},
		{readWheel, "Name: demo\nSummary: mcp-name: a/bb", &Product{Kind: PyPI, Name: "demo", Description: "mcp-name: a/bb"}},
		{readImage, `{"config":{"Labels":{"io.modelcontextprotocol.server.name":"a/bb",
			"org.opencontainers.image.title":"Demo","org.opencontainers.image.version":"1",
			"org.opencontainers.image.description":"d"}}}`,
			&Product{Kind: OCI, Title: "Demo", Version: "1", Description: "d", Servers: []string{"a/bb"}}},
		{readImage, `{"config":{}}`, &Product{Kind: OCI}},
	} {
		if got, err := tc.read([]byte(tc.text)); err != nil || !reflect.DeepEqual(got, tc.want) {
			t.Errorf("%s: %+v, %v", tc.text, got, err)
		}
	}
	p, err := readNPM([]byte(`{"name":"@you/demo-linux-x64","version":"1.0.0","os":["linux"]}`))
	if p != nil || err != nil {
		t.Errorf("the programs for one system: %+v, %v", p, err)
	}
}

// CLI-1509: every product names the server, and all have the same version.
func TestNewEntry(t *testing.T) {
	product := func(kind Kind, version string, servers ...string) *Product {
		return &Product{Kind: kind, File: string(kind) + " file", Name: "demo", Version: version, Description: "d",
			Servers: servers}
	}
	for _, tc := range []struct {
		name     string
		products []*Product
		want     string // the faults
	}{
		{"", []*Product{product(MCPB, "1.0.0"), product(NPM, "1.0.0", "a/bb"), product(PyPI, "1.0.0", "x/yy", "a/bb"),
			product(PyPI, "1.0.0", "a/bb"), product(OCI, "1.0.0", "a/bb"), product(OCI, "", "a/bb")}, ""},
		{"", []*Product{product(NPM, "1.0.0-rc.1", "a/bb"), product(PyPI, "1.0.0rc1", "a/bb")}, ""},
		{"", []*Product{product(NPM, "1.0.0-beta.2", "a/bb"), product(PyPI, "1.0.0b2", "a/bb")}, ""},
		{"", []*Product{product(NPM, "1.0.0", "a/bb"), product(PyPI, "1.0.1", "a/bb")},
			"pypi file has version 1.0.1, and another product has 1.0.0"},
		{"a/bb", []*Product{product(NPM, "1.0.0", "a/cc")},
			`npm file: "mcpName" in package.json is "a/cc", not "a/bb"; make it with --server-name a/bb`},
		{"a/bb", []*Product{product(NPM, "1.0.0")},
			`npm file: "mcpName" in package.json is "", not "a/bb"; make it with --server-name a/bb`},
		{"a/bb", []*Product{product(PyPI, "1", "a/bb.", "a/bbb")},
			`pypi file: mcp-name: in its description is "a/bb. a/bbb", not "a/bb"; make it with --server-name a/bb`},
		{"a/bb", []*Product{product(OCI, "1", "a/cc")},
			`oci file: the label io.modelcontextprotocol.server.name is "a/cc", not "a/bb"; make it with --server-name a/bb`},
		{"a/bb", []*Product{product(NPM, "1", "a/bb"), product(NPM, "2", "a/bb")},
			"npm file has version 2, and another product has 1\n" +
				"npm file: a second package of the kind npm; name the files of one version"},
	} {
		_, faults := NewEntry(tc.name, tc.products, nil)
		if got := strings.Join(faults, "\n"); got != tc.want {
			t.Errorf("%q, not %q", got, tc.want)
		}
	}
	wheelFirst := []*Product{product(PyPI, "1.0.0rc1", "a/bb"), product(NPM, "1.0.0-rc.1", "a/bb")}
	if e, faults := NewEntry("", wheelFirst, nil); e.Version != "1.0.0-rc.1" || len(faults) > 0 {
		t.Errorf("%q, %q", e.Version, faults)
	}
	_, faults := NewEntry("", []*Product{product(NPM, "1", "a/bb")}, Places{OCI: "ghcr.io/you/demo:1"})
	if len(faults) != 1 || faults[0] != "ghcr.io/you/demo:1: name the file of this product, too" {
		t.Errorf("%q", faults)
	}
}

// The settings that a bundle asks for are variables of other packages.
func TestVariables(t *testing.T) {
	fields := `"user_config":{"key":{"type":"string","title":"Key","description":"The key","required":true,"sensitive":true},
		"limit":{"type":"number","title":"Limit","default":5},"dir":{"type":"directory","title":"Folder","default":"${HOME}"},
		"fast":{"type":"boolean","title":"Fast","default":false},"unused":{"type":"string","title":"Unused"}}`
	want := []Variable{
		{Name: "KEY", Description: "The key", Required: true, Secret: true},
		{Name: "LIMIT", Description: "Limit", Format: "number", Default: "5"},
		{Name: "DIR", Description: "Folder", Format: "filepath"},
		{Name: "FAST", Description: "Fast", Format: "boolean"},
	}
	meta := `{` + fields + `,"user_config_env_map":{"key":"KEY","limit":"LIMIT","dir":"DIR","fast":"FAST","gone":"GONE"}}`
	if got := variables(json.RawMessage(meta)); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
}

// FuzzRead reads documents of products, which are foreign.
func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"name":"demo","version":"1","mcpName":"a/b","bin":"x"}`))
	f.Add([]byte("Name: demo\nVersion: 1\n\nmcp-name: a/b-->"))
	f.Add([]byte(`{"config":{"Labels":{"io.modelcontextprotocol.server.name":"a/b"}}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, read := range []func([]byte) (*Product, error){readNPM, readWheel, readImage} {
			p, err := read(text)
			if p == nil || err != nil {
				continue
			}
			entry, _ := NewEntry("", []*Product{p}, nil)
			if !json.Valid(entry.JSON()) {
				t.Fatalf("%q", entry.JSON())
			}
		}
	})
}
