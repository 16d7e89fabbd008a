package publish

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"mcp-bash/pkg/bundle/product"
)

// CLI-1509: every product names the server, and all have the same version.
func TestNewEntry(t *testing.T) {
	made := func(kind Kind, version string, servers ...string) *Product {
		return &Product{Kind: kind, File: string(kind) + " file",
			About: product.About{Name: "demo", Version: version, Description: "d", Servers: servers}}
	}
	for _, tc := range []struct {
		name     string
		products []*Product
		want     string // the faults
	}{
		{"", []*Product{made(MCPB, "1.0.0"), made(NPM, "1.0.0", "a/bb"), made(PyPI, "1.0.0", "x/yy", "a/bb"),
			made(PyPI, "1.0.0", "a/bb"), made(OCI, "1.0.0", "a/bb"), made(OCI, "", "a/bb")}, ""},
		{"", []*Product{made(NPM, "1.0.0-rc.1", "a/bb"), made(PyPI, "1.0.0rc1", "a/bb")}, ""},
		{"", []*Product{made(NPM, "1.0.0-beta.2", "a/bb"), made(PyPI, "1.0.0b2", "a/bb")}, ""},
		{"", []*Product{made(NPM, "1.0.0", "a/bb"), made(PyPI, "1.0.1", "a/bb")},
			"pypi file has version 1.0.1, and another product has 1.0.0"},
		{"a/bb", []*Product{made(NPM, "1.0.0", "a/cc")},
			`npm file: "mcpName" in package.json is "a/cc", not "a/bb"; make it with --server-name a/bb`},
		{"a/bb", []*Product{made(NPM, "1.0.0")},
			`npm file: "mcpName" in package.json is "", not "a/bb"; make it with --server-name a/bb`},
		{"a/bb", []*Product{made(PyPI, "1", "a/bb.", "a/bbb")},
			`pypi file: mcp-name: in its description is "a/bb. a/bbb", not "a/bb"; make it with --server-name a/bb`},
		{"a/bb", []*Product{made(OCI, "1", "a/cc")},
			`oci file: the label io.modelcontextprotocol.server.name is "a/cc", not "a/bb"; make it with --server-name a/bb`},
		{"a/bb", []*Product{made(NPM, "1", "a/bb"), made(NPM, "2", "a/bb")},
			"npm file has version 2, and another product has 1\n" +
				"npm file: a second package of the kind npm; name the files of one version"},
	} {
		_, faults := NewEntry(tc.name, tc.products, nil)
		if got := strings.Join(faults, "\n"); got != tc.want {
			t.Errorf("%q, not %q", got, tc.want)
		}
	}
	wheelFirst := []*Product{made(PyPI, "1.0.0rc1", "a/bb"), made(NPM, "1.0.0-rc.1", "a/bb")}
	if e, faults := NewEntry("", wheelFirst, nil); e.Version != "1.0.0-rc.1" || len(faults) > 0 {
		t.Errorf("%q, %q", e.Version, faults)
	}
	_, faults := NewEntry("", []*Product{made(NPM, "1", "a/bb")}, Places{OCI: "ghcr.io/you/demo:1"})
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

// FuzzEntry makes entries of products whose documents are foreign.
func FuzzEntry(f *testing.F) {
	f.Add("demo", "1", "d", "a/b")
	f.Fuzz(func(t *testing.T, name, version, description, server string) {
		for _, kind := range []Kind{MCPB, NPM, PyPI, OCI} {
			about := product.About{Name: name, Version: version, Title: name, Description: description,
				Servers: []string{server}}
			entry, _ := NewEntry("", []*Product{{Kind: kind, About: about}}, nil)
			if !json.Valid(entry.JSON()) {
				t.Fatalf("%q", entry.JSON())
			}
		}
	})
}
