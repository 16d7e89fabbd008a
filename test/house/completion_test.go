package house

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// What the shell would offer at the end of a command line.
func TestCompletion(t *testing.T) {
	bin := t.TempDir()
	build := exec.Command("go", "build", "-o", bin, "./cmd/mcp-bash", "./cmd/mcp-runtool", "./cmd/mcp-registry")
	build.Dir = filepath.Join("..", "..")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	script, err := filepath.Abs(filepath.Join("..", "..", "share", "completions", "mcp-bash.bash"))
	if err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]string{
		"mcp-bash r":                       "run-tool registry",
		"mcp-bash provider h":              "https",
		"mcp-bash registry ":               "refresh status register unregister get list",
		"mcp-bash registry get b":          "beta",
		"mcp-registry unregister ":         "alpha beta",
		"mcp-registry register my":         "my-project",
		"mcp-registry register --dry":      "--dry-run",
		"mcp-registry list --level e":      "elevated",
		"mcp-registry list --capability N": "Network",
		"mcp-registry st":                  "status",
		"mcp-bash run-tool t --allow-":     "--allow-all --allow-self",
		"mcp-runtool t --dry":              "--dry-run",
		"mcp-runtool ":                     "alpha beta",
		"mcp-bash run-tool al":             "alpha",
		"mcp-bash run-tool x --allow b":    "beta",
		"mcp-runtool x --project-root m":   "my-project",
	} {
		project := t.TempDir()
		code := `set -e; cd "$2"; mkdir .registry my-project; printf '      "name": "alpha",\n      "name": "beta",\n' >.registry/tools.json;
source "$1"; line="$3"; read -ra COMP_WORDS <<<"$line"; case "$line" in *' ') COMP_WORDS+=('') ;; esac
COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); __mcp_bash; echo "${COMPREPLY[*]}"`
		cmd := exec.Command("bash", "-c", code, "bash", script, project, line)
		cmd.Env = []string{"PATH=" + bin + ":/usr/bin:/bin", "HOME=" + project}
		out, err := cmd.CombinedOutput()
		if got := strings.TrimSpace(string(out)); err != nil || got != want {
			t.Errorf("%q: %q, %v; want %q", line, got, err, want)
		}
	}
}
