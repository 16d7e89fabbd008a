//go:build registry && linux

package registry

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mcp-bash/pkg/bundle/publish"
	"mcp-bash/pkg/cli"
	"mcp-bash/test/checkout"
	"mcp-bash/test/debmirror"
	"mcp-bash/test/page"
	"mcp-bash/test/reach"
)

// login returns the registry with the token for a workflow of an owner.
func (w *world) login(owner string) *publish.Registry {
	w.Helper()
	reach.Guard(w) // the namespace leads nowhere
	w.Setenv("SSL_CERT_FILE", w.roots)
	r := &publish.Registry{Base: publish.Official, Pause: publish.Pause}
	r.Web.Program = filepath.Join(os.Getenv(inside), "mcp-bash")
	err := r.Login(w.Context(), publish.Workflow{Token: asking(owner),
		URL: "https://token.actions.githubusercontent.com/id/" + owner + "?api-version=2.0"})
	if err != nil {
		w.Fatal(err)
	}
	return r
}

const release = "/ada/greeter-mcp/releases/download/v1.0.0/greeter-1.0.0.mcpb"

// offer has packages of all kinds in their registries. They belong to a server.
func (w *world) offer(server string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.packages["/@ada/greeter/1.0.0"] = map[string]string{"mcpName": server}
	w.packages["/pypi/greeter/1.0.0/json"] = map[string]any{"info": map[string]string{
		"description": "Greets.\n\n<!-- mcp-name: " + server + " -->\n"}}
	w.releases[release] = true
	w.images["ada/greeter"] = layout(w.T, server)
}

// layout makes the layout of an image with a label.
func layout(t *testing.T, server string) string {
	dir := t.TempDir()
	blobs := filepath.Join(dir, "blobs", "sha256")
	if err := os.MkdirAll(blobs, 0o755); err != nil {
		t.Fatal(err)
	}
	put := func(kind string, content any) map[string]any {
		text, err := json.Marshal(content)
		if err != nil {
			t.Fatal(err)
		}
		digest := fmt.Sprintf("%x", sha256.Sum256(text))
		if err := os.WriteFile(filepath.Join(blobs, digest), text, 0o644); err != nil {
			t.Fatal(err)
		}
		return map[string]any{"mediaType": kind, "digest": "sha256:" + digest, "size": len(text)}
	}
	config := put("application/vnd.oci.image.config.v1+json", map[string]any{"os": "linux", "architecture": "amd64",
		"config": map[string]any{"Labels": map[string]string{"io.modelcontextprotocol.server.name": server}},
		"rootfs": map[string]any{"type": "layers", "diff_ids": []string{}}})
	const kind = "application/vnd.oci.image.manifest.v1+json"
	manifest := put(kind, map[string]any{"schemaVersion": 2, "mediaType": kind, "config": config, "layers": []string{}})
	text, err := json.Marshal(map[string]any{"schemaVersion": 2, "manifests": []any{manifest}})
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "index.json"), text, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// all returns an entry with a package of each kind.
func all(server string) *publish.Entry {
	return &publish.Entry{
		Name: server, Title: "Greeter", Description: "Greets people", Version: "1.0.0", Packages: []publish.Package{
			{Kind: publish.MCPB, Identifier: "https://github.com" + release, SHA256: strings.Repeat("0", 64)},
			{Kind: publish.NPM, Identifier: "@ada/greeter", Version: "1.0.0"},
			{Kind: publish.PyPI, Identifier: "greeter", Version: "1.0.0"},
			{Kind: publish.OCI, Identifier: "ghcr.io/ada/greeter:1.0.0"},
		},
		Variables: []publish.Variable{{Name: "GREETING", Description: "The word", Default: "Hello"},
			{Name: "KEY", Description: "The key", Required: true, Secret: true}},
	}
}

