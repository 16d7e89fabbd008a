package clients

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"mcp-bash/pkg/run/confine"
	"mcp-bash/test/checkout"
)

// folder are scripts as people have them, with a file next to them.
var folder = map[string]string{
	"count.sh": `# Counts the lines of files.
# Usage: count.sh [-v] FILE...
set -euo pipefail
while getopts 'v' o; do case $o in v) set -x ;; *) exit 2 ;; esac; done
shift $((OPTIND - 1))
[ $# -gt 0 ] || { echo "no file" >&2; exit 2; }
. "$(dirname "$0")/lib"
for f; do say "$(basename "$f") $(wc -l <"$f")"; done`,
	"errors.sh": `# Finds errors in logs.
find . -name '*.log' -type f | sort | xargs grep -c "${1:-ERROR}" /dev/null`,
	"archive.sh": `# Makes an archive of a folder.
set -eu
src=${1:?folder}; out=${2:-out.tar.gz}
tar -czf "$out" "$src"
tmp=$(mktemp -d); trap 'rm -rf "$tmp"' EXIT
cp "$out" "$tmp/"; ls "$tmp"`,
	"words.sh": `# Counts words.
awk '{ for (i = 1; i <= NF; i++) n[$i]++ } END { for (w in n) print n[w], w | "sort -rn" }' "$1" | head -n "${2:-5}"`,
	"about.sh": `# Shows the system.
uname -s; id -un >/dev/null; date +%Y; df -P . >/dev/null; echo "about $USER"`,
	"each.sh": `# Shows the first line of each log.
find . -name '*.log' -exec head -n 1 {} \;`,
}

// Tools that were made of scripts and programs touch nothing outside of their declarations. The strictest mode refuses
// nothing, and scripts cannot hide that.
func TestImportedTouches(t *testing.T) {
	t.Parallel()
	if confine.Offered().Lacks(&confine.Profile{}) != nil {
		t.Skip("this kernel cannot hold all")
	}
	work := checkout.Directory(t)
	err := errors.Join(os.Mkdir(work+"/scripts", 0o755), os.MkdirAll(work+"/root/sub", 0o755),
		os.Mkdir(work+"/home", 0o700),
		os.WriteFile(work+"/scripts/lib", []byte("say() { printf '%s\\n' \"$*\"; }\n"), 0o644),
		os.WriteFile(work+"/root/list.txt", []byte("b\na\na\n"), 0o644),
		os.WriteFile(work+"/root/app.log", []byte("an ERROR\n"), 0o644))
	for name, text := range folder {
		text = "#!/usr/bin/env bash\n" + text + "\n"
		err = errors.Join(err, os.WriteFile(filepath.Join(work, "scripts", name), []byte(text), 0o755))
	}
	if err != nil {
		t.Fatal(err)
	}
	project := filepath.Join(work, "demo")
	run := func(dir, program string, arguments ...string) string {
		cmd := exec.Command(filepath.Join(bin, program), arguments...)
		cmd.Dir = dir
		cmd.Env = environment(project, work+"/home", map[string]string{
			"MCPBASH_CONFINE": "all,required", "HOME": work + "/home", "USER": "ada",
			"MCPBASH_TOOL_ENV_MODE": "", "MCPBASH_TOOL_ENV_ALLOWLIST": "", // server.meta.json decides
		})
		out, _ := cmd.CombinedOutput() // the output contains a failure
		return string(out)
	}
	made := run(work, "mcp-scaffold", "new", "demo", "--from", "scripts")
	for _, program := range []string{"sort", "wc"} {
		made += run(project, "mcp-scaffold", "wrap", program)
	}
	for tool, c := range map[string][]string{
		"count":   {`{"file":["list.txt"]}`, "list.txt 3"},
		"errors":  {`{}`, "app.log:1"},
		"archive": {`{"src":"sub"}`, "out.tar.gz"},
		"words":   {`{"arg1":"list.txt"}`, "2 a"},
		"about":   {`{}`, "about ada"},
		"each":    {`{}`, "an ERROR"},
		"sort":    {`{"files":["` + work + `/root/list.txt"]}`, `a\na\nb`},
		"wc":      {`{"lines":true,"files":["` + work + `/root/list.txt"]}`, "3"},
	} {
		t.Run(tool, func(t *testing.T) {
			got := run(project, "mcp-runtool", tool, "--allow-self", "--explain", "--roots", work+"/root", "--args", c[0])
			if !strings.Contains(got, "run-tool: nothing was refused\n") || !strings.Contains(got, c[1]) {
				t.Errorf("%s\nwant %s\n%s", got, c[1], made)
			}
		})
	}
}
