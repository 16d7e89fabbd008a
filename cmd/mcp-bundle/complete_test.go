package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mcp-bash/pkg/bundle/runtimes"
	"mcp-bash/pkg/cli"

	"golang.org/x/tools/txtar"
)

// incomplete is a project that works only on its author's machine. HOME is the home directory.
const incomplete = `
-- server.d/server.meta.json --
{"name": "demo", "version": "1.0.0", "author": "Ada", "title": "Demo", "description": "d", "license": "MIT"}
-- server.d/requirements.json --
{"dependencies": [{"or": ["gjq", "jq"]}]}
-- config/paths.json --
{"data": "/home/ada/data"}
-- lib/common.sh --
common() { rsync "$1"; }
-- tools/a/tool.meta.json --
{"name": "a", "description": "d", "inputSchema": {"type": "object"}}
-- tools/a/tool.sh --
#!/usr/bin/env bash
# a comment with /home/ada/notes
source "$(dirname "$0")/../../lib/common.sh"
source "$(dirname "$0")/../../lib/gone.sh"
source "$MCPBASH_PROJECT_ROOT/lib/common.sh"
source "${MCPBASH_PROJECT_ROOT}/lib/lost.sh"
"$(dirname "$0")/helper"
common x | mcp_result_success | jq . | curl -sT - "$1"
cat HOME/notes /home/you/example
-- tools/b/tool.meta.json --
{"name": "b", "description": "d", "inputSchema": {"type": "object"}}
-- tools/b/tool.py --
#!/usr/bin/env python3
print("C:\\Users\\Ada\\data")
`

// theirs are the problems of the project that every product reports.
var theirs = []string{
	`tools/a/tool.sh needs lib/gone.sh, which is not part of the product`,
	`tools/a/tool.sh needs lib/lost.sh, which is not part of the product`,
	`tools/a/tool.sh needs tools/a/helper, which is not part of the product`,
	`tools/a/tool.sh starts curl, which server.d/requirements.json does not name; add {"name": "curl"}`,
	`lib/common.sh starts rsync, which server.d/requirements.json does not name`,
	`tools/b/tool.py starts python3, which server.d/requirements.json does not name`,
	`config/paths.json:1: /home/ada/data is a path of this machine`,
	`tools/a/tool.sh:9: HOME is a path of this machine`,
	`tools/b/tool.py:2: C:\\Users\\Ada\\data is a path of this machine`,
	`server.d/token.txt:1: github-token`,
}

// noProducts are the commands that make no product of a project.
var noProducts = []string{"validate", "inspect", "unpack", "publish", "manifest", "marketplace", "diff"}

// CLI-1445: every product reports the same problems of a project that is not complete. With --strict, they fail.
func TestIncomplete(t *testing.T) {
	server, err := server()
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("MCPBASH_RUNTIME_DIR", server)
	with := map[string][]string{"image": {"--format", "context", "--base", "debian@sha256:" + strings.Repeat("0", 64),
		"--platform", "linux/" + runtimes.Host.Arch},
		"vendor": {"--platform", runtimes.Host.Platform(), "--arch", runtimes.Host.Arch}}
	for _, c := range command().Commands {
		if slices.Contains(noProducts, c.Name) {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			root := filepath.Join(t.TempDir(), "demo")
			for _, f := range txtar.Parse([]byte(strings.ReplaceAll(incomplete, "HOME/", home+"/"))).Files {
				write(t, root, f.Name, string(f.Data))
				if bytes.HasPrefix(f.Data, []byte("#!")) {
					if err := os.Chmod(filepath.Join(root, f.Name), 0o755); err != nil {
						t.Fatal(err)
					}
				}
			}
			write(t, root, "server.d/token.txt", "ghp_0123456789abcdefghijABCDEFGHIJ456789\n")
			t.Setenv("MCPBASH_PROJECT_ROOT", root)
			args := append([]string{c.Name}, with[c.Name]...)
			out := filepath.Join(t.TempDir(), "out")
			if c.Name == "vendor" {
				out = root
			} else if !slices.Contains(with[c.Name], "--format") {
				args = append(args, "--platform", runtimes.Host.Platform(), "--arch", runtimes.Host.Arch)
			}
			var text bytes.Buffer
			s := cli.Streams{In: strings.NewReader(""), Out: io.Discard, Err: &text}
			if code := run(s, append(args, "--output", out)); code != 0 {
				t.Errorf("exit %d", code)
			}
			for _, want := range theirs {
				if want = strings.ReplaceAll(want, "HOME", home); !strings.Contains(text.String(), want) {
					t.Errorf("does not report %q", want)
				}
			}
			if n := strings.Count(text.String(), "Warning: "); n != len(theirs) || t.Failed() {
				t.Errorf("%d warnings:\n%s", n, &text)
			}
			if c.Name == "vendor" {
				return // vendor has no --strict, because it changes the project itself
			}
			if code := run(s, append(args, "--strict", "--output", out+"2")); code != 1 {
				t.Errorf("--strict: exit %d", code)
			}
		})
	}
}
