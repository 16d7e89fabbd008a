package published

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mcp-bash/pkg/bundle/runtimes"
	"mcp-bash/test/checkout"
)

// startIndex returns a world with a package index of Python.
func startIndex(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	checkout.Needs(t, "python3", "pipx")
	if err := os.Mkdir(filepath.Join(w.dir, "index"), 0o755); err != nil {
		t.Fatal(err)
	}
	index := httptest.NewServer(http.HandlerFunc(w.serve))
	t.Cleanup(index.Close)
	w.env = append(w.env, "PIP_INDEX_URL="+index.URL+"/simple/", "PIP_DISABLE_PIP_VERSION_CHECK=1",
		"PIP_CONFIG_FILE=/dev/null", "PLATFORM="+runtimes.Host.Platform(), "ARCH="+runtimes.Host.Arch)
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

// PKG-201 to PKG-203, CLI-408: pip and pipx start examples by the commands of docs/PUBLISH.md, also a new version.
func TestIndex(t *testing.T) {
	w := startIndex(t)
	lines := w.commands(2)
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
		w.example(c.example, c.example)
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
