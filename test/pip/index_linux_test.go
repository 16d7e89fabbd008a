// Package pip publishes wheels to a package index on this machine, and starts them with pip and pipx.
package pip

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"mcp-bash/pkg/bundle/runtimes"
	"mcp-bash/test/checkout"
	"mcp-bash/test/page"
)

// A world is an empty home, an index, and the commands.
type world struct {
	*testing.T
	dir string
	env []string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	if os.Getenv("MCPBASH_TEST_LONG") == "" {
		t.Skip("left out: it makes environments of Python for a minute; set MCPBASH_TEST_LONG=1")
	}
	checkout.Needs(t, "python3", "pipx")
	w := &world{T: t, dir: t.TempDir()}
	if err := os.Chmod(w.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{
		checkout.Build(filepath.Join(w.dir, "bin"), checkout.Commands),
		checkout.Build(filepath.Join(w.dir, "runtime", filepath.Dir(runtimes.Host.Path())), "mcp-bash/cmd/mcp-bash"),
		os.MkdirAll(filepath.Join(w.dir, "home"), 0o755), os.MkdirAll(filepath.Join(w.dir, "index"), 0o755),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	index := httptest.NewServer(http.HandlerFunc(w.serve))
	t.Cleanup(index.Close)
	home := filepath.Join(w.dir, "home")
	w.env = []string{
		"PATH=" + filepath.Join(w.dir, "bin") + ":" + home + "/.local/bin:/usr/local/bin:/usr/bin:/bin", "HOME=" + home,
		"TMPDIR=" + w.dir, "LANG=C.UTF-8", "MCPBASH_RUNTIME_DIR=" + filepath.Join(w.dir, "runtime"),
		"PIP_INDEX_URL=" + index.URL + "/simple/", "PIP_DISABLE_PIP_VERSION_CHECK=1", "PIP_CONFIG_FILE=/dev/null",
		"PLATFORM=" + runtimes.Host.Platform(), "ARCH=" + runtimes.Host.Arch,
	}
	return w
}

// serve answers as a simple index does (PEP 503): a page for each project, with the files in the folder index.
func (w *world) serve(out http.ResponseWriter, r *http.Request) {
	name, isPage := strings.CutPrefix(r.URL.Path, "/simple/")
	if !isPage {
		http.ServeFile(out, r, filepath.Join(w.dir, "index", filepath.Base(r.URL.Path)))
		return
	}
	name = strings.ReplaceAll(strings.Trim(name, "/"), "-", "_")
	files, err := filepath.Glob(filepath.Join(w.dir, "index", name+"-*.whl"))
	if err != nil || len(files) == 0 {
		http.NotFound(out, r)
		return
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			w.Error(err)
		}
		base := filepath.Base(file)
		fmt.Fprintf(out, "<a href=\"/files/%s#sha256=%x\">%s</a>\n", base, sha256.Sum256(content), base)
	}
}

func (w *world) must(dir, script string) string {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-ec", script)
	cmd.Dir, cmd.Env = filepath.Join(w.dir, dir), w.env
	text, err := cmd.CombinedOutput()
	if err != nil {
		w.Fatalf("%s: %v\n%s", script, err, text)
	}
	return string(text)
}

// call starts a server with a command, calls a tool and returns the text of its result.
func (w *world) call(command, tool string, arguments map[string]any) string {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.Context(), 2*time.Minute)
	defer cancel()
	var stderr bytes.Buffer
	cmd := exec.Command("bash", "-c", "exec "+command)
	cmd.Dir, cmd.Env, cmd.Stderr = filepath.Join(w.dir, "home"), w.env, &stderr
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(ctx,
		&mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		w.Fatalf("%s: %v\n%s", command, err, &stderr)
	}
	defer session.Close()
	result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil || result.IsError || len(result.Content) == 0 {
		w.Fatalf("%s: %+v, %v\n%s", command, result, err, &stderr)
	}
	return fmt.Sprint(result.Content[0].(*mcp.TextContent).Text)
}

// PKG-201 to PKG-203, CLI-408: pip and pipx start examples by the commands of docs/PUBLISH.md, also a new version.
func TestIndex(t *testing.T) {
	w := newWorld(t)
	blocks, err := page.Read(filepath.Join(checkout.Root(), "docs", "PUBLISH.md"))
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, b := range blocks {
		if b.RunBy == "TestIndex" {
			lines = append(lines, strings.TrimSpace(b.Text))
		}
	}
	if len(lines) != 2 {
		t.Fatalf("%d blocks", len(lines))
	}
	publish := func(dir, name, version string) {
		t.Helper()
		line := strings.Replace(lines[0], "my-tools", name, 1) + " --version " + version
		w.must(dir, line+" --platform $PLATFORM --arch $ARCH; cp dist/*.whl ../index/; rm -r dist")
	}
	calls := []struct {
		example, name, tool string
		arguments           map[string]any
		want                string
	}{
		{"00-hello", "my-tools", "hello", map[string]any{"name": "Ada"}, "Hello, Ada!"},
		{"01-arguments", "other-tools", "convert", map[string]any{"value": 0, "from": "celsius", "to": "kelvin"}, "273.15"},
		{"08-any-language", "third-tools", "primes", map[string]any{"limit": 10}, "7"},
	}
	for _, c := range calls {
		from := os.DirFS(filepath.Join(checkout.Root(), "examples", c.example))
		if err := os.CopyFS(filepath.Join(w.dir, c.example), from); err != nil {
			t.Fatal(err)
		}
		w.must(c.example, "chmod -R go-w .; find . -name '*.sh' -exec chmod +x {} +")
		publish(c.example, c.name, "1.0.0")
		got := w.call(strings.ReplaceAll(lines[1], "my-tools", c.name), c.tool, c.arguments)
		if !strings.Contains(got, c.want) {
			t.Errorf("%s: %q", c.example, got)
		}
	}

	// An installation takes a new version, and its removal leaves no command. A variable names another project.
	w.must("home", "pipx install my-tools==1.0.0")
	if got := w.call("my-tools", "hello", map[string]any{"name": "Eve"}); got != "Hello, Eve!" {
		t.Errorf("%q", got)
	}
	another := "env MCPBASH_TOOL_ALLOWLIST=convert MCPBASH_PROJECT_ROOT=" + filepath.Join(w.dir, "01-arguments")
	if got := w.call(another+" my-tools", "convert", calls[1].arguments); !strings.Contains(got, calls[1].want) {
		t.Errorf("another project: %q", got)
	}
	publish("00-hello", "my-tools", "1.1.0")
	w.must("home", "pipx upgrade my-tools | grep 1.1.0; pipx uninstall my-tools; ! command -v my-tools")
	w.must("home", "python3 -m venv v; v/bin/pip install my-tools; v/bin/pip list | grep 1.1.0")
	if got := w.call("v/bin/my-tools", "hello", map[string]any{"name": "Bob"}); got != "Hello, Bob!" {
		t.Errorf("%q", got)
	}
	w.must("home", "v/bin/pip uninstall -y my-tools; ! find v -type f -name '*my[-_]tools*' | grep .")
}
