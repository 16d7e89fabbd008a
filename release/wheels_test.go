package main

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"mcp-bash/pkg/cli"
)

// CLI-1720: in an empty home, pipx and pip take the wheel from an index. Its commands make a project and run its tool.
func TestWheels(t *testing.T) {
	if _, err := exec.LookPath("pipx"); err != nil {
		t.Skip("pipx is not installed")
	}
	dir, home := release1(t), t.TempDir()
	wheels, err := filepath.Glob(filepath.Join(dir, "mcp_bash-"+cli.Version+"-py3-none-*.whl"))
	if err != nil || len(wheels) != 1 {
		t.Fatalf("%q, %v", wheels, err)
	}
	content, err := os.ReadFile(wheels[0])
	if err != nil {
		t.Fatal(err)
	}
	index := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch name := filepath.Base(wheels[0]); r.URL.Path {
		case "/simple/mcp-bash/":
			fmt.Fprintf(w, "<a href=\"/%s#sha256=%x\">%s</a>\n", name, sha256.Sum256(content), name)
		case "/" + name:
			w.Write(content)
		default:
			http.NotFound(w, r)
		}
	}))
	defer index.Close()
	in := func(command string) string {
		t.Helper()
		cmd := exec.Command("sh", "-ec", command)
		cmd.Dir = home
		cmd.Env = []string{"HOME=" + home, "PATH=" + home + "/.local/bin:/usr/bin:/bin", "LANG=C.UTF-8",
			"PIP_INDEX_URL=" + index.URL + "/simple/", "PIP_CONFIG_FILE=/dev/null", "PIP_DISABLE_PIP_VERSION_CHECK=1"}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v: %s", command, err, out)
		}
		return string(out)
	}
	if out := in("pipx run mcp-bash new my-server"); !strings.Contains(out, "my-server") {
		t.Errorf("%s", out)
	}
	out := in("cd my-server && pipx run mcp-bash run-tool hello --allow-self")
	if !strings.Contains(out, "Hello, World!") {
		t.Errorf("%s", out)
	}
	in("pipx install " + wheels[0])
	for _, name := range cli.Programs {
		if out := in(name + " --version"); out != name+" "+cli.Version+"\n" {
			t.Errorf("%s: %q", name, out)
		}
	}
	out = in(`cd my-server && mcp-bash validate && echo '{"a":[1]}' | mcp-jq -c .a`)
	if !strings.HasSuffix(out, "[1]\n") {
		t.Errorf("%s", out)
	}
	in("python3 -m venv v && v/bin/pip install mcp-bash && cmp v/bin/mcp-bash .local/bin/mcp-bash")
	for _, name := range []string{"man/man1/mcp-bundle.1", "zsh/site-functions/_mcp-bash",
		"bash-completion/completions/mcp-bash"} {
		if _, err := os.Stat(filepath.Join(home, "v", "share", name)); err != nil {
			t.Error(err)
		}
	}
	in("v/bin/pip uninstall -y mcp-bash && ! find v -type f -name '*mcp[-_]*' | grep .")
}
