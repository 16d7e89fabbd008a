package helper

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
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

// The content of a request can arrive after its description.
func TestRequestInParts(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Write([]byte(r.Method + " " + r.URL.Path + " " + string(body)))
	}))
	defer server.Close()
	content := strings.Repeat("x", 1000)
	in := io.MultiReader(strings.NewReader(`{"method":"POST","url":"`+server.URL+`/a","limit":5000}`+"\n"),
		strings.NewReader(content))
	var out, messages bytes.Buffer
	if code := httpRequest(in, &out, &messages); code != exitOK || out.String() != "200 1008\nPOST /a "+content {
		t.Errorf("%d: %s%s", code, out.String(), messages.String())
	}
}

// RES-389.
func TestUITemplate(t *testing.T) {
	for _, c := range []struct {
		input string
		args  []string
		out   string // the beginning of stdout
		err   string // the beginning of stderr
		code  int
	}{
		{`{"title":"T"}`, []string{"form"}, "<!DOCTYPE html>", "", 0},
		{" \n", []string{"kanban"}, "<!DOCTYPE html>", "", 0},
		{`{}`, []string{"chart"}, "", "Unknown template: chart\n", 1},
		{`[]`, []string{"form"}, "", "ui-template: the configuration must be one JSON object\n", 2},
		{`{"title":`, []string{"form"}, "", "ui-template: the configuration must be one JSON object: ", 2},
		{`{"fields":[{}]}`, []string{"form"}, "", "ui-template: config.fields[0].name must be given, and not empty\n",
			2},
		{``, nil, "", "ui-template: give the name of one template: form, ", 2},
		{``, []string{"form", "kanban"}, "", "ui-template: give the name of one template: form, ", 2},
		{``, []string{"--bogus"}, "", "ui-template: give the name of one template: form, ", 2},
	} {
		out, errOut, code := run(t, c.input, append([]string{"ui-template"}, c.args...)...)
		if code != c.code || !strings.HasPrefix(out, c.out) || !strings.HasPrefix(errOut, c.err) ||
			c.out == "" && out != "" || c.err == "" && errOut != "" {
			t.Errorf("%q < %s: %d, %.100q, %q", c.args, c.input, code, out, errOut)
		}
	}
}

// SDK-148, T-128.
func TestAnswers(t *testing.T) {
	for _, c := range []struct {
		input string
		args  []string
		out   string
		code  int
	}{
		{`{"b":{"result":{"z":1, "a":1.50}},"a":{"result":null}}`, nil, `{"b":{"z":1,"a":1.50},"a":null}`, 0},
		{`{"b":{"error":{"code":-32601,"message":"no"}},"a":{"result":5}}`, nil,
			`{"b":{"error":{"code":-32601,"message":"no"}},"a":5}`, 1},
		{`{"b":{},"a":7,"c":{"error":"x"}}`, nil, `{"b":` + string(noAnswer) + `,"a":` + string(noAnswer) + `,"c":` +
			string(noAnswer) + `}`, 1},
		{`{"b":{"result":{"x":1}},"a":{"result":5}}`, []string{"a"}, `5`, 0},
		{`{"a":{"error":{"code":1,"message":"m"}}}`, []string{"a"}, `{"error":{"code":1,"message":"m"}}`, 1},
		{`{}`, []string{"a"}, string(noAnswer), 1},
		{`[]`, nil, ``, 5},
		{`{"a":`, nil, ``, 5},
	} {
		out, _, code := run(t, c.input, append([]string{"answers"}, c.args...)...)
		if out != c.out || code != c.code {
			t.Errorf("%q < %s: %d %s, want %d %s", c.args, c.input, code, out, c.code, c.out)
		}
	}
}
