//go:build unix

package ask

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"mcp-bash/pkg/run/confine"
	"mcp-bash/pkg/text/helptext"
)

// programs creates programs from scripts, by name, and an asker that finds them.
func programs(t *testing.T, scripts map[string]string) (*Asker, string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range scripts {
		if err := os.WriteFile(filepath.Join(dir, "bin", name), []byte("#!/bin/bash\n"+text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	a := New(dir + "/bin:" + os.Getenv("PATH"))
	t.Setenv("TMPDIR", t.TempDir())
	t.Cleanup(func() {
		if left, err := os.ReadDir(os.Getenv("TMPDIR")); err != nil || len(left) > 0 {
			t.Errorf("%v is left behind: %v", left, err)
		}
	})
	return a, dir
}

func has(ans *Answer, name string) bool {
	return slices.ContainsFunc(ans.Help.Options, func(o helptext.Option) bool { return slices.Contains(o.Names, name) })
}

// WRAP-11: the environment of a program that is asked for help.
func TestSurroundings(t *testing.T) {
	t.Setenv("SECRET", "of the user")
	t.Setenv("LC_ALL", "de_DE.UTF-8")
	a, _ := programs(t, map[string]string{"look": `
[[ -z $(cat) ]] && echo 'usage: look [--stdin-empty]'
echo '  --stdin-empty  x'
[[ -z $(ls -A "$HOME" "$TMPDIR" . | grep -v :) && $HOME != / && $HOME != "$PWD" ]] && echo '  --all-empty  x'
[[ -z ${SECRET-} ]] && echo '  --no-secret-here  x'
[[ $LC_ALL$PAGER$TERM$NO_COLOR$COLUMNS == C.UTF-8catdumb180 ]] && echo '  --plain  x'
[[ $* == --help ]] && echo '  --asked  x'
if ! [ -t 0 ] && ! [ -t 1 ] && ! [ -t 2 ]; then echo '  --dark  x'; fi
`})
	p, err := a.Help(t.Context(), []string{"look"})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"--stdin-empty", "--all-empty", "--no-secret-here", "--plain", "--asked", "--dark"} {
		if !has(p, name) {
			t.Errorf("no %s", name)
		}
	}
}

// WRAP-12, WRAP-13: programs without help.
func TestNoHelp(t *testing.T) {
	a, dir := programs(t, map[string]string{
		"works":  `touch done; touch "$0.done" 2>/dev/null; echo 'working on it'`,
		"hangs":  `sleep 1000 & sleep 1000`,
		"reads":  `read -r line </dev/tty; echo "$line"; sleep 1000`,
		"floods": `while :; do printf '  --option  of many %01000d\n' 1; done`,
		"silent": `exit 0`,
		"dies":   `echo "--help: no such file" >&2; exit 2`,
	})
	for name, note := range map[string]string{
		"works": "", "hangs": "not done after", "reads": "",
		"floods": "prints more than 1048576 bytes",
		"silent": "", "dies": "",
	} {
		a.limit = time.Minute
		if name == "hangs" || name == "reads" {
			a.limit = 300 * time.Millisecond
		}
		ans, err := a.Help(t.Context(), []string{name})
		if err != nil || len(ans.Help.Options) > 0 || !strings.Contains(strings.Join(ans.Notes, "\n"), note) {
			t.Errorf("%s: %v, %+v", name, err, ans)
		}
	}
	if _, err := a.Help(t.Context(), []string{"none-such"}); !errors.Is(err, ErrNotFound) {
		t.Error(err)
	}
	if found, _ := filepath.Glob(filepath.Join(dir, "done")); len(found) > 0 {
		t.Errorf("%q", found)
	}
}

// WRAP-10: the words that programs are asked with, and no others.
func TestAsked(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	record := `echo "${0##*/} $*" >>` + log + "\n"
	a, _ := programs(t, map[string]string{
		"haltx": record + `echo "haltx: unrecognized option, try haltx help"; exit 1`,
		"old": record + `if [[ $1 == -h ]]; then printf 'usage: old [-a]\n\n  -a  all\n'; else
			echo "old: unknown option, try old -h for help" >&2; exit 2; fi`,
		"tea": record + `printf 'Usage:\n  tea leaf [flags]\n\nFlags:\n  -a  all\n\n'
			echo 'Use "tea help flags" for all.'`,
		"tea-leaf": "exit 0",
	})
	a.kernel = func() confine.Kernel { return confine.Kernel{} } // the programs record their arguments in a file
	for line, want := range map[string]struct{ asked, options, plugin string }{
		"haltx":    {"haltx --help|haltx -h", "", ""},
		"old":      {"old --help|old -h", "-a", ""},
		"tea leaf": {"tea leaf --help", "-a", "tea-leaf"},
	} {
		os.Remove(log)
		ans, err := a.Help(t.Context(), strings.Fields(line))
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		text, _ := os.ReadFile(log)
		asked := strings.ReplaceAll(strings.TrimSpace(string(text)), "\n", "|")
		var options []string
		for _, o := range ans.Help.Options {
			options = append(options, strings.Join(o.Names, " "))
		}
		if got := strings.Join(options, "|"); asked != want.asked || got != want.options || ans.Plugin != want.plugin {
			t.Errorf("%s was asked %q, has %q, starts %q", line, asked, got, ans.Plugin)
		}
	}
	if _, err := a.Help(t.Context(), []string{"haltx", "now"}); !errors.Is(err, ErrNothing) {
		t.Error(err)
	}
}
