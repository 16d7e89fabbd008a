package publish

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"mcp-bash/pkg/bundle/product"
	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/json/jsontest"
)

// valid returns an entry with packages of all kinds.
func valid() *Entry {
	return &Entry{
		Name: "io.github.you/demo", Title: "Demo", Description: "Shows", Version: "1.0.0-rc.1",
		Packages: []Package{
			{Kind: MCPB, Identifier: "https://github.com/you/demo-mcp/releases/download/v1/d.mcpb",
				SHA256: strings.Repeat("0", 64)},
			{Kind: NPM, Identifier: "@you/demo", Version: "1.0.0-rc.1"},
			{Kind: PyPI, Identifier: "demo", Version: "1.0.0rc1"},
			{Kind: OCI, Identifier: "ghcr.io/you/demo:1.0.0-rc.1"},
		},
		Variables: []Variable{{Name: "KEY", Description: "The key", Required: true, Secret: true},
			{Name: "LIMIT", Format: "number", Default: "5"}},
	}
}

// CLI-1506: server.json names each package by the members that its kind has. An image has no version.
func TestServerJSON(t *testing.T) {
	const variables = `"environmentVariables":[
		{"name":"KEY","description":"The key","isRequired":true,"isSecret":true},
		{"name":"LIMIT","format":"number","default":"5","isRequired":false,"isSecret":false}]`
	want := `{
		"$schema":"https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
		"name":"io.github.you/demo","title":"Demo","description":"Shows","version":"1.0.0-rc.1","packages":[
		{"registryType":"mcpb","identifier":"https://github.com/you/demo-mcp/releases/download/v1/d.mcpb",
			"fileSha256":"` + strings.Repeat("0", 64) + `","transport":{"type":"stdio"}},
		{"registryType":"npm","identifier":"@you/demo","version":"1.0.0-rc.1","runtimeHint":"npx",
			"transport":{"type":"stdio"},` + variables + `},
		{"registryType":"pypi","identifier":"demo","version":"1.0.0rc1","runtimeHint":"uvx",
			"transport":{"type":"stdio"},` + variables + `},
		{"registryType":"oci","identifier":"ghcr.io/you/demo:1.0.0-rc.1","runtimeHint":"docker",
			"transport":{"type":"stdio"},` + variables + `}]}`
	if got := string(valid().JSON()); !jsontest.Same(got, want) {
		t.Error(got)
	}
}

// CLI-1509: texts that the registry would refuse are faults. Texts at the limit are not.
func TestFaults(t *testing.T) {
	texts := func(n int) string { return strings.Repeat("ä", n) }
	for _, tc := range []struct {
		change func(*Entry)
		want   string
	}{
		{func(e *Entry) {}, ""},
		{func(e *Entry) { e.Description = texts(100) }, ""},
		{func(e *Entry) { e.Description = texts(101) }, "the description has 101 characters; the registry takes 1 to 100"},
		{func(e *Entry) { e.Description = texts(140) }, "the description has 140 characters; the registry takes 1 to 100"},
		{func(e *Entry) { e.Description = "" }, "the description has 0 characters"},
		{func(e *Entry) { e.Title = texts(100) }, ""},
		{func(e *Entry) { e.Title = texts(101) }, "the title has 101 characters"},
		{func(e *Entry) { e.Title = " " }, "the title has 1 characters, or only spaces"},
		{func(e *Entry) { e.Version = strings.Repeat("1", 255) }, ""},
		{func(e *Entry) { e.Version = strings.Repeat("1", 256) }, "version "},
		{func(e *Entry) { e.Version = "latest" }, `version "latest"`},
		{func(e *Entry) { e.Version = "^1.2.0" }, `version "^1.2.0"`},
		{func(e *Entry) { e.Version = "1.x" }, `version "1.x"`},
		{func(e *Entry) { e.Version = "1.0.0-next.1" }, `version "1.0.0-next.1"`},
		{func(e *Entry) { e.Version = "1.0 - 2.0" }, `version "1.0 - 2.0"`},
		{func(e *Entry) { e.Version = "2026.11.x1" }, ""},
		{func(e *Entry) { e.Packages[1].Version = ">=1" }, `version ">=1"`},
	} {
		e := valid()
		tc.change(e)
		faults := strings.Join(e.Faults(), "\n")
		if tc.want == "" && faults != "" || !strings.HasPrefix(faults, tc.want) {
			t.Errorf("%q, not %q", faults, tc.want)
		}
	}
}

