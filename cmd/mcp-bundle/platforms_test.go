package main

import (
	"archive/zip"
	"bytes"
	"context"
	"debug/elf"
	"debug/macho"
	"debug/pe"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"mcp-bash/pkg/json/rawjson"
)

// makeProject makes a project whose path, content and times do not depend on the machine.
func makeProject(t *testing.T, dir string) string {
	t.Helper()
	if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"server.d/server.meta.json": `{"name":"demo","version":"1.0.0","author":"Ada"}`,
		"tools/hello/tool.meta.json": `{"name":"hello","description":"Greets","inputSchema":{"type":"object",` +
			`"properties":{"name":{"type":"string"}}}}`,
		"tools/hello/tool.sh": "#!/usr/bin/env bash\nsource \"$MCP_SDK/tool-sdk.sh\"\n" +
			"mcp_result_success \"$(mcp_json_obj message \"Hello, $(mcp_args_get .name)!\")\"\n",
		"resources/Ä.txt": "umlaut", "resources/z.txt": "z", "resources/a.txt": "a",
	} {
		file := filepath.Join(dir, filepath.FromSlash(name))
		mode := os.FileMode(0o644)
		if strings.HasSuffix(name, ".sh") {
			mode = 0o755
		}
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(file, mode); err != nil { // independent of the umask
			t.Fatal(err)
		}
	}
	return dir
}

// bundleOf runs mcp-bundle on a project and returns the bundle. before is shell code that runs first.
func bundleOf(t *testing.T, project, before string, env []string, args ...string) []byte {
	t.Helper()
	out := t.TempDir()
	shell := []string{"-c", before + `; exec mcp-bundle bundle "$@"`, "sh", "--output", out}
	cmd := exec.Command("sh", append(shell, args...)...)
	cmd.Dir = project
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir(), "TMPDIR="+t.TempDir(), "GIT_CONFIG_NOSYSTEM=1",
		"GOCACHE="+goCache(t), "GOMODCACHE="+goEnv(t, "GOMODCACHE"), "GOFLAGS=-modcacherw")
	cmd.Env = append(cmd.Env, env...)
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	text, err := os.ReadFile(filepath.Join(out, "demo-1.0.0.mcpb"))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func goCache(t *testing.T) string { return goEnv(t, "GOCACHE") }