// CLI-1509: the registry refuses what Check refuses, and takes the rest.
func TestLimits(t *testing.T) {
	w := newWorld(t)
	w.offer("io.github.ada/greeter")
	r := w.login("ada")
	texts := func(n int) string { return strings.Repeat("ä", n) }
	for i, tc := range []struct {
		name    string
		change  func(e *publish.Entry)
		refused bool
	}{
		{"all kinds", func(e *publish.Entry) {}, false},
		{"description of 100", func(e *publish.Entry) { e.Description = texts(100) }, false},
		{"description of 101", func(e *publish.Entry) { e.Description = texts(101) }, true},
		{"description of 140", func(e *publish.Entry) { e.Description = texts(140) }, true},
		{"no description", func(e *publish.Entry) { e.Description = "" }, true},
		{"title of 100", func(e *publish.Entry) { e.Title = texts(100) }, false},
		{"title of 101", func(e *publish.Entry) { e.Title = texts(101) }, true},
		{"no title", func(e *publish.Entry) { e.Title = "" }, false},
		{"spaces as title", func(e *publish.Entry) { e.Title = "  " }, true},
		{"range", func(e *publish.Entry) { e.Version = "^1.2.0" }, true},
		{"wildcard", func(e *publish.Entry) { e.Version = "1.x" }, true},
		{"x in a word", func(e *publish.Entry) { e.Version = "1.0.0-next.1" }, true},
		{"latest", func(e *publish.Entry) { e.Version = "latest" }, true},
		{"range of a package", func(e *publish.Entry) { e.Packages[1].Version = ">=1.0.0" }, true},
		{"release candidate", func(e *publish.Entry) { e.Version = "1.0.0-rc.1" }, false},
		{"long version", func(e *publish.Entry) { e.Version = strings.Repeat("1", 256) }, true},
		{"long name", func(e *publish.Entry) { e.Name = "io.github.ada/" + strings.Repeat("a", 187) }, true},
		{"name with a dash at its end", func(e *publish.Entry) { e.Name += "-" }, true},
		{"name with two slashes", func(e *publish.Entry) { e.Name += "/a" }, true},
		{"other host", func(e *publish.Entry) { e.Packages[0].Identifier = "https://example.com/mcp.mcpb" }, true},
		{"file of a branch", func(e *publish.Entry) {
			e.Packages[0].Identifier = "https://github.com/ada/greeter-mcp/raw/main/greeter.mcpb"
		}, true},
		{"http", func(e *publish.Entry) { e.Packages[0].Identifier = "http://github.com" + release }, true},
		{"other registry of images", func(e *publish.Entry) {
			e.Packages[3].Identifier = "registry.example.com/ada/greeter:1.0.0"
		}, true},
	} {
		e := all("io.github.ada/greeter")
		e.Version = fmt.Sprintf("1.0.%d", i)
		tc.change(e)
		ours := e.CheckOptions(true) != nil || len(e.Faults()) > 0
		err := r.Announce(t.Context(), e.JSON())
		if ours != tc.refused || (err != nil) != tc.refused {
			t.Errorf("%s: we refuse: %v; the registry: %v", tc.name, ours, err)
		}
		if err != nil {
			t.Logf("%s: %v", tc.name, err)
		}
	}
	// no entry has this member
	image := string(all("io.github.ada/greeter").JSON())
	image = strings.Replace(image, `"identifier": "ghcr.io/ada/greeter:1.0.0",`,
		`"identifier": "ghcr.io/ada/greeter:1.0.0", "version": "1.0.0",`, 1)
	image = strings.Replace(image, `"version": "1.0.0"`, `"version": "2.0.0"`, 1)
	err := r.Announce(t.Context(), []byte(image))
	if err == nil || !strings.Contains(err.Error(), "must not have 'version'") {
		t.Errorf("an image with a version: %v", err)
	}
}

// The registry asks each package for its owner, and each workflow for its own.
func TestWrongOwner(t *testing.T) {
	w := newWorld(t)
	w.offer("io.github.ada/greeter")
	ada, eve := w.login("ada"), w.login("eve")
	for i, kind := range all("").Packages {
		e := all("io.github.eve/greeter")
		e.Version = fmt.Sprintf("1.0.%d", i)
		e.Packages = []publish.Package{kind}
		err := eve.Announce(t.Context(), e.JSON())
		var refused *cli.Error
		if kind.Kind == publish.MCPB { // it has no mark; its address and its hash are the entry's
			if err != nil {
				t.Errorf("%s: %v", kind.Kind, err)
			}
		} else if !errors.As(err, &refused) || refused.Code != cli.CodeInvalid ||
			!strings.Contains(err.Error(), "io.github.eve/greeter") {
			t.Errorf("a package of ada in a server of eve, %s: %v", kind.Kind, err)
		}
		e.Name = "io.github.ada/greeter"
		err = eve.Announce(t.Context(), e.JSON())
		if !errors.As(err, &refused) || refused.Code != cli.CodePolicy || !strings.Contains(err.Error(), "HTTP 403") {
			t.Errorf("a server of ada by eve, %s: %v", kind.Kind, err)
		}
		if err := ada.Announce(t.Context(), e.JSON()); err != nil {
			t.Errorf("a server of ada by ada, %s: %v", kind.Kind, err)
		}
		if err := ada.Announce(t.Context(), e.JSON()); err == nil {
			t.Errorf("the same version twice, %s", kind.Kind)
		}
	}
}

