package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mcp-bash/pkg/bundle/runtimes"
	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/json/jsontest"
	"mcp-bash/test/reach"

	"github.com/klauspost/compress/gzip"
)

// A dist has the server names of the products in a folder, one of each kind.
type dist struct{ npm, wheel, image string }

// products makes a folder with products, which can name different servers.
func products(t *testing.T, d dist) string {
	t.Helper()
	i := newImageTest(t)
	dir := filepath.Join(t.TempDir(), "dist")
	args := []string{"--platform", "linux/" + runtimes.Host.Arch, "-o", filepath.Join(dir, "image.tar")}
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if d.image != "" {
		args = append(args, "--server-name", d.image)
	}
	i.make("umask 022", nil, args...)
	t.Setenv("MCPBASH_RUNTIME_DIR", i.dir)
	t.Setenv("MCPBASH_PROJECT_ROOT", i.project)
	discard := cli.Streams{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard}
	if code := run(discard, []string{"bundle", "--output", dir, "--platform", runtimes.Host.Platform(), "--arch",
		runtimes.Host.Arch}); code != 0 {
		t.Fatalf("bundle: exit %d", code)
	}
	meta := `{"name":"demo","user_config":{"key":{"type":"string","title":"Key","sensitive":true,"required":true}},` +
		`"user_config_env_map":{"key":"KEY"}}`
	packageJSON := `{"name":"@you/demo","version":"1.0.0","bin":"start.js","mcpBash":{"project":"server"},"mcpName":"` +
		d.npm + `"}`
	pack(t, filepath.Join(dir, "demo.tgz"), map[string]string{"package/package.json": packageJSON,
		"package/server/server.d/server.meta.json": meta})
	pack(t, filepath.Join(dir, "demo-linux.tgz"),
		map[string]string{"package/package.json": `{"name":"@you/demo-linux","version":"1.0.0"}`})
	for _, system := range []string{"linux", "macos"} {
		f, err := os.Create(filepath.Join(dir, "demo-1.0.0-"+system+".whl"))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		z := zip.NewWriter(f)
		in, err := z.Create("demo-1.0.0.dist-info/METADATA")
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(in, "Name: demo\nVersion: 1.0.0\nSummary: Shows\n\n<!-- mcp-name: "+d.wheel+" -->\n")
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// pack writes a compressed archive.
func pack(t *testing.T, file string, files map[string]string) {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for name, text := range files {
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(text))}); err != nil {
			t.Fatal(err)
		}
		io.WriteString(w, text)
	}
	w.Close()
	z.Close()
	if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

const addresses = "--url https://github.com/you/demo-mcp/releases/download/v1/demo.mcpb --image ghcr.io/you/demo:1.0.0"

// CLI-1511: publish finds the products in a folder. The entry has a package of each kind.
func TestPublishFolder(t *testing.T) {
	const server = "io.github.you/demo"
	dir := products(t, dist{server, server, server})
	for name, value := range reach.Guard(t) {
		t.Setenv(name, value)
	}
	here := t.TempDir() // another project
	write(t, here, "server.d/server.meta.json",
		`{"user_config":{"a":{"type":"string","title":"A"}},"user_config_env_map":{"a":"A"}}`)
	t.Chdir(here)
	var out, messages bytes.Buffer
	s := cli.Streams{In: strings.NewReader(""), Out: &out, Err: &messages}
	if code := run(s, append([]string{"publish", dir, "--dry-run", "--json"}, strings.Fields(addresses)...)); code != 0 {
		t.Fatalf("exit %d\n%s", code, &messages)
	}
	var result struct {
		Request struct{ Body json.RawMessage }
	}
	if err := json.Unmarshal(out.Bytes(), &result); err != nil {
		t.Fatal(err)
	}
	var body struct {
		Name     string
		Packages []map[string]any
	}
	if err := json.Unmarshal(result.Request.Body, &body); err != nil {
		t.Fatal(err)
	}
	for _, p := range body.Packages {
		delete(p, "fileSha256")
		delete(p, "transport")
	}
	got, err := json.Marshal(body.Packages)
	if err != nil {
		t.Fatal(err)
	}
	variables := `"environmentVariables":[{"name":"KEY","description":"Key","isRequired":true,"isSecret":true}]`
	want := `[{"registryType":"mcpb","identifier":"https://github.com/you/demo-mcp/releases/download/v1/demo.mcpb"},
		{"registryType":"npm","identifier":"@you/demo","version":"1.0.0","runtimeHint":"npx",` + variables + `},
		{"registryType":"oci","identifier":"ghcr.io/you/demo:1.0.0","runtimeHint":"docker",` + variables + `},
		{"registryType":"pypi","identifier":"demo","version":"1.0.0","runtimeHint":"uvx",` + variables + `}]`
	if body.Name != server || !jsontest.Same(string(got), want) {
		t.Errorf("%s %s", body.Name, got)
	}
}

// CLI-1511: a product that does not name the server is refused before it is announced.
func TestPublishForeign(t *testing.T) {
	const server = "io.github.you/demo"
	for file, d := range map[string]dist{
		"demo.tgz": {"io.github.eve/demo", server, server}, "demo-1.0.0-macos.whl": {server, "io.github.you/demo2", server},
		"image.tar": {server, server, ""},
	} {
		dir := products(t, d)
		var messages bytes.Buffer
		s := cli.Streams{In: strings.NewReader(""), Out: io.Discard, Err: &messages}
		args := append([]string{"publish", dir, "--dry-run", "--server-name", server}, strings.Fields(addresses)...)
		if code := run(s, args); code != 1 || !strings.Contains(messages.String(), file+": ") ||
			!strings.Contains(messages.String(), `not "io.github.you/demo"; make it with --server-name io.github.you/demo`) {
			t.Errorf("%s: exit %d\n%s", file, code, &messages)
		}
	}
}
