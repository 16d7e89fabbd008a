//go:build unix

package registry

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"mcp-bash/pkg/project"
	"mcp-bash/pkg/registry/access"
	"mcp-bash/pkg/registry/kinds"
)

func writable(path, mode string) string {
	return fmt.Sprintf("%s (mode %s, others can write to it; run chmod o-w %s)", path, mode, path)
}

// a registry file that other users could have written is ignored.
func TestInsecureRegistryFile(t *testing.T) {
	env := project.Env{"MCPBASH_STATIC_REGISTRY": "1"}
	for _, name := range []string{".registry/tools.json", ".registry", "."} {
		b := newBed(t, env, files{"tools/a/tool.sh": "", ".registry/tools.json": `{"format_version":1,"hash":"h",` +
			`"items":[{"name":"theirs","path":"a/tool.sh"}]}`})
		os.Chmod(b.Path(name), 0o757)
		b.reopen(env, Options{})
		b.Log()
		want(t, b.names(), "a")
		said := strings.Join(b.Log(), "\n")
		if !strings.Contains(said, "warning mcp.tools: Static registry: tools.json: "+writable(b.Path(name),
			"0757")+"; discovering") {
			t.Errorf("%s: %s", name, said)
		}
		if _, err := b.File(kinds.Tools); name != ".registry/tools.json" && (err == nil || err.Error() != writable(b.Path(
			name), "0757")) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// no file is written that readers would ignore.
func TestInsecureRegistryDirectory(t *testing.T) {
	b := newBed(t, nil, files{"tools/a/tool.sh": "", ".registry/": ""})
	os.Chmod(b.Path(".registry"), 0o757)
	want(t, b.names(), "a")
	b.WantLog("warning mcp.registry: Registry directory is not writable; keeping the registry in memory: " +
		writable(b.Path(".registry"), "0757"))
	r := b.refresh("")
	want(t, r.Fatal(), true)
	want(t, r.Kinds[0].Err.Error(),
		"Registry directory is not writable: "+b.Path(".registry")+": "+writable(b.Path(".registry"), "0757"))
	if left, _ := os.ReadDir(b.Path(".registry")); len(left) > 0 {
		t.Errorf("%q", left)
	}
	os.Chmod(b.Path(".registry"), 0o755)
	want(t, b.refresh("").Failed(), false)
}

// R-36, CF-63: a tool whose metadata others could have written does not run. Metadata of prompts is
// used.
func TestInsecureMetadata(t *testing.T) {
	b := newBed(t, nil, files{
		"tools/wipe/tool.sh": "", "tools/wipe/tool.meta.json": `{"name":"allowed","capabilities":[]}`,
		"prompts/p.txt": "text", "prompts/p.meta.json": `{"name":"described"}`,
	})
	file := b.Path("tools/wipe/tool.meta.json")
	os.Chmod(file, 0o646)
	os.Chmod(b.Path("prompts/p.meta.json"), 0o646)
	want(t, b.names(), "wipe")
	want(t, access.LevelOf(b.tools().Items[0].JSON), access.Full)
	b.WantLog("warning mcp.tools: tools/wipe/tool.meta.json: " + writable(file, "0646") + "; the tool does not run")
	_, err := access.DeclarationOf(b.tools().Items[0].JSON)
	want(t, err.Error(), "tools/wipe/tool.meta.json: "+writable(file, "0646"))
	prompts, err := b.List(t.Context(), kinds.Prompts)
	if err != nil {
		t.Fatal(err)
	}
	want(t, namesOf(prompts), "described")
	os.Chmod(file, 0o644)
	b.Advance(time.Hour)
	want(t, b.names(), "allowed")
	b.reopen(nil, Options{}) // not from the registry file, which another user may have written
	os.Chmod(file, 0o646)
	want(t, b.names(), "wipe")
}
