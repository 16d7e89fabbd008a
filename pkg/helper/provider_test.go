package helper

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mcp-bash/pkg/provider"
)

// RES-2, RES-60: unchanged bytes, exit codes and messages.
func TestProvider(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	const content = "bytes\x00\xff\nas they are\n\n"
	for name, text := range map[string]string{
		"resources/f": content, "secret": "x", "tools/group/clock/tool.sh": "",
		"tools/group/clock/ui/index.html": "clock\n", "ui/dash/ui.meta.json": `{"template":"kanban"}`,
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("MCPBASH_PROJECT_ROOT", root)
	for _, name := range []string{"MCP_RESOURCES_ROOTS", "MCPBASH_RESOURCES_DIR", "MCPBASH_HTTPS_ALLOW_HOSTS",
		"MCPBASH_HTTPS_ALLOW_ALL", "MCPBASH_ENABLE_GIT_PROVIDER"} {
		t.Setenv(name, "")
	}
	usage := "Usage: mcp-bash provider NAME URI, NAME being file, https, git, echo or ui, or a provider of the project\n"
	for _, c := range []struct {
		args     string
		out, err string
		code     int
	}{
		{"file file://" + root + "/resources/f", content, "", 0},
		{"file resources/f", content, "", 0},
		{"file file://" + root + "/secret", "", "Resource outside allowed roots\n", provider.Denied},
		{"file resources/none", "", "Resource not found\n", provider.NotFound},
		{"echo echo://a%20b", "a b", "", 0},
		{"echo", "", "echo provider requires echo://<payload>\n", provider.Invalid},
		{"https https://h.example/", "",
			"HTTPS provider blocked host h.example\nHTTPS provider requires MCPBASH_HTTPS_ALLOW_HOSTS (or " +
				"MCPBASH_HTTPS_ALLOW_ALL=true)\n", provider.Invalid},
		{"https", "", "HTTPS provider requires https:// URI\n", provider.Invalid},
		{"git git+https://h.example/r#f", "",
			"git provider is disabled (set MCPBASH_ENABLE_GIT_PROVIDER=true to enable)\n", provider.Invalid},
		{"ui ui://any/clock", "clock\n", "", 0},
		{"ui ui://any/none", "", "Resource not found\n", provider.NotFound},
		{"ui ui://any/../secret", "", "Resource outside allowed roots\n", provider.Denied},
		{"ui x", "", "Invalid URI scheme: expected ui://\n", provider.Invalid},
		{"ftp ftp://x", "", "unsupported resource provider \"ftp\"; there are file, https, git, echo and ui\n", exitNo},
		{"", "", usage, provider.Invalid},
		{"echo echo://a b", "", usage, provider.Invalid},
	} {
		var out, errOut bytes.Buffer
		code := Run(append([]string{"provider"}, strings.Fields(c.args)...), brokenPipe{}, &out, &errOut)
		if code != c.code || out.String() != c.out || errOut.String() != c.err {
			t.Errorf("RES-2: provider %s: %q %q %d", c.args, out.String(), errOut.String(), code)
		}
	}
	var out, errOut bytes.Buffer
	if code := Run([]string{"provider", "ui", "ui://any/dash"}, nil, &out, &errOut); code != 0 ||
		!strings.Contains(out.String(), "<h2>Kanban Board</h2>") {
		t.Errorf("RES-321: %.100q %q %d", out.String(), errOut.String(), code)
	}
	if _, err := os.Stat(filepath.Join(root, ".registry")); err == nil {
		t.Error("RES-2: the program writes a registry")
	}
	out.Reset()
	t.Setenv("MCP_RESOURCES_ROOTS", filepath.Join(root, "secret"))
	if code := Run([]string{"provider", "file", root + "/secret"}, nil, &out, &errOut); code != 0 ||
		out.String() != "x" {
		t.Errorf("RES-93: %q %q %d", out.String(), errOut.String(), code)
	}
	if code := Run([]string{"provider", "echo", "echo://x"}, nil, brokenPipe{}, &errOut); code != exitNo {
		t.Errorf("RES-2: nobody takes it: %d", code)
	}
}