func goEnv(t *testing.T, name string) string {
	t.Helper()
	out, err := exec.Command("go", "env", name).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// CLI-1433: the same project makes the same bytes under another umask, time zone, locale and home directory, and in
// another folder.
func TestReproducible(t *testing.T) {
	dir, err := server()
	if err != nil {
		t.Fatal(err)
	}
	first := bundleOf(t, makeProject(t, filepath.Join(t.TempDir(), "one")), "umask 022",
		[]string{"MCPBASH_RUNTIME_DIR=" + dir, "TZ=UTC", "LC_ALL=C"})
	for before, env := range map[string][]string{
		"umask 077": {"TZ=Pacific/Kiritimati", "LC_ALL=de_DE.UTF-8", "LANG=tr_TR.UTF-8"},
		"umask 000": {"TZ=America/St_Johns", "LC_ALL=en_US.UTF-8", "GOMAXPROCS=1"},
	} {
		project := makeProject(t, filepath.Join(t.TempDir(), "a folder of another name"))
		if got := bundleOf(t, project, before, append(env, "MCPBASH_RUNTIME_DIR="+dir)); !bytes.Equal(first, got) {
			t.Errorf("%s %v: other bytes", before, env)
		}
	}
	project := makeProject(t, filepath.Join(t.TempDir(), "later"))
	later := bundleOf(t, project, "true", []string{"MCPBASH_RUNTIME_DIR=" + dir, "SOURCE_DATE_EPOCH=1700000000"})
	z, err := zip.NewReader(bytes.NewReader(later), int64(len(later)))
	if err != nil {
		t.Fatal(err)
	}
	if want := time.Unix(1700000000, 0).UTC().Truncate(2 * time.Second); !z.File[0].Modified.Equal(want) {
		t.Errorf("%v, want %v", z.File[0].Modified, want)
	}
}

// CLI-1421, CLI-1422, CLI-1429: the programs and launchers of every system, made from the
// sources of this repository.
func TestEveryPlatform(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the server for five systems")
	}
	project := makeProject(t, filepath.Join(t.TempDir(), "demo"))
	env := []string{"MCPBASH_HOME=" + repo(t), "MCPBASH_RUNTIME_DIR="}
	text := bundleOf(t, project, "true", env, "--platform", "all")
	z, err := zip.NewReader(bytes.NewReader(text), int64(len(text)))
	if err != nil {
		t.Fatal(err)
	}
	content := map[string][]byte{}
	for i, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		if content[f.Name], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
		exec := bytes.HasPrefix(content[f.Name], []byte("#!")) || strings.Contains(f.Name, "/bin/")
		if strings.Contains(f.Name, "/sdk/") || strings.Contains(f.Name, "/lib/") {
			exec = false
		}
		if want := map[bool]os.FileMode{true: 0o755, false: 0o644}[exec]; f.Mode() != want {
			t.Errorf("%s: %v, want %v", f.Name, f.Mode(), want)
		}
		if strings.HasSuffix(f.Name, ".sh") && bytes.ContainsRune(content[f.Name], '\r') {
			t.Errorf("%s: carriage returns", f.Name)
		}
		if i == 0 != (f.Name == "manifest.json") || i > 1 && f.Name <= z.File[i-1].Name {
			t.Errorf("%s: out of order", f.Name)
		}
	}
	bin := "server/.mcp-bash/bin/"
	for name, cpu := range map[string]elf.Machine{"linux-amd64": elf.EM_X86_64, "linux-arm64": elf.EM_AARCH64} {
		f, err := elf.NewFile(bytes.NewReader(content[bin+name+"/mcp-bash"]))
		if err != nil || f.Machine != cpu {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if libraries, err := f.ImportedLibraries(); err == nil && len(libraries) > 0 {
			t.Errorf("%s needs %v", name, libraries)
		}
	}
	for name, cpu := range map[string]macho.Cpu{"darwin-amd64": macho.CpuAmd64, "darwin-arm64": macho.CpuArm64} {
		f, err := macho.NewFile(bytes.NewReader(content[bin+name+"/mcp-bash"]))
		if err != nil || f.Cpu != cpu {
			t.Errorf("%s: %v", name, err)
			continue
		}
		const codeSignature = 0x1d
		signed := false
		for _, l := range f.Loads {
			signed = signed || f.ByteOrder.Uint32(l.Raw()) == codeSignature
		}
		if !signed && cpu == macho.CpuArm64 { // Intel machines also run unsigned programs
			t.Errorf("%s: not signed", name)
		}
	}
	if f, err := pe.NewFile(bytes.NewReader(content[bin+"windows-amd64/mcp-bash.exe"])); err != nil ||
		f.Machine != pe.IMAGE_FILE_MACHINE_AMD64 {
		t.Errorf("windows: %v", err)
	}
	manifest := content["manifest.json"]
	config := rawjson.Path(manifest, "server", "mcp_config")
	windows := rawjson.Path(config, "platform_overrides", "win32")
	if got := rawjson.TextOf(windows, "command"); got != "${__dirname}/"+bin+"windows-amd64/mcp-bash.exe" {
		t.Errorf("win32 starts %s", got)
	}
	platforms := rawjson.AppendCompact(nil, rawjson.Path(manifest, "compatibility", "platforms"))
	if string(platforms) != `["darwin","linux","win32"]` {
		t.Errorf("%s", platforms)
	}
	for _, member := range []string{"args", "env"} { // an override replaces each as a whole
		base, over := rawjson.Get(config, member), rawjson.Get(windows, member)
		if string(rawjson.Normal(base)) != string(rawjson.Normal(over)) {
			t.Errorf("%s: %s, in the override %s", member, base, over)
		}
	}
	// CLI-1434: a file name that only Windows rejects is an error if the bundle supports Windows.
	if err := os.WriteFile(filepath.Join(project, "resources", "aux.txt"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	bundleOf(t, project, "true", env, "--platform", "linux", "--arch", "amd64")
	cmd := exec.Command("mcp-bundle", "bundle", "--validate")
	cmd.Dir = project
	cmd.Env = append(os.Environ(), append(env, "TMPDIR="+t.TempDir(), "GOCACHE="+goCache(t))...)
	want := `✗ cannot be in a bundle for Windows: server/resources/aux.txt: the name of a device on Windows`
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), want) {
		t.Errorf("%v\n%s", err, out)
	}
}

// The server of an unpacked bundle starts with the command in its manifest, as for a client, and its tool can be
// called. A bundle for one system is small.
func TestClientStartsBundle(t *testing.T) {
	dir, err := server()
	if err != nil {
		t.Fatal(err)
	}
	text := bundleOf(t, makeProject(t, filepath.Join(t.TempDir(), "demo")), "true",
		[]string{"MCPBASH_RUNTIME_DIR=" + dir})
	if len(text) > 6<<20 {
		t.Errorf("%d bytes", len(text))
	}
	file, there := filepath.Join(t.TempDir(), "demo.mcpb"), filepath.Join(t.TempDir(), "with a space")
	if err := os.WriteFile(file, text, 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("mcp-bundle", "unpack", file, there).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	manifest, err := os.ReadFile(filepath.Join(there, "manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	config := rawjson.Path(manifest, "server", "mcp_config")
	here := strings.NewReplacer("${__dirname}", there)
	cmd := exec.Command(here.Replace(rawjson.TextOf(config, "command")))
	cmd.Dir, cmd.Stderr = "/", os.Stderr
	cmd.Env = []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + t.TempDir(), "TMPDIR=" + t.TempDir()}
	for _, m := range rawjson.Members(rawjson.Get(config, "env")) {
		value, _ := rawjson.Text(m.Value)
		cmd.Env = append(cmd.Env, m.Name+"="+here.Replace(value))
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(ctx,
		&mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "hello", Arguments: map[string]any{"name": "Ada"}})
	if err != nil || result.IsError || !strings.Contains(result.Content[0].(*mcp.TextContent).Text, "Hello, Ada!") {
		t.Fatalf("%+v, %v", result, err)
	}
	resources, err := session.ListResources(ctx, nil)
	if err != nil || len(resources.Resources) != 3 {
		t.Fatalf("%+v, %v", resources, err)
	}
	for _, r := range resources.Resources {
		if !strings.HasPrefix(r.URI, "file://") || strings.Contains(r.URI, "$") {
			t.Error(r.URI)
		}
		if _, err := session.ReadResource(ctx, &mcp.ReadResourceParams{URI: r.URI}); err != nil {
			t.Errorf("%s: %v", r.URI, err)
		}
	}
}
