//go:build unix

package clients

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"mcp-bash/pkg/run/confine"
	"mcp-bash/test/checkout"
)

// ADD-23, ADD-24, ADD-30, ADD-31, ADD-35: the tools of a folder of scripts work for a client, which answers their
// questions. A value is never code, and a tool starts nothing that its script does not show.
func TestImportedScripts(t *testing.T) {
	t.Parallel()
	dir := checkout.Directory(t)
	for name, text := range map[string]string{
		"count.sh": "# Counts to a number.\nfor ((i = 1; i <= ${1:?number}; i++)); do echo \"$i\"; done\n",
		"ask.sh":   "# Asks.\nread -r -p 'Your name: ' name\necho \"Hello, $name.\"\n",
		"say.sh":   "# Prints words.\nfor word in \"$@\"; do printf '<%s>\\n' \"$word\"; done\n",
	} {
		if err := checkout.WriteProgram(filepath.Join(dir, name), []byte("#!/usr/bin/env bash\n"+text)); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(filepath.Join(bin, "mcp-scaffold"), "new", "imported", "--from", dir, "--ask")
	cmd.Dir = checkout.Directory(t)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	s := open(t, filepath.Join(cmd.Dir, "imported"), opening{client: mcp.ClientOptions{
		ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return accept(map[string]any{"value": "Ada"}), nil
		},
	}})
	if got := text(t, s.succeed("ask", nil)); got != "Hello, Ada.\n" {
		t.Errorf("%q", got)
	}
	if got := text(t, s.succeed("count", arguments{"number": 3})); got != "1\n2\n3\n" {
		t.Errorf("%q", got)
	}
	mark := filepath.Join(dir, "mark")
	s.refuse("count", arguments{"number": "x[$(touch " + mark + ")]"}, "validation_error")
	if _, err := os.Stat(mark); err == nil {
		t.Error("a value became code")
	}
	if got := text(t, s.succeed("say", arguments{"word": []string{"a b", "$(id)", "*"}})); got != "<a b>\n<$(id)>\n<*>\n" {
		t.Errorf("%q", got)
	}
	if got := text(t, s.call("say", arguments{"word": []string{"-n"}})); !strings.Contains(got, "begins with a dash") {
		t.Errorf("%q", got)
	}
}

// ADD-51, WRAP-37: the tools of an import are tried, with their arguments too. mcp-bash test makes the same call, and
// fails if a program is refused.
func TestTriedScripts(t *testing.T) {
	t.Parallel()
	if confine.Offered().None() {
		t.Skip("this kernel cannot confine scripts")
	}
	dir := checkout.Directory(t)
	for name, text := range map[string]string{
		"clean.sh": "# Cleans.\nfor a; do case $a in --dry-run) dry=1 ;; *) exit 2 ;; esac; done\n" +
			"if [ -z \"$dry\" ]; then rm -f old; fi\necho clean | tac\n",
		"told.sh": "# Tells.\ncase $1 in --version) echo 1.0; exit ;; esac\nrm -f \"$1\"\n",
	} {
		if err := checkout.WriteProgram(filepath.Join(dir, name), []byte("#!/usr/bin/env bash\n"+text)); err != nil {
			t.Fatal(err)
		}
	}
	work := checkout.Directory(t)
	printed := must(t, work, filepath.Join(bin, "mcp-scaffold")+" new tried --from "+dir)
	for _, line := range []string{"clean  clean.sh  ✓      dry_run\n", "told   told.sh   ✓      arg1"} {
		if !strings.Contains(printed, line) {
			t.Errorf("%s\nlacks %s", printed, line)
		}
	}
	project := filepath.Join(work, "tried")
	if got := must(t, project, "mcp-bash test"); got != "✓ tools/clean/tool.sh trial\n✓ tools/told/tool.sh trial\n"+
		"2 passed, 0 failed\n" {
		t.Error(got)
	}
	must(t, project, "sed -i.old 's/\"tac\"/\"cat\"/' tools/clean/tool.meta.json")
	if got, code := typed(t, project, "mcp-bash test --filter clean"); code != 1 ||
		!strings.Contains(got, "Permission denied") || !strings.Contains(got, `{"exec": ["tac"]}`) {
		t.Errorf("exit %d: %s", code, got)
	}
}