// makeProject makes a project, and returns its folder.
func makeProject(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(checkout.Directory(t), "greeter")
	for name, text := range map[string]string{
		"server.d/server.meta.json": `{"name":"greeter","title":"Greeter","version":"1.0.0","description":"Greets people",
			"author":"Ada","license":"MIT","mcpName":"io.github.ada/greeter","env":{"MCPBASH_TOOL_ENV_MODE":"allowlist",
			"MCPBASH_TOOL_ENV_ALLOWLIST":"GREETING"},"user_config_env_map":{"greeting":"GREETING"},
			"user_config":{"greeting":{"type":"string","title":"Greeting","description":"The word","default":"Hello"}}}`,
		"tools/hello/tool.meta.json": `{"name":"hello","description":"Greets","inputSchema":{"type":"object"}}`,
		"tools/hello/tool.sh":        "#!/usr/bin/env bash\necho \"${GREETING:-Hello}\"\n",
	} {
		file := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o755)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// CLI-1510, CLI-1511: a workflow of the owner announces products of all kinds with the commands of docs/PUBLISH.md. One
// of somebody else does not.
func TestWorkflow(t *testing.T) {
	w := newWorld(t)
	dir := makeProject(t)
	mirror := debmirror.New(t, debmirror.System()...)
	run := func(owner, script string) (string, error) {
		cmd := exec.CommandContext(t.Context(), "bash", "-euc", script)
		cmd.Dir, cmd.Env = dir, append(w.workflow(owner), "HOME="+t.TempDir(), "MIRROR="+mirror.URL, "KEYS="+mirror.Keyring)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	out, err := run("ada", `mcp-bundle bundle --output dist --platform linux --arch amd64
		mcp-bundle image --output dist/image --platform linux/amd64 --mirror "$MIRROR" --keyring "$KEYS"`)
	if err != nil {
		t.Fatal(out)
	}
	w.publishPackages(filepath.Join(dir, "dist"))
	blocks, err := page.Read(filepath.Join(checkout.Root(), "docs", "PUBLISH.md"))
	if err != nil {
		t.Fatal(err)
	}
	script := ""
	for _, b := range blocks {
		if b.RunBy != t.Name() {
			continue
		}
		script += b.Commands()
		const refusal = "a workflow of eve can publish io.github.eve/NAME only"
		if out, err := run("eve", script); err == nil || !strings.Contains(out, refusal) {
			t.Errorf("by eve: %v\n%s", err, out)
		}
		if out, err = run("ada", script); err != nil || strings.Contains(out, asking("ada")) {
			t.Fatalf("by ada: %v\n%s", err, out)
		}
	}
	if !strings.Contains(out, "Published to MCP Registry!") {
		t.Errorf("the page does not announce: %s", out)
	}
	kinds := w.listed("io.github.ada/greeter")
	if slices.Sort(kinds); !slices.Equal(kinds, []string{"mcpb", "npm", "oci", "pypi"}) {
		t.Errorf("listed: %v", kinds)
	}
}

// listed returns the kinds of packages that the registry lists for a server.
func (w *world) listed(server string) (kinds []string) {
	w.Helper()
	cmd := exec.CommandContext(w.Context(), "curl", "-sS", "--cacert", w.roots,
		publish.Official+"/v0/servers?search="+server)
	out, err := cmd.Output()
	if err != nil {
		w.Fatal(err)
	}
	var list struct {
		Servers []struct {
			Server struct {
				Name     string
				Packages []struct{ RegistryType string }
			}
		}
	}
	if err := json.Unmarshal(out, &list); err != nil || len(list.Servers) != 1 {
		w.Fatalf("%v\n%s", err, out)
	}
	for _, p := range list.Servers[0].Server.Packages {
		kinds = append(kinds, p.RegistryType)
	}
	return kinds
}