// CLI-1506, CLI-1508, CLI-1509: names, addresses and images that a registry refuses. Only the official one limits the
// hosts.
func TestCheckOptions(t *testing.T) {
	const release = "https://github.com/you/demo-mcp/releases/download/v1.0.0/demo.mcpb"
	for _, tc := range []struct {
		name, url, image string
		official, others string // the error, or ""
	}{
		{"io.github.you/demo", release, "ghcr.io/you/demo:1", "", ""},
		{"io.github.you/demo", "https://gitlab.com/a/b/c/-/releases/v1/downloads/mcp.mcpb", "you/demo:1",
			"--image: the official", ""},
		{"io.github.you/demo", "https://gitlab.com/a/b/-/package_files/12/download?mcp", "a.pkg.dev/x/y/z@sha256:" +
			strings.Repeat("a", 64), "", ""},
		{"io.github.you/demo", "https://GitHub.com/you/d-mcp/releases/download/v1/D.MCPB", "docker.io/you/demo:1", "", ""},
		{"io.github.you/demo", "https://github.com/you/demo-mcp/raw/main/demo.mcpb", "quay.io/you/demo:1",
			"--url: the official", ""},
		{"io.github.you/demo", "https://github.com.example.com/you/mcp/releases/download/v1/d", "quay.io/you/demo:1",
			"--url: the official", ""},
		{"io.github.you/demo", "https://example.com/demo.mcpb", "quay.io/you/demo:1", "--url: the official", ""},
		{"io.github.you/demo", release, "registry.example.com/demo:1", "--image: the official", ""},
		{"io.github.you/demo", release, "ghcr.io.example.com/demo:1", "--image: the official", ""},
		{"io.github.you/demo", release, "ghcr.io/you/demo", "--image must end", "--image must end"},
		{"io.github.you/demo", release, "ghcr.io/you/demo:latest", "--image must end", "--image must end"},
		{"io.github.you/demo", release, "localhost:5000/demo", "--image must end", "--image must end"},
		{"io.github.you/demo", release, "GHCR.io/You", "--image: not a name", "--image: not a name"},
		{"io.github.you/demo", "http://github.com/mcp", "ghcr.io/you/demo:1", "--url must begin", "--url must begin"},
		{"io.github.you/demo", "https://example.com/x", "ghcr.io/you/demo:1", "--url must contain", "--url must contain"},
		{"io.github.you/demo", "https://me:word@example.com/mcp", "ghcr.io/you/demo:1", "--url contains", "--url contains"},
		{"io.github.you/demo", "https://example.com/mcp?access_token=x", "ghcr.io/you/demo:1", "--url contains",
			"--url contains"},
		{"", release, "ghcr.io/you/demo:1", "--server-name", "--server-name"},
		{"io.github.you/demo", "", "ghcr.io/you/demo:1", "--url and --server-name are", "--url and --server-name are"},
		{"io.github.you/demo", release, "", "--image is needed", "--image is needed"},
		{"demo", release, "ghcr.io/you/demo:1", "--server-name", "--server-name"},
		{"a/b/c", release, "ghcr.io/you/demo:1", "--server-name", "--server-name"},
		{"io.github.you/demo-", release, "ghcr.io/you/demo:1", "--server-name", "--server-name"},
		{"io.github.you/d", release, "ghcr.io/you/demo:1", "--server-name", "--server-name"},
		{"io/" + strings.Repeat("a", 197), release, "ghcr.io/you/demo:1", "", ""},
		{"io/" + strings.Repeat("a", 198), release, "ghcr.io/you/demo:1", "--server-name", "--server-name"},
	} {
		e := valid()
		e.Name, e.Packages[0].Identifier, e.Packages[3].Identifier = tc.name, tc.url, tc.image
		for isOfficial, want := range map[bool]string{true: tc.official, false: tc.others} {
			err := e.CheckOptions(isOfficial)
			var usage *cli.Error
			switch {
			case want == "" && err != nil, want != "" && (!errors.As(err, &usage) || usage.Code != cli.CodeUsage):
				t.Errorf("%v %v: %v", tc, isOfficial, err)
			case want != "" && (!strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "word")):
				t.Errorf("%v %v: %v", tc, isOfficial, err)
			}
		}
	}
}

// CLI-1510: a workflow of GitHub publishes below its owner's name only. The registry compares the case, too.
func TestCheckOwner(t *testing.T) {
	for name, want := range map[string]bool{"io.github.you/demo": true, "io.github.You/demo": false,
		"io.github.you2/demo": false, "com.example/demo": false, "io.github.you": false} {
		if err := CheckOwner(name, "you"); (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

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
	_, faults := NewEntry("", []*Product{made(NPM, "1", "a/bb")}, Addresses{OCI: "ghcr.io/you/demo:1"})
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
