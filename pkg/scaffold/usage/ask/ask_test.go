//go:build unix

package ask

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mcp-bash/pkg/run/confine"
	"mcp-bash/pkg/scaffold/usage"
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
	t.Cleanup(func() {
		a.Close()
		if dir, err := a.dir(); err != nil {
			t.Error(err)
		} else if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is left behind", dir)
		}
	})
	return a, dir
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
	p, err := a.Program(t.Context(), []string{"look"})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"--stdin-empty", "--all-empty", "--no-secret-here", "--plain", "--asked", "--dark"} {
		if p.Find(name) == nil {
			t.Errorf("no %s", name)
		}
	}
}

// WRAP-12, WRAP-13, WRAP-52: programs without help.
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
		"works": "works --help prints no usage", "hangs": "not done after", "reads": "",
		"floods": "prints more than 1048576 bytes",
		"silent": "", "dies": "",
	} {
		a.limit = time.Minute
		if name == "hangs" || name == "reads" {
			a.limit = 300 * time.Millisecond
		}
		ans, err := a.Program(t.Context(), []string{name})
		if err != nil || ans.Size() > 0 || !strings.Contains(strings.Join(ans.Notes, "\n"), note) {
			t.Errorf("%s: %v, %+v", name, err, ans)
		}
	}
	if _, err := a.Program(t.Context(), []string{"none-such"}); !errors.Is(err, ErrNotFound) {
		t.Error(err)
	}
	if found, _ := filepath.Glob(filepath.Join(dir, "done")); len(found) > 0 {
		t.Errorf("%q", found)
	}
}

// WRAP-10: the words that programs are asked with, and none that could do harm.
func TestAsked(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	record := `echo "${0##*/} $* ${_TEA_COMPLETE-}" >>` + log + "\n"
	a, _ := programs(t, map[string]string{
		"haltx": record + `echo "haltx: unrecognized option"; exit 1`,
		"old": record + `if [[ $1 == -h ]]; then printf 'usage: old [-a]\n\n  -a  all\n'; else
			echo "old: unknown option, try old -h for help" >&2; exit 2; fi`,
		"topics": record + `if [[ $2 == all ]]; then printf 'usage: topics\n\n  -a  all\n'; else
			printf 'usage: topics\n\nTry topics --help <list|all>.\n'; fi`,
		"refers": record + `case $* in *--help) printf 'Usage:\n  refers leaf [flags]\n\nFlags:\n  -a  all\n\n'
			echo 'Use "refers help flags" for all flags, run "refers help", "refers clean flags" or "other help flags".' ;;
			*) printf '  -c, --cups int  number of cups\n' ;; esac`,
		"refers-leaf": "exit 0",
	})
	a.kernel = func() confine.Kernel { return confine.Kernel{} } // the programs record their arguments in a file
	for name, want := range map[string]struct{ asked, options string }{
		"haltx":       {"haltx --help", ""},
		"old":         {"old --help|old -h", "-a"},
		"topics":      {"topics --help|topics --help all", "-a"},
		"refers leaf": {"refers leaf --help|refers help flags", "-a|-c --cups"},
	} {
		os.Remove(log)
		p, err := a.Program(t.Context(), strings.Fields(name))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if plugin := map[string]string{"refers leaf": "refers-leaf"}[name]; strings.Join(p.Starts, " ") != plugin {
			t.Errorf("%s starts %q", name, p.Starts)
		}
		text, _ := os.ReadFile(log)
		var asked []string
		for l := range strings.Lines(string(text)) {
			asked = append(asked, strings.TrimSpace(l))
		}
		var options []string
		if p.Program != nil {
			for _, o := range p.Options {
				options = append(options, strings.Join(o.Names, " "))
			}
		}
		if got := strings.Join(asked, "|"); got != want.asked {
			t.Errorf("%s was asked %q", name, got)
		}
		if got := strings.Join(options, "|"); got != want.options {
			t.Errorf("%s has %q", name, got)
		}
	}
}

