package house

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"mcp-bash/test/checkout"
)

// The shell completes these command lines.
func TestCompletion(t *testing.T) {
	bin := t.TempDir()
	if err := checkout.Build(bin, checkout.Commands); err != nil {
		t.Fatal(err)
	}
	script := filepath.Join(checkout.Root(), "share", "completions", "mcp-bash.bash")
	for line, want := range map[string]string{
		"mcp-bash r":                       "request ready run-tool registry remove",
		"mcp-bash request prompts/":        "prompts/list prompts/get",
		"mcp-bash request ping --no":       "--notifications",
		"mcp-bash provider h":              "https",
		"mcp-bash provider n":              "notes",
		"mcp-registry list --kind p":       "prompts",
		"mcp-runtool t --el":               "--elicit",
		"mcp-bash registry ":               "refresh status register unregister get list lock",
		"mcp-bash registry get b":          "beta",
		"mcp-registry unregister ":         "alpha beta",
		"mcp-registry register my":         "my-project",
		"mcp-registry register --dry":      "--dry-run",
		"mcp-registry list --level e":      "elevated",
		"mcp-registry list --capability N": "Network",
		"mcp-registry st":                  "status",
		"mcp-bash run-tool t --allow-":     "--allow-self --allow-all",
		"mcp-runtool t --dry":              "--dry-run",
		"mcp-runtool ":                     "alpha beta",
		"mcp-bash run-tool al":             "alpha",
		"mcp-bash run-tool x --allow b":    "beta",
		"mcp-bash scaffold t":              "tool",
		"mcp-bash tes":                     "test",
		"mcp-doctor test --up":             "--update",
		"mcp-bash scaffold tool x --f":     "--force",
		"mcp-bash new x --no":              "--no-trial --no-hello",
		"mcp-scaffold scaffold ui --to":    "--tool",
		"mcp-runtool x --project-root m":   "my-project",
	} {
		project := t.TempDir()
		code := `set -e; umask 022; cd "$2"; mkdir .registry my-project providers server.d; echo '{}' >server.d/server.meta.json
touch providers/notes.sh
echo '{"format_version":1,"hash":"h","items":[{"name":"alpha"},{"name":"beta"}]}' >.registry/tools.json
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
