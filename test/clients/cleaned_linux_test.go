package clients

import (
	"os"
	"path/filepath"
	"testing"

	"mcp-bash/test/checkout"
)

// A program that deletes old temporary files may delete the private directory of a running server. The next
// call creates it again: our program in bin, the directory of a confined tool and its
// TMPDIR (P-111, P-300, CF-11).
func TestCleanedPrivateDirectory(t *testing.T) {
	t.Parallel()
	for name, unprivileged := range map[string]bool{"root": false, "ordinary user": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			project := checkout.Directory(t)
			write(t, `{"name":"cleaned"}`, project, "server.d/server.meta.json")
			const uses = "#!/bin/bash\n" +
				`file=$(mktemp) && rm "$file" && printf '{"a":"fine"}' | "$MCPBASH_HELPER_BIN" -r .a` + "\n"
			for tool, meta := range map[string]string{"free": "", "held": `,"capabilities":[]`} {
				script := write(t, uses, project, "tools", tool, "tool.sh")
				if err := os.Chmod(script, 0o755); err != nil {
					t.Fatal(err)
				}
				write(t, `{"name":"`+tool+`"`+meta+`}`, project, "tools", tool, "tool.meta.json")
			}
			s := open(t, project, opening{unprivileged: unprivileged, env: map[string]string{}})
			work := func(when string) {
				t.Helper()
				for _, tool := range []string{"free", "held", "held"} {
					if got := text(t, s.succeed(tool, nil)); got != "fine\n" {
						t.Errorf("%s: %s: %q", when, tool, got)
					}
				}
			}
			work("at first")
			for _, what := range []string{
				"bin/mcp-jq", "bin", "private.*/tmp", "private.*", "owner", "call.*", "", "*",
			} {
				var paths []string
				eventually(t, what+" is there", func() (found bool) { // after the last answer
					paths, _ = filepath.Glob(filepath.Join(s.tmp, "mcpbash.state.*", what))
					return len(paths) > 0
				})
				for _, path := range paths {
					eventually(t, what+" is removed", func() bool { return os.RemoveAll(path) == nil })
				}
				work("without " + what)
			}
		})
	}
}