// WRAP-15: the manual page is a file, compressed or not, or refers to another page.
func TestManual(t *testing.T) {
	a, dir := programs(t, map[string]string{"brew": `echo`})
	page := ".SH NAME\nbrew \\- make tea\n.SH OPTIONS\n.TP\n\\fB\\-a\\fR\nall\n"
	for name, text := range map[string]string{
		"man1/other.1": page, "man1/brew.1": ".so man1/other.1\n", "man1/round.1": ".so man1/round.1\n",
		"man1/outside.1": ".so ../../../../../etc/passwd\n",
	} {
		path := filepath.Join(dir, "man", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	p, err := a.Program(t.Context(), []string{"brew"})
	if err != nil || p.Find("-a") == nil || p.Summary != "make tea" {
		t.Errorf("%v, %+v", err, p)
	}
	for _, name := range []string{"round", "outside"} {
		if p := a.manual(dir+"/bin/none", []string{name}); p != nil {
			t.Errorf("%s: %+v", name, p)
		}
	}
}

// WRAP-2: the commands of a program, and texts that look like commands.
func TestTree(t *testing.T) {
	var last, all int64
	show := func(done, total int64) {
		if done != last+1 || total < done {
			t.Errorf("%d of %d after %d", done, total, last)
		}
		last, all = done, total
	}
	a, _ := programs(t, map[string]string{"multi": `
case $* in
  --help) printf 'Usage: multi COMMAND\n\nCommands:\n  alpha  do a\n  beta   do b\n  group  more\n  ghost  none\n  help   help\n  old    deprecated\n' ;;
  'alpha --help') printf 'Usage: multi alpha [OPTION]\n\n  -a, --all  all\n' ;;
  'beta --help') printf 'Usage: multi beta FILE\n' ;;
  'group --help') printf 'Usage: multi group COMMAND\n\nCommands:\n  inner  do i\n' ;;
  'group inner --help') printf 'Usage: multi group inner [OPTION]\n\n  -i  i\n' ;;
  *) exit 1 ;;
esac`})
	for depth, want := range map[int]string{1: "multi alpha|multi beta|multi group",
		2: "multi alpha|multi beta|multi group inner"} {
		last, all = 0, 0
		leaves, notes, err := a.Tree(t.Context(), []string{"multi"}, depth, show)
		if last == 0 || last != all {
			t.Errorf("%d of %d at the end", last, all)
		}
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, l := range leaves {
			names = append(names, strings.Join(l.Words, " "))
		}
		if got := strings.Join(names, "|"); got != want || len(notes) != 1 || !strings.Contains(notes[0], "multi ghost") {
			t.Errorf("%d: %q, %q", depth, got, notes)
		}
	}
	if _, _, err := a.Tree(t.Context(), []string{"multi", "alpha"}, 1, show); !errors.Is(err, ErrNoCommands) {
		t.Error(err)
	}
}

// WRAP-15: a page of another program of the same name does not count, wherever it is on PATH.
func TestForeignManual(t *testing.T) {
	a, dir := programs(t, map[string]string{"brew": "echo"})
	other := t.TempDir()
	for name, text := range map[string]string{
		"bin/brew": "#!/bin/bash\n", "share/man/man1/brew.1": ".SH OPTIONS\n.TP\n\\-x\nfar\n",
	} {
		path := filepath.Join(other, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	a.path = dir + "/bin:" + other + "/bin"
	if p, err := a.Program(t.Context(), []string{"brew"}); err != nil || p.Size() > 0 {
		t.Errorf("%v, %+v", err, p)
	}
	a.path = other + "/bin:" + dir + "/bin"
	if p, err := a.Program(t.Context(), []string{"brew"}); err != nil || p.Find("-x") == nil {
		t.Errorf("%v, %+v", err, p)
	}
}

// WRAP-15: the page of a program outside of /usr, and that of a package of npm.
func TestOtherManuals(t *testing.T) {
	for _, page := range []string{"usr/share/man/man1/brew.1", "man/brew.1"} {
		a, dir := programs(t, map[string]string{"brew": "echo 'usage: brew [-x]'"})
		file := filepath.Join(dir, page)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(".SH OPTIONS\n.TP\n\\-x\nfar\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		if p, err := a.Program(t.Context(), []string{"brew"}); err != nil || p.Find("-x").Help != "far" {
			t.Errorf("%s: %v, %+v", page, err, p)
		}
	}
}

// WRAP-33: a script of Node.js whose help text looks like that of another language's library gets no "--".
func TestOtherLanguage(t *testing.T) {
	a, dir := programs(t, map[string]string{})
	text := "#!" + dir + "/bin/node\nprintf 'usage: brew [options] <pot>\n\n  -h, --help  Print help (this text)\n'\n"
	for name, content := range map[string]string{"node": "#!/bin/sh\nexec /bin/bash \"$@\"\n", "brew": text} {
		if err := os.WriteFile(filepath.Join(dir, "bin", name), []byte(content), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	p, err := a.Program(t.Context(), []string{"brew"})
	if err != nil || p.Dashes || p.Style != usage.StyleOther || len(p.Operands) != 1 {
		t.Errorf("%v %+v", err, p.Program)
	}
}
