package output

import (
	"os"
	"path/filepath"
	"testing"

	"mcp-bash/test/checkout"
)

// P-300, P-302: commands that read a project, or run its scripts, leave nothing in the temporary directory, and use
// none with a fixed name.
func TestNothingLeft(t *testing.T) {
	home := checkout.Directory(t)
	p := place{home, home}
	if out, err := p.command(t, "umask 022; mcp-bash new demo").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	p.dir = filepath.Join(home, "demo")
	for _, line := range []string{
		`mcp-bash run-tool hello --args '{"name":"Ada"}'`, `mcp-bash run-tool hello --print-env`, `mcp-bash registry refresh`,
		`mcp-bash registry status`, `mcp-bash config --show`, `mcp-bash validate`, `mcp-bash doctor`, `mcp-doctor migrate`,
		`mcp-bash health`, `mcp-bash request tools/list`,
	} {
		tmp := checkout.Directory(t)
		cmd := p.command(t, line)
		cmd.Env = append(cmd.Env, "TMPDIR="+tmp)
		out, err := cmd.CombinedOutput()
		if _, ended := err.(interface{ ExitCode() int }); err != nil && !ended {
			t.Errorf("%s: %v\n%s", line, err, out)
		}
		left, err := os.ReadDir(tmp)
		if err != nil || len(left) > 0 {
			t.Errorf("%s left %v, %v\n%s", line, left, err, out)
		}
	}
}
